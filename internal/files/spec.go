package files

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/leatdata/leat/connector"
)

// spec is what a Split.Spec holds: a range of a file, or standard input.
type spec struct {
	Identity
	Stdin       bool        `json:"stdin,omitempty"`
	Compression Compression `json:"compression,omitempty"`
	// Text says that offsets count bytes of the decoded text (it is stored
	// compressed or in another encoding), and the range goes to its end.
	Text  bool  `json:"text,omitempty"`
	Start int64 `json:"start"`
	End   int64 `json:"end,omitempty"`
	// Line is the number of the first line.
	Line int64 `json:"line"`
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
		return nil, fmt.Errorf("split of files %q: %w", text, err)
	}
	if s.Start < 0 || s.Line < 0 || !s.Text && !s.Stdin && (s.End < s.Start || s.End > s.Size) {
		return nil, fmt.Errorf("split of files %q: its bounds are out of order", text)
	}
	return s, nil
}

// place is a position within a file: a byte and the number of its line.
type place struct {
	offset int64
	line   int64
}

func (p place) position() connector.Position {
	return connector.Position(strconv.FormatInt(p.offset, 10) + ":" + strconv.FormatInt(p.line, 10))
}

// parsePosition reads a position; "" is the start of the split.
func parsePosition(pos connector.Position, s *spec) (place, error) {
	if pos == "" {
		return place{s.Start, s.Line}, nil
	}
	offset, line, _ := strings.Cut(string(pos), ":")
	o, err1 := strconv.ParseInt(offset, 10, 64)
	l, err2 := strconv.ParseInt(line, 10, 64)
	if err := errors.Join(err1, err2); err != nil {
		return place{}, fmt.Errorf("position %q: %w", pos, err)
	}
	if o < s.Start || l < s.Line || !s.Text && !s.Stdin && o > s.End {
		return place{}, fmt.Errorf("position %q lies outside of its split", pos)
	}
	return place{o, l}, nil
}
