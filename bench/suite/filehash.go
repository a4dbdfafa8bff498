package suite

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/leatdata/leat/bench/dataset"
	"github.com/leatdata/leat/bench/peer"
)

// csvFiles are patterns of the CSV files that are below a target's folder.
func csvFiles(folder string) []string {
	return []string{filepath.Join(folder, "*.csv"), filepath.Join(folder, "*", "*.csv")}
}

// hasher adds the hashes of records up, so that their order does not matter.
type hasher struct {
	seed maphash.Seed
	rows int
	sum  uint64
}

func (h *hasher) add(record []byte) {
	h.rows++
	h.sum += maphash.Bytes(h.seed, record)
}

// linesFingerprint hashes the lines of the CSV files that match the patterns, but
// for their headers. Records must be lines: no text may hold a line break.
func linesFingerprint(patterns []string, header string) fingerprint {
	seed := maphash.MakeSeed()
	return func(context.Context) (Fingerprint, error) {
		return filesFingerprint(seed, patterns, func(h *hasher, r *bufio.Reader) error {
			first, err := r.ReadString('\n')
			if err != nil || first != header {
				return fmt.Errorf("the first line is %q, want %q (%w)", first, header, err)
			}
			return h.lines(r)
		})
	}
}

// recordsFingerprint hashes what records say, however they are quoted and end.
// NULL counts as the empty text.
func recordsFingerprint(patterns []string, header string) fingerprint {
	seed := maphash.MakeSeed()
	return func(context.Context) (Fingerprint, error) {
		return filesFingerprint(seed, patterns, func(h *hasher, r *bufio.Reader) error {
			return h.records(r, strings.TrimSpace(header))
		})
	}
}

// sqliteFingerprint hashes the lines that sqlite3 prints of a table.
func sqliteFingerprint(sqlite peer.SQLite, file string, t dataset.Table) fingerprint {
	seed := maphash.MakeSeed()
	return func(ctx context.Context) (Fingerprint, error) {
		c := sqlite.Command("-list", "-nullvalue", `\N`, file, "SELECT * FROM "+t.Name)
		cmd := exec.CommandContext(ctx, c.Path, c.Args...)
		out, err := cmd.StdoutPipe()
		if err != nil {
			return Fingerprint{}, err
		}
		if err := cmd.Start(); err != nil {
			return Fingerprint{}, err
		}
		h := hasher{seed: seed}
		err = h.lines(bufio.NewReaderSize(out, 64<<10))
		return h.fingerprint(), errors.Join(err, cmd.Wait())
	}
}

// filesFingerprint has one hasher read all files.
func filesFingerprint(seed maphash.Seed, patterns []string, read func(*hasher, *bufio.Reader) error) (Fingerprint, error) {
	h := hasher{seed: seed}
	found := 0
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil {
			return Fingerprint{}, err
		}
		found += len(files)
		for _, file := range files {
			if err := h.file(file, read); err != nil {
				return Fingerprint{}, fmt.Errorf("read %s: %w", filepath.Base(file), err)
			}
		}
	}
	if found == 0 {
		return Fingerprint{}, errors.New("there is no file")
	}
	return h.fingerprint(), nil
}

func (h *hasher) file(path string, read func(*hasher, *bufio.Reader) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	return read(h, bufio.NewReaderSize(f, 64<<10))
}

func (h *hasher) lines(r *bufio.Reader) error {
	for {
		line, err := r.ReadSlice('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return nil
		}
		if err != nil {
			return fmt.Errorf("record %d: %w", h.rows+1, err)
		}
		h.add(bytes.TrimSuffix(line, []byte("\n")))
	}
}

func (h *hasher) records(r io.Reader, header string) error {
	in := csv.NewReader(r)
	in.ReuseRecord = true
	first, err := in.Read()
	if err != nil || strings.Join(first, ",") != header {
		return fmt.Errorf("the first record is %q, want %q (%w)", first, header, err)
	}
	var text []byte
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		text = text[:0]
		for _, field := range record {
			text = append(append(text, field...), 0)
		}
		h.add(text)
	}
}

func (h *hasher) fingerprint() Fingerprint {
	return Fingerprint{Rows: h.rows, Hash: strconv.FormatUint(h.sum, 16)}
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
