package suite

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// tableFingerprint hashes the text form of each row of a table. The server adds
// the hashes up, so that the order of rows does not matter and doubled rows do.
func (e *Env) tableFingerprint(ctx context.Context, table string) (Fingerprint, error) {
	text, err := e.Server.Query(ctx, fmt.Sprintf(
		"SELECT count(*), coalesce(sum(hashtextextended(t::text, 0)::numeric), 0) FROM %s t", table))
	if err != nil {
		return Fingerprint{}, err
	}
	count, hash, _ := strings.Cut(text, "|")
	rows, err := strconv.Atoi(count)
	if err != nil {
		return Fingerprint{}, fmt.Errorf("read the number of rows: %w", err)
	}
	return Fingerprint{Rows: rows, Hash: hash}, nil
}

// linesFingerprint hashes the lines of the CSV files that match pattern, but for
// their headers, and adds the hashes up. Records must be lines: no text may hold
// a line break.
func linesFingerprint(seed maphash.Seed, pattern, header string) (Fingerprint, error) {
	files, err := filepath.Glob(pattern)
	if err != nil {
		return Fingerprint{}, err
	}
	if len(files) == 0 {
		return Fingerprint{}, fmt.Errorf("no file matches %s", filepath.Base(pattern))
	}
	var rows int
	var sum uint64
	for _, file := range files {
		n, s, err := hashLines(seed, file, header)
		if err != nil {
			return Fingerprint{}, fmt.Errorf("read %s: %w", filepath.Base(file), err)
		}
		rows, sum = rows+n, sum+s
	}
	return Fingerprint{Rows: rows, Hash: strconv.FormatUint(sum, 16)}, nil
}

func hashLines(seed maphash.Seed, file, header string) (rows int, sum uint64, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = f.Close() }()
	r := bufio.NewReaderSize(f, 64<<10)
	first, err := r.ReadString('\n')
	if err != nil || first != header {
		return 0, 0, fmt.Errorf("the first line is %q, want %q (%w)", first, header, err)
	}
	for {
		line, err := r.ReadSlice('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return rows, sum, nil
		}
		if err != nil {
			return rows, sum, fmt.Errorf("line %d: %w", rows+2, err)
		}
		rows++
		sum += maphash.Bytes(seed, bytes.TrimSuffix(line, []byte("\n")))
	}
}

// warm reads a file.
func warm(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	_, err = io.CopyBuffer(onlyWriter{io.Discard}, onlyReader{f}, make([]byte, 256<<10))
	return err
}

// onlyWriter and onlyReader keep io.CopyBuffer to our buffer: memory of ours
// counts into what is measured.
type (
	onlyWriter struct{ io.Writer }
	onlyReader struct{ io.Reader }
)
