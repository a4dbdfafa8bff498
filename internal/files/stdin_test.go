package files

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/storage"
)

func TestStandardInputIsOneSplitWithoutPositions(t *testing.T) {
	text, rows := numbered(2000)
	for _, c := range []Compression{Plain, Gzip, Zstd} {
		f := lineFormat{header: true}
		s, err := NewSource(SourceConfig{
			FS: storage.Local{}, Format: f, Schema: f.schemaOf,
			Options: SourceOptions{Path: []string{"-"}}, Stdin: bytes.NewReader(pack(t, c, text)),
		})
		if err != nil {
			t.Fatal(err)
		}
		splits := enumerate(t, s, connector.Want{Parallelism: 8})
		if len(splits) != 1 {
			t.Fatalf("%d splits", len(splits))
		}
		got, err := rowsOf(t.Context(), s, splits[0], "")
		if err != nil {
			t.Fatal(err)
		}
		equalRows(t, got, rows)
		if _, err := s.Open(t.Context(), splits[0], ""); err == nil || !strings.Contains(err.Error(), "feed it once more") {
			t.Errorf("opened again: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestAReadOfSilentStandardInputCanBeCancelled(t *testing.T) {
	in, out := io.Pipe()
	defer out.Close()
	f := lineFormat{header: true}
	s, err := NewSource(SourceConfig{FS: storage.Local{}, Format: f, Schema: f.schemaOf, Options: SourceOptions{Path: []string{"-"}}, Stdin: in})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	go io.WriteString(out, "id|n\n1|x\n")
	schema, err := s.Schema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Open(t.Context(), enumerate(t, s, connector.Want{})[0], "")
	if err != nil {
		t.Fatal(err)
	}
	var pool batch.Pool
	b := pool.Get(schema)
	if err := r.Next(t.Context(), b); err != nil || b.Rows != 1 {
		t.Fatalf("%d rows, %v: what has come is not waited with", b.Rows, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Next(ctx, pool.Get(schema)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

func TestASourceThatIsClosedUnreadLeavesStandardInput(t *testing.T) {
	in, out := io.Pipe()
	f := lineFormat{header: true}
	newSource := func() *Source {
		s, err := NewSource(SourceConfig{FS: storage.Local{}, Format: f, Schema: f.schemaOf, Options: SourceOptions{Path: []string{"-"}}, Stdin: in})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if err := newSource().Close(); err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	go func() {
		_, err := io.WriteString(out, "id|n\n1|x")
		written <- errors.Join(err, out.Close())
	}()
	s := newSource()
	equalRows(t, readAllRows(t, s, connector.Want{}), []string{"1|x"})
	if err := errors.Join(<-written, s.Close()); err != nil {
		t.Error(err)
	}
}
