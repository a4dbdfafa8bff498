package files

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/storage"
)

// recorded is a file of the run's own that holds recorded segments.
type recorded struct {
	name string
	size int64
	// closed says that nobody can add to it any more.
	closed bool
	// segments are in split order.
	segments []connector.Segment
}

// collect returns the files with recorded segments, in the order of their
// first, and checks that each segment is there.
func (s *Sink) collect(staging string, states []connector.SplitState) ([]*recorded, error) {
	var files []*recorded
	byName := map[string]*recorded{}
	for _, state := range inSplitOrder(states) {
		for _, seg := range state.Segments {
			f := byName[seg.File]
			if f == nil {
				f = &recorded{name: seg.File, closed: s.isClosed(seg.File)}
				byName[seg.File] = f
				files = append(files, f)
			}
			f.closed = f.closed || seg.Sealed
			f.segments = append(f.segments, seg)
		}
	}
	for _, f := range files {
		info, err := s.cfg.FS.Stat(filepath.Join(staging, f.name))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, connector.Errorf(connector.Fatal, "%s is gone, and records that were written to it: begin anew with --restart", filepath.Join(staging, f.name))
		}
		if err != nil {
			return nil, err
		}
		f.size = info.Size()
		if err := f.check(staging); err != nil {
			return nil, err
		}
	}
	return files, nil
}

func (s *Sink) isClosed(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed[name]
}

// byOffset returns the segments in the order of the file.
func (f *recorded) byOffset() []connector.Segment {
	segments := slices.Clone(f.segments)
	slices.SortFunc(segments, func(a, b connector.Segment) int { return cmp.Compare(a.Offset, b.Offset) })
	return segments
}

// check finds segments that are not there, or that two splits claim.
func (f *recorded) check(staging string) error {
	var end int64
	for _, seg := range f.byOffset() {
		if seg.Offset < end || seg.Length < 0 {
			return connector.Errorf(connector.Fatal, "%s: the recorded segments overlap at byte %d", filepath.Join(staging, f.name), seg.Offset)
		}
		end = seg.Offset + seg.Length
	}
	if f.size < end {
		return connector.Errorf(connector.Fatal, "%s has %d bytes, and %d were recorded: begin anew with --restart", filepath.Join(staging, f.name), f.size, end)
	}
	return nil
}

// whole reports whether the file can be used as it is: a header, recorded
// segments without a gap, nothing after them, and nobody to add to it.
func (f *recorded) whole(header int64) bool {
	at := header
	for _, seg := range f.byOffset() {
		if seg.Offset != at {
			return false
		}
		at += seg.Length
	}
	return f.closed && at == f.size
}

// inOrder reports whether the file has the segments in split order.
func (f *recorded) inOrder() bool {
	return slices.IsSortedFunc(f.segments, func(a, b connector.Segment) int { return cmp.Compare(a.Offset, b.Offset) })
}

// assembler makes files out of segments of others.
type assembler struct {
	sink         *Sink
	staging      string
	header       []byte
	headerLength int64 // as stored
	made         int
}

// storedHeader returns the length that the header has in each file.
func (a *assembler) storedHeader() (int64, error) {
	if len(a.header) == 0 {
		return 0, nil
	}
	var stored bytes.Buffer
	err := writeEmpty(&stored, a.sink.target.compression, a.header)
	return int64(stored.Len()), err
}

// assemble writes a new file of a header and the segments, durably but for its name.
func (a *assembler) assemble(ctx context.Context, segments []connector.Segment) (string, int64, error) {
	a.made++
	name := fmt.Sprintf("joined-%d%s", a.made, a.sink.target.suffix)
	path := filepath.Join(a.staging, name)
	f, err := a.sink.cfg.FS.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return "", 0, err
	}
	size, err := a.fill(ctx, f, segments)
	if err == nil {
		size, err = a.end(f, path, size, placed(a.headerLength, segments))
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", 0, storage.Doing("write", path, err)
	}
	return name, size, nil
}

func (a *assembler) fill(ctx context.Context, w io.Writer, segments []connector.Segment) (int64, error) {
	n := &counting{w: w}
	if len(a.header) > 0 || len(segments) == 0 {
		if err := writeEmpty(n, a.sink.target.compression, a.header); err != nil {
			return 0, err
		}
	}
	buf := make([]byte, 1<<20)
	for _, seg := range segments {
		if err := a.copySegment(ctx, n, seg, buf); err != nil {
			return 0, err
		}
	}
	return n.n, nil
}

// placed returns where segments are that follow one another from a header on.
func placed(header int64, segments []connector.Segment) []connector.Segment {
	moved := slices.Clone(segments)
	for i := range moved {
		moved[i].Offset = header
		header += moved[i].Length
	}
	return moved
}

// end writes what the format ends a file with, and returns the file's new size.
func (a *assembler) end(f storage.File, path string, size int64, segments []connector.Segment) (int64, error) {
	format, ok := a.sink.cfg.Format.(Ender)
	if !ok {
		return size, nil
	}
	stored, err := a.sink.cfg.FS.Open(path)
	if err != nil {
		return size, err
	}
	end, err := format.End(a.sink.schema, stored, segments)
	if err = errors.Join(err, stored.Close()); err != nil {
		return size, fmt.Errorf("end %s: %w", path, err)
	}
	n, err := f.Write(end)
	return size + int64(n), err
}

// endWhole ends a file that is used as it is, in place. A crash before the
// manifest leaves one that is longer than what was recorded, and is copied.
func (a *assembler) endWhole(f *recorded) (int64, error) {
	if _, ok := a.sink.cfg.Format.(Ender); !ok {
		return f.size, nil
	}
	path := filepath.Join(a.staging, f.name)
	file, err := a.sink.cfg.FS.OpenFile(path, os.O_WRONLY)
	if err != nil {
		return 0, err
	}
	size := f.size
	if _, err = file.Seek(size, io.SeekStart); err == nil {
		size, err = a.end(file, path, size, f.byOffset())
	}
	if err == nil {
		err = file.Sync()
	}
	return size, storage.Doing("end", path, errors.Join(err, file.Close()))
}

func (a *assembler) copySegment(ctx context.Context, w io.Writer, seg connector.Segment, buf []byte) error {
	f, err := a.sink.cfg.FS.Open(filepath.Join(a.staging, seg.File))
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	for offset, end := seg.Offset, seg.Offset+seg.Length; offset < end; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := f.ReadAt(buf[:min(int64(len(buf)), end-offset)], offset)
		if n == 0 {
			return fmt.Errorf("read %s at byte %d of %d: %w", seg.File, offset, end, err)
		}
		if _, err := w.Write(buf[:n]); err != nil {
			return err
		}
		offset += int64(n)
	}
	return nil
}

// counting counts what is written.
type counting struct {
	w io.Writer
	n int64
}

// Write implements io.Writer.
func (c *counting) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
