package parquet

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"sync"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/connectors/parquet/format"
	"github.com/leatdata/leat/internal/files"
)

// Suffix ends the names of files.
const suffix = ".parquet"

// createdBy names the program in footers.
const createdBy = "leat"

// writeFormat is the files.WriteFormat of a job's options. It keeps the
// encoders that no attempt has, for the memory of their columns.
type writeFormat struct {
	codec            format.Codec
	maxRows, maxHeld int

	mu   sync.Mutex
	free []*encoder
}

var (
	_ files.WriteFormat = (*writeFormat)(nil)
	_ files.Ender       = (*writeFormat)(nil)
)

// Suffix implements files.WriteFormat.
func (f *writeFormat) Suffix() string { return suffix }

// NewEncoder implements files.WriteFormat.
func (f *writeFormat) NewEncoder(schema *batch.Schema) files.Encoder {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := len(f.free); n > 0 && f.free[n-1].schema.Equal(schema) {
		e := f.free[n-1]
		f.free = f.free[:n-1]
		return e
	}
	e := &encoder{pool: f, schema: schema, comp: format.NewCompressor(f.codec), tag: tagOf(schema), maxRows: f.maxRows, maxHeld: f.maxHeld}
	for _, field := range schema.Fields {
		e.columns = append(e.columns, newColumn(field, f.codec))
	}
	return e
}

func (f *writeFormat) put(e *encoder) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.free = append(f.free, e)
}

// tagOf tells schemas apart.
func tagOf(schema *batch.Schema) uint32 {
	return crc32.ChecksumIEEE(format.AppendFooter(nil, &format.Footer{Schema: elements(schema)}))
}

// End implements files.Ender: the footer.
func (f *writeFormat) End(schema *batch.Schema, file io.ReaderAt, segments []connector.Segment) ([]byte, error) {
	footer := format.Footer{Schema: elements(schema), CreatedBy: createdBy}
	tag := tagOf(schema)
	for _, seg := range segments {
		groups, err := readPacks(file, seg, tag)
		if err != nil {
			return nil, connector.E(connector.Fatal, err)
		}
		footer.Groups = append(footer.Groups, groups...)
		for i := range groups {
			footer.Rows += groups[i].Rows
		}
	}
	end := format.AppendFooter(nil, &footer)
	end = binary.LittleEndian.AppendUint32(end, uint32(len(end)))
	return append(end, format.Magic...), nil
}
