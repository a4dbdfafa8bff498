package files

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/storage"
)

const (
	// minSplit and maxSplit bound the size of a split that nobody chose. One
	// reader alone gains nothing by small ones: soloSplit spares most files
	// the search for places to cut them at.
	minSplit  = 8 << 20
	maxSplit  = 64 << 20
	soloSplit = 1 << 30
	// firstStep bounds the bytes that the first step of the enumeration goes
	// through, so that work begins at once; each later one may go through as
	// many as all before it, up to lastStep. stepSplits bounds all of them.
	firstStep  = 32 << 20
	lastStep   = 256 << 20
	stepSplits = 256
)

// cursor is where the enumeration goes on: a file, and a place in it once it
// has been cut.
type cursor struct {
	Path   string    `json:"path"`
	Offset int64     `json:"offset,omitempty"`
	Line   int64     `json:"line,omitempty"`
	ID     *Identity `json:"id,omitempty"`
}

// Enumerate implements connector.Source. Files that hold no record have no split.
func (s *Source) Enumerate(ctx context.Context, from connector.Cursor, first connector.SplitID, want connector.Want) (connector.Enumeration, error) {
	if s.stdin != nil {
		return s.stdinSplit(first), nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	schema, err := s.schemaLocked(ctx)
	if err != nil {
		return connector.Enumeration{}, err
	}
	files, err := s.listing.Files()
	if err != nil {
		return connector.Enumeration{}, err
	}
	e := &enumerator{source: s, schema: schema, next: first, size: s.splitSize(files, want), whole: want.Ordered}
	e.budget = stepBudget(int64(first) * e.size)
	i, at, err := s.resume(files, from)
	if err != nil {
		return connector.Enumeration{}, err
	}
	for ; i < len(files); i++ {
		if e.full() {
			at = cursor{Path: files[i].Path}
			break
		}
		if at, err = e.file(ctx, files[i].Path, at); err != nil {
			return connector.Enumeration{}, err
		}
		if at.ID != nil {
			break
		}
	}
	if i == len(files) {
		return connector.Enumeration{Splits: e.splits, Done: true}, nil
	}
	text, err := json.Marshal(at)
	return connector.Enumeration{Splits: e.splits, Next: connector.Cursor(text)}, err
}

// resume finds the file that a cursor stands at.
func (s *Source) resume(files []Listed, from connector.Cursor) (int, cursor, error) {
	var at cursor
	if from == "" {
		return 0, at, nil
	}
	if err := json.Unmarshal([]byte(from), &at); err != nil {
		return 0, at, fmt.Errorf("cursor %q: %w", from, err)
	}
	for i := range files {
		if files[i].Path == at.Path {
			return i, at, nil
		}
	}
	return 0, at, connector.Errorf(connector.Permanent,
		"%s is no longer there; put it back as it was, with its time of change too (cp -p), or begin anew with --restart", at.Path)
}

// splitSize is the size near which a large file is cut.
func (s *Source) splitSize(files []Listed, want connector.Want) int64 {
	if size := int64(s.cfg.Options.SplitSize); size > 0 {
		return size
	}
	if want.Parallelism == 1 {
		return soloSplit
	}
	var total int64
	for _, f := range files {
		total += f.Size
	}
	return min(max(total/int64(4*max(1, want.Parallelism)), minSplit), maxSplit)
}

// stepBudget is how many bytes a step goes through after that many.
func stepBudget(before int64) int64 { return min(max(before, firstStep), lastStep) }

// enumerator makes the splits of one step.
type enumerator struct {
	source  *Source
	schema  *batch.Schema
	splits  []connector.Split
	next    connector.SplitID
	size    int64
	whole   bool // a split is a whole file
	scanned int64
	budget  int64
}

func (e *enumerator) full() bool { return e.scanned >= e.budget || len(e.splits) >= stepSplits }

func (e *enumerator) add(sp spec, bytes int64) {
	label := filepath.Base(sp.Path)
	if sp.Start > 0 && !sp.Text {
		label = fmt.Sprintf("%s from byte %d", label, sp.Start)
	}
	e.splits = append(e.splits, connector.Split{ID: e.next, Spec: sp.encode(), Bytes: bytes, Label: label})
	e.next++
}

// file makes splits of a file from a cursor that stands in it or before it. The
// cursor it returns has no ID when the file is done.
func (e *enumerator) file(ctx context.Context, path string, at cursor) (cursor, error) {
	schema, b, err := e.source.look(ctx, path)
	if err != nil || b.id.Size == 0 {
		return cursor{}, err
	}
	if err := sameColumns(e.schema, schema, path); err != nil {
		return cursor{}, err
	}
	if at.ID != nil && *at.ID != b.id {
		return cursor{}, b.id.Changed("it is not the file whose first splits have been handed out")
	}
	e.scanned += min(firstHead, b.id.Size)
	sp := spec{Identity: b.id, Compression: b.compression, Text: b.text, Start: b.preamble, Line: b.lines + 1}
	if b.text {
		size := b.id.Size
		if b.compression != Plain {
			size = 0 // of the text, which nobody knows yet
		}
		e.add(sp, size)
		return cursor{}, nil
	}
	sp.Start += b.bom
	if at.ID != nil {
		sp.Start, sp.Line = at.Offset, at.Line
	}
	if sp.Start >= b.id.Size {
		return cursor{}, nil
	}
	if e.whole || b.id.Size-sp.Start <= e.size+e.size/4 {
		sp.End = b.id.Size
		e.add(sp, sp.End-sp.Start)
		return cursor{}, nil
	}
	return e.cut(ctx, sp)
}

// cut cuts a file into splits from sp.Start on, until it ends or the step is full.
func (e *enumerator) cut(ctx context.Context, sp spec) (cursor, error) {
	f, err := e.source.cfg.FS.Open(sp.Path)
	if err != nil {
		return cursor{}, err
	}
	defer func() { _ = f.Close() }()
	cutter := e.source.cfg.Format.NewCutter()
	c := &scanner{f: f, at: place{sp.Start, sp.Line}, size: sp.Size, cutter: cutter, lineEnd: lineEndOf(cutter)}
	for {
		sp.End = sp.Size
		// What would be left is not worth a split of its own.
		if sp.Size-sp.Start > e.size+e.size/4 {
			if err := c.next(ctx, sp.Start+e.size); err != nil {
				return cursor{}, fmt.Errorf("split %s: %w", sp.Path, err)
			}
			sp.End = c.at.offset
		}
		e.add(sp, sp.End-sp.Start)
		e.scanned += sp.End - sp.Start
		if sp.End == sp.Size {
			return cursor{}, nil
		}
		sp.Start, sp.Line = c.at.offset, c.at.line
		if e.full() {
			return cursor{Path: sp.Path, Offset: sp.Start, Line: sp.Line, ID: &sp.Identity}, nil
		}
	}
}

// scanner follows the records of a file to find where they end.
type scanner struct {
	f      storage.File
	at     place // how far it has come
	size   int64
	cutter Cutter
	buf    []byte
	rest   []byte // of buf, not followed yet: it begins at at
	// lineEnd is the byte by which lines are counted.
	lineEnd byte
}

// next goes to the first record end at or after an offset, or the file's end.
func (c *scanner) next(ctx context.Context, offset int64) error {
	for {
		if len(c.rest) == 0 {
			if err := c.read(ctx); err != nil || len(c.rest) == 0 {
				return err
			}
		}
		n := c.cutter.Cut(c.rest, int(max(0, offset-c.at.offset)))
		taken := n
		if n < 0 {
			taken = len(c.rest)
		}
		c.at.offset += int64(taken)
		c.at.line += int64(bytes.Count(c.rest[:taken], []byte{c.lineEnd}))
		c.rest = c.rest[taken:]
		if n >= 0 {
			return nil
		}
	}
}

func (c *scanner) read(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.buf == nil {
		c.buf = make([]byte, 1<<20)
	}
	n, err := c.f.ReadAt(c.buf[:min(int64(len(c.buf)), c.size-c.at.offset)], c.at.offset)
	c.rest = c.buf[:n]
	if n > 0 || c.at.offset == c.size {
		return nil
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("the file has become shorter")
	}
	return err
}
