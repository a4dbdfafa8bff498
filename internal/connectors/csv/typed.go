package csv

import (
	"bytes"
	"fmt"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/batch/value"
)

// typedColumn is a column of declared type, whose cells have to be its
// canonical text.
type typedColumn struct {
	index   int
	name    string
	convert value.Converter
}

// typedColumns returns the columns of a schema that have to be checked.
func typedColumns(schema *batch.Schema) []typedColumn {
	var typed []typedColumn
	for i, f := range schema.Fields {
		check, err := check(f.Type)
		if err != nil {
			panic("csv: " + err.Error()) // newSourceFormat has asked for all types
		}
		if check != nil {
			typed = append(typed, typedColumn{index: i, name: f.Name, convert: check})
		}
	}
	return typed
}

// check returns how a field becomes a cell of a declared type; nil when it is
// one as it is.
func check(t batch.Type) (value.Converter, error) {
	switch {
	case t.Kind == batch.Untyped, t.Kind == batch.Text && t.Length == 0:
		return nil, nil
	}
	c, err := value.Canonical(t)
	if err == nil && t.Kind == batch.Bytes {
		c = bytesThen(c)
	}
	return c, err
}

// bytesThen reads \x and digits before a check of the bytes they stand for.
func bytesThen(check value.Converter) value.Converter {
	return func(dst, cell []byte) ([]byte, error) {
		n := len(dst)
		out, err := value.ParseBytes(dst, cell)
		if err != nil {
			return dst, err
		}
		if _, err = check(out, out[n:]); err != nil { // what it appends is let go
			return dst, err
		}
		return out, nil
	}
}

// convert checks the typed cells of the rows from spans[from] on, in the first
// n bytes of data. A row with a cell that is none of its type is dirty; a cell
// whose canonical text is another gets that, from Extra.
func (d *decoder) convert(data []byte, from, n int) {
	kept := from
	for r := from; r < d.used; r += d.width {
		spans := d.spans[r : r+d.width]
		if d.convertRow(data, spans, n) {
			kept += copy(d.spans[kept:], spans)
		}
	}
	d.used = kept
}

func (d *decoder) convertRow(data []byte, spans []batch.Span, n int) bool {
	d.asRead = append(d.asRead[:0], spans...)
	start := len(d.extra)
	for i := range d.typed {
		t := &d.typed[i]
		s := &spans[t.index]
		if s.Len < 0 {
			continue
		}
		cell := data[s.Off : s.Off+uint32(s.Len)]
		before := len(d.extra)
		out, err := t.convert(d.extra, cell)
		if err != nil {
			d.extra = d.extra[:start]
			d.rejectTyped(data, t.name, fmt.Sprintf("%s: %s", value.Quote(cell), err))
			return false
		}
		if bytes.Equal(out[before:], cell) {
			d.extra = out[:before]
			continue
		}
		d.extra = out
		*s = batch.Span{Off: uint32(n + before), Len: int32(len(out) - before)}
	}
	return true
}

// rejectTyped makes the row whose spans are asRead a dirty record.
func (d *decoder) rejectTyped(data []byte, column, reason string) {
	values := make([][]byte, len(d.asRead))
	for i, s := range d.asRead {
		if s.Len >= 0 {
			values[i] = append([]byte{}, data[s.Off:s.Off+uint32(s.Len)]...)
		}
	}
	line := d.lineAt(data, int(d.asRead[0].Off))
	d.b.Rejects = append(d.b.Rejects, batch.Reject{
		Where: lineName(line), At: line, Column: column, Reason: reason, Values: values,
	})
}

// Extra implements files.Extender.
func (d *decoder) Extra() []byte { return d.extra }
