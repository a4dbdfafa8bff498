package report

import (
	"errors"
	"os"
	"strings"
)

// The marks between which a document holds the report.
const (
	begin = "<!-- figures: begin, made by make bench -->\n"
	end   = "<!-- figures: end -->\n"
)

// errNoMarks says that a document has no place for the report.
var errNoMarks = errors.New("the document does not have the two marks of its figures")

// Replace puts text between the marks of the document at path.
func Replace(path, text string) error {
	document, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	changed, err := splice(string(document), text)
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(changed), 0o644)
}

func splice(document, text string) (string, error) {
	head, rest, ok := strings.Cut(document, begin)
	if !ok {
		return "", errNoMarks
	}
	_, tail, ok := strings.Cut(rest, end)
	if !ok {
		return "", errNoMarks
	}
	return head + begin + "\n" + strings.TrimSpace(text) + "\n\n" + end + tail, nil
}
