package dataset

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// generation is part of the files' names: raise it when a table changes.
const generation = 1

// Files are the CSV files of a table, each with a header.
type Files struct {
	Rows  int
	Bytes int64
	// Whole holds all rows, Halves the first half and the second.
	Whole  string
	Halves [2]string
}

// Make returns the files of the table's first rows below dir, which are made
// when they are not there yet.
func (t Table) Make(dir string, rows int) (Files, error) {
	name := func(part string) string {
		return filepath.Join(dir, fmt.Sprintf("%s-v%d-%d%s.csv", t.Name, generation, rows, part))
	}
	f := Files{Rows: rows, Whole: name(""), Halves: [2]string{name("-1"), name("-2")}}
	info, err := os.Stat(f.Whole)
	if errors.Is(err, os.ErrNotExist) {
		if err := t.write(dir, f); err != nil {
			return f, fmt.Errorf("make table %s: %w", t.Name, err)
		}
		info, err = os.Stat(f.Whole)
	}
	if err != nil {
		return f, fmt.Errorf("look for table %s: %w", t.Name, err)
	}
	f.Bytes = info.Size()
	return f, nil
}

// write makes the halves and then the whole, whose name stands for all three.
func (t Table) write(dir string, f Files) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	temp := f.Whole + ".part"
	whole, err := os.Create(temp)
	if err != nil {
		return err
	}
	defer func() { _ = whole.Close() }()
	if _, err := io.WriteString(whole, t.Header()); err != nil {
		return err
	}
	r := newRandom(t.seed)
	bounds := [3]int{0, f.Rows / 2, f.Rows}
	for i, path := range f.Halves {
		if err := t.writeHalf(path, whole, r, bounds[i], bounds[i+1]); err != nil {
			return err
		}
	}
	if err := whole.Close(); err != nil {
		return err
	}
	return os.Rename(temp, f.Whole)
}

// writeHalf writes the rows from first up to end to a file of their own, and
// without a header to whole.
func (t Table) writeHalf(path string, whole io.Writer, r *random, first, end int) error {
	half, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { _ = half.Close() }()
	if _, err := io.WriteString(half, t.Header()); err != nil {
		return err
	}
	const full = 256 << 10
	both := io.MultiWriter(whole, half)
	buf := make([]byte, 0, full+4096)
	for id := first; id < end; id++ {
		buf = t.row(buf, r, id)
		if len(buf) < full && id < end-1 {
			continue
		}
		if _, err := both.Write(buf); err != nil {
			return err
		}
		buf = buf[:0]
	}
	return half.Close()
}
