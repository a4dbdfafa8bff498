package jsonl

import (
	"bytes"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/internal/files"
)

// format is the files.Format of lines of JSON. It has no options.
type format struct{}

var _ files.Format = format{}

// Suffix implements files.Format.
func (format) Suffix() string { return ".jsonl" }

// NewDecoder implements files.Format.
func (format) NewDecoder(schema *batch.Schema) files.Decoder {
	columns := make([]column, len(schema.Fields))
	for i, f := range schema.Fields {
		columns[i].name = f.Name
	}
	return newDecoder(columns, false)
}

// NewCutter implements files.Format.
func (format) NewCutter() files.Cutter { return cutter{} }

// NewEncoder implements files.Format.
func (format) NewEncoder(schema *batch.Schema) files.Encoder { return newEncoder(schema) }

// Preamble implements files.Format: there is none.
func (format) Preamble([]byte, bool) (int, int64, bool, error) { return 0, 0, true, nil }

// cutter cuts at line ends: JSON has none within a string.
type cutter struct{}

// Cut implements files.Cutter.
func (cutter) Cut(p []byte, from int) int {
	from = max(0, from-1)
	if from >= len(p) {
		return -1
	}
	i := bytes.IndexByte(p[from:], '\n')
	if i < 0 {
		return -1
	}
	return from + i + 1
}
