package files

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/storage"
)

// probeSize is how much of a file's head and tail its identity holds a hash of.
const probeSize = 16 << 10

// identity is what a file was when its splits were made.
type identity struct {
	Path string `json:"path"`
	Size int64  `json:"size"`
	// Modified is the time of the last change in nanoseconds since 1970.
	Modified int64 `json:"modified"`
	// Head and Tail are hashes of the first and last 16 KiB.
	Head string `json:"head"`
	Tail string `json:"tail"`
}

// spec is what a Split.Spec holds: a range of a file, or standard input.
type spec struct {
	identity
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

// identify tells what an open file is.
func identify(f storage.File, path string) (identity, error) {
	info, err := f.Stat()
	if err != nil {
		return identity{}, err
	}
	id := identity{Path: path, Size: info.Size(), Modified: info.ModTime().UnixNano()}
	if id.Head, err = hashAt(f, 0, id.Size); err != nil {
		return identity{}, err
	}
	id.Tail, err = hashAt(f, max(0, id.Size-probeSize), id.Size)
	return id, err
}

func hashAt(f storage.File, offset, size int64) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(f, offset, min(probeSize, size-offset))); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}

// check compares an open file with what it was. Another one is a Permanent error.
func (id identity) check(f storage.File) error {
	now, err := identify(f, id.Path)
	if err != nil {
		return err
	}
	if now == id {
		return nil
	}
	what := "its content is another"
	switch {
	case now.Size != id.Size:
		what = id.otherSize(now.Size)
	case now.Head == id.Head && now.Tail == id.Tail:
		what = id.otherTime(now.Modified)
	}
	return id.changed(what)
}

func (id identity) otherSize(now int64) string {
	return fmt.Sprintf("it had %d bytes and has %d", id.Size, now)
}

// otherTime tells two times apart that may differ by less than a second.
func (id identity) otherTime(now int64) string {
	return fmt.Sprintf("its time of change was %s and is %s", timeText(id.Modified), timeText(now))
}

// timeText is a time as touch -d takes it.
func timeText(nanoseconds int64) string {
	return time.Unix(0, nanoseconds).UTC().Format(time.RFC3339Nano)
}

func (id identity) changed(what string) error {
	return connector.Errorf(connector.Permanent,
		"%s has changed since the run began: %s; put the file back as it was, with its time of change too (cp -p, or touch -d '%s'), or begin anew with --restart",
		id.Path, what, timeText(id.Modified))
}
