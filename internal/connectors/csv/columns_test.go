package csv

import (
	"strings"
	"testing"

	"github.com/leatdata/leat/connector"
)

// A header in another encoding than the named one is told at once, and never
// becomes the names of columns.
func TestAHeaderThatIsNoTextIsAUsageError(t *testing.T) {
	for _, c := range []struct {
		encoding, text string
	}{
		{"utf-8", "id,\xd6\xd0\n1,2\n"},
		{"utf-8", "i\x00d\x00,\x00n\x00\n\x001\x00,\x002\x00\n\x00"},
		{"gbk", "id,\xff\n1,2\n"},
		{"windows-1252", "id,\x81\n1,2\n"},
	} {
		s, err := sourceOf(t, map[string]any{"encoding": c.encoding}, c.text)
		if err == nil {
			_, err = s.Schema(t.Context())
		}
		if connector.ClassOf(err) != connector.Usage || !strings.Contains(err.Error(), "another encoding") || !strings.Contains(err.Error(), ".csv: ") {
			t.Errorf("%s %q: %v", c.encoding, c.text, err)
		}
	}
}
