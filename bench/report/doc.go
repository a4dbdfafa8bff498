// Package report turns results into a table in Markdown with verdicts, and puts
// it into a document between two marks.
package report
