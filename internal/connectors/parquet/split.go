package parquet

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/connectors/parquet/format"
	"github.com/leatdata/leat/internal/files"
)

// spec is what a Split.Spec holds: row groups of a file.
type spec struct {
	files.Identity
	// From is the first row group, To the one behind the last.
	From int `json:"from"`
	To   int `json:"to"`
}

func (s *spec) encode() string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // numbers and strings
	}
	return string(text)
}

func parseSpec(text string) (*spec, error) {
	s := &spec{}
	if err := json.Unmarshal([]byte(text), s); err != nil {
		return nil, fmt.Errorf("split of Parquet %q: %w", text, err)
	}
	if s.From < 0 || s.To < s.From {
		return nil, fmt.Errorf("split of Parquet %q: its bounds are out of order", text)
	}
	return s, nil
}

// position is that before a row of a row group: "3:1200".
func position(group int, row int64) connector.Position {
	return connector.Position(strconv.Itoa(group) + ":" + strconv.FormatInt(row, 10))
}

// parsePosition reads a position within a split of a file; "" is its start.
func parsePosition(pos connector.Position, s *spec, f *format.Footer) (group int, row int64, err error) {
	if s.To > len(f.Groups) {
		return 0, 0, fmt.Errorf("split of %s: it has %d row groups, not %d", s.Path, len(f.Groups), s.To)
	}
	if pos == "" {
		return s.From, 0, nil
	}
	before, after, _ := strings.Cut(string(pos), ":")
	group, err1 := strconv.Atoi(before)
	row, err2 := strconv.ParseInt(after, 10, 64)
	if err := errors.Join(err1, err2); err != nil {
		return 0, 0, fmt.Errorf("position %q: %w", pos, err)
	}
	if group < s.From || group > s.To || row < 0 || group == s.To && row > 0 || group < s.To && row > f.Groups[group].Rows {
		return 0, 0, fmt.Errorf("position %q lies outside of its split", pos)
	}
	return group, row, nil
}
