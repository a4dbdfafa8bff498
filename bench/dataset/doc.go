// Package dataset makes the tables that are measured, as CSV files: the same
// bytes on every machine and at every time, from fixed seeds.
package dataset
