package csv

import (
	"bytes"
	"sync"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/files"
)

// format is the files.Format of a job's options. What it learns from the
// first file, namely its line ends and its columns, holds for all files: one
// that differs is refused.
type format struct {
	dialect  dialect
	header   bool
	quoteAll bool
	skip     int
	names    []string
	types    map[string]batch.Type

	mu     sync.Mutex
	ends   lineEnds
	known  bool // ends were told, or found
	schema *batch.Schema
}

var _ files.Format = (*format)(nil)

// newSourceFormat makes the format of a source's options.
func newSourceFormat(o *SourceOptions) (*format, error) {
	d, err := o.dialect(o.LineEnd)
	if err != nil {
		return nil, err
	}
	types, err := o.types()
	if err != nil {
		return nil, connector.E(connector.Usage, err)
	}
	return &format{dialect: d, header: o.Header, skip: o.SkipLines, names: o.Names, types: types, ends: d.ends, known: d.ends != endsAny}, nil
}

// newSinkFormat makes the format of a sink's options.
func newSinkFormat(o *SinkOptions) (*format, error) {
	d, err := o.dialect(o.LineEnd)
	if err != nil {
		return nil, err
	}
	return &format{dialect: d, header: o.Header, quoteAll: o.QuoteWhat == "all", ends: d.ends, known: true}, nil
}

// Suffix implements files.Format.
func (f *format) Suffix() string {
	if f.dialect.delim == '\t' {
		return ".tsv"
	}
	return ".csv"
}

// NewDecoder implements files.Format.
func (f *format) NewDecoder(schema *batch.Schema) files.Decoder { return f.decoder(schema) }

func (f *format) decoder(schema *batch.Schema) *decoder {
	return &decoder{dialect: f.found(), width: len(schema.Fields), typed: typedColumns(schema)}
}

// NewCutter implements files.Format.
func (f *format) NewCutter() files.Cutter { return &cutter{dialect: f.found()} }

// NewEncoder implements files.Format.
func (f *format) NewEncoder(schema *batch.Schema) files.Encoder {
	e := newEncoder(f.dialect, f.quoteAll, schema)
	e.header = f.header
	return e
}

// found returns the dialect with the line ends that the files have.
func (f *format) found() dialect {
	f.mu.Lock()
	defer f.mu.Unlock()
	d := f.dialect
	d.ends = f.ends
	return d
}

// Preamble implements files.Format.
func (f *format) Preamble(head []byte, whole bool) (n int, lines int64, ok bool, err error) {
	d, n, ok, err := f.start(head, whole)
	if !ok || err != nil {
		return 0, 0, ok, err
	}
	if f.header {
		_, size, ok, err := firstRecord(d, head[n:], whole)
		if !ok || err != nil {
			return 0, 0, ok, err
		}
		n += size
	}
	return n, int64(bytes.Count(head[:n], []byte{d.endByte()})), true, nil
}

// start finds where the skipped lines end, and how lines do.
func (f *format) start(head []byte, whole bool) (d dialect, n int, ok bool, err error) {
	if ok, err = f.findEnds(head, whole); !ok || err != nil {
		return d, 0, ok, err
	}
	d = f.found()
	for range f.skip {
		end := (&cutter{dialect: dialect{ends: d.ends}}).Cut(head[n:], 0)
		if end < 0 && !whole {
			return d, 0, false, nil
		}
		if end < 0 {
			end = len(head) - n
		}
		n += end
	}
	return d, n, true, nil
}

// findEnds learns from the first line end outside quotes whether lines end
// with a CR alone. A file without any line end decides nothing.
func (f *format) findEnds(head []byte, whole bool) (ok bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dialect.ends != endsAny {
		return true, nil
	}
	ends, ok := firstEnd(f.dialect, f.skip > 0, head, whole)
	switch {
	case !ok:
		return whole, nil
	case f.known && f.ends != ends:
		return true, connector.Errorf(connector.Usage, "its lines end in another way than the first file's: read it by a job of its own, or set line_end")
	}
	f.ends, f.known = ends, true
	return true, nil
}

// firstEnd finds the first line end; quotes count unless a skipped line comes first.
func firstEnd(d dialect, skipped bool, head []byte, whole bool) (lineEnds, bool) {
	if skipped {
		d.quoting = false
	}
	lf := (&cutter{dialect: d}).Cut(head, 0)
	d.ends = endsCR
	cr := (&cutter{dialect: d}).Cut(head, 0)
	switch {
	case cr < 0 && lf < 0, cr == len(head) && !whole:
		return endsAny, false
	case cr < 0, lf >= 0 && lf <= cr+1:
		return endsAny, true
	default:
		return endsCR, true
	}
}
