package connectortest

import (
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/batch/value"
)

// cellChecks are the checks of every cell against its field.
type cellChecks struct {
	t         *testing.T
	schema    *batch.Schema
	canonical []value.Converter
}

func newCellChecks(t *testing.T, schema *batch.Schema) *cellChecks {
	t.Helper()
	c := &cellChecks{t: t, schema: schema}
	for _, f := range schema.Fields {
		canonical, err := value.Canonical(f.Type)
		if err != nil {
			t.Fatal(err)
		}
		c.canonical = append(c.canonical, canonical)
	}
	return c
}

func (c *cellChecks) batch(b *batch.Batch) {
	c.t.Helper()
	bytes := 0
	for i := range b.Columns {
		for row := range b.Rows {
			bytes += len(b.Columns[i].Cell(row))
		}
	}
	switch {
	case b.Rows+len(b.Rejects) == 0:
		c.t.Error("a batch of no records")
	case len(b.Columns) != len(c.schema.Fields):
		c.t.Fatalf("a batch of %d columns for a schema of %d", len(b.Columns), len(c.schema.Fields))
	case b.Rows > batch.RowsOf(len(b.Columns)) || b.Rows > 1 && bytes > 2*batch.MaxBytes:
		c.t.Errorf("a batch of %d rows and %d bytes", b.Rows, bytes)
	case b.Read != int64(b.Rows+len(b.Rejects)):
		c.t.Errorf("a batch of %d rows and %d rejects says %d read", b.Rows, len(b.Rejects), b.Read)
	case b.First > 0 && b.Read != int64(b.Rows+len(b.Gone)):
		c.t.Errorf("a batch of %d records from %d on knows %d rows and %d gone", b.Read, b.First, b.Rows, len(b.Gone))
	case b.Bytes <= 0 && bytes > 0:
		c.t.Errorf("a batch of %d bytes says that it has %d", bytes, b.Bytes)
	}
	var scratch []byte
	for i, f := range c.schema.Fields {
		for row := range b.Rows {
			cell := b.Columns[i].Cell(row)
			if cell == nil {
				if f.NotNull {
					c.t.Fatalf("column %s is NULL, which its field denies", f.Name)
				}
				continue
			}
			var err error
			if scratch, err = c.canonical[i](scratch[:0], cell); err != nil || string(scratch) != string(cell) {
				c.t.Fatalf("column %s of type %s has %q; canonical is %q, %v", f.Name, f.Type, cell, scratch, err)
			}
		}
	}
}
