package task

import (
	"errors"
	"fmt"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/filter"
)

// Mapper turns the source's batches into the sink's: it filters, chooses,
// renames, casts and converts. A Mapper belongs to one goroutine; Clone makes
// another.
type Mapper struct {
	in      *batch.Schema
	out     *batch.Schema
	columns []Column
	outputs []output
	where   string
	filter  *filter.Filter
	dropped []bool
	scratch []byte
	// sources and spans are kept from batch to batch for their memory.
	sources []batch.Column
	spans   []batch.Span
	// converts says that some column needs a conversion.
	converts bool
	// bytes says that some new cell may not be UTF-8.
	bytes bool
}

// NewMapper resolves the job's columns and where against the source's schema.
// where is empty when the source filters by itself.
func NewMapper(in *batch.Schema, columns []Column, where string) (*Mapper, error) {
	outputs, err := resolve(in, columns)
	if err != nil {
		return nil, err
	}
	m := &Mapper{in: in, columns: columns, outputs: outputs, where: where}
	if where != "" {
		if m.filter, err = filter.Compile(where, in); err != nil {
			return nil, connector.Errorf(connector.Usage, "where: %w", err)
		}
	}
	m.out = &batch.Schema{Key: keyOf(in, outputs)}
	for _, o := range outputs {
		m.out.Fields = append(m.out.Fields, o.field)
	}
	return m, nil
}

// Out returns the schema before the conversion to the target's types.
func (m *Mapper) Out() *batch.Schema { return m.out }

// Bind sets the target's schema, of as many fields in the same order.
func (m *Mapper) Bind(target *batch.Schema) error {
	if len(target.Fields) != len(m.outputs) {
		return fmt.Errorf("the sink resolved %d columns of %d", len(target.Fields), len(m.outputs))
	}
	m.converts, m.bytes = false, false
	for i := range m.outputs {
		o := &m.outputs[i]
		if err := o.bind(target.Fields[i]); err != nil {
			return err
		}
		m.converts = m.converts || o.converted()
		m.bytes = m.bytes || o.makesBytes(target.Fields[i].Type)
	}
	m.out = target
	return nil
}

// Clone returns a bound mapper for another goroutine: filters and conversions
// have buffers of their own.
func (m *Mapper) Clone() (*Mapper, error) {
	c, err := NewMapper(m.in, m.columns, m.where)
	if err != nil {
		return nil, err
	}
	return c, c.Bind(m.out)
}

// Plain returns the source's fields that are the outputs, in their order; ok is
// false when a record takes more than that: a filter, a constant, a conversion.
func (m *Mapper) Plain() (fields []string, ok bool) {
	if m.filter != nil || m.converts {
		return nil, false
	}
	for i := range m.outputs {
		o := &m.outputs[i]
		if o.source < 0 {
			return nil, false
		}
		fields = append(fields, m.in.Fields[o.source].Name)
	}
	return fields, true
}

// Map rewrites the batch in place and returns the number of records that the
// filter left out. Records that cannot be converted become rejects. Packed
// rows, which only a plain mapper meets, are as they should be.
func (m *Mapper) Map(b *batch.Batch) (filtered int64) {
	if b.Packing != nil {
		b.Schema = m.out
		return 0
	}
	rows := b.Rows
	m.dropped = append(m.dropped[:0], make([]bool, rows)...)
	drops := 0
	if m.filter != nil {
		rejects := len(b.Rejects)
		drops = m.keep(b)
		filtered = int64(drops - (len(b.Rejects) - rejects))
	}
	base := len(b.Spans)
	if m.converts {
		drops += m.convert(b)
	}
	b.ValidUTF8 = b.ValidUTF8 && !m.bytes
	m.project(b, base)
	if drops > 0 {
		m.compact(b)
	}
	return filtered
}

// keep marks the rows that do not pass and returns their number.
func (m *Mapper) keep(b *batch.Batch) (drops int) {
	for row := range b.Rows {
		ok, err := m.filter.Match(b, row)
		if err == nil && ok {
			continue
		}
		m.dropped[row] = true
		drops++
		if cell, is := errors.AsType[*filter.CellError](err); is {
			m.reject(b, row, cell.Column, batch.CauseConversion, "where: "+cell.Err.Error())
		} else if err != nil {
			m.reject(b, row, "", batch.CauseOther, "where: "+err.Error())
		}
	}
	return drops
}

// convert appends the converted cells of each column that needs it after the
// batch's spans, a column at a time, and returns the number of rows rejected.
func (m *Mapper) convert(b *batch.Batch) (drops int) {
	for i := range m.outputs {
		o := &m.outputs[i]
		if !o.converted() {
			continue
		}
		column := b.Columns[o.source]
		for row := range b.Rows {
			cell := column.Cell(row)
			if cell == nil || m.dropped[row] {
				b.AppendNull()
				continue
			}
			off := len(b.Buf)
			if err := m.convertCell(b, o, cell); err != nil {
				b.Buf = b.Buf[:off]
				b.AppendNull()
				m.reject(b, row, o.field.Name, batch.CauseConversion, err.Error())
				m.dropped[row] = true
				drops++
				continue
			}
			b.AppendFrom(off)
		}
	}
	return drops
}

func (m *Mapper) convertCell(b *batch.Batch, o *output, cell []byte) (err error) {
	if o.cast != nil {
		if m.scratch, err = o.cast(m.scratch[:0], cell); err != nil {
			return err
		}
		cell = m.scratch
		if o.convert == nil {
			b.Buf = append(b.Buf, cell...)
			return nil
		}
	}
	b.Buf, err = o.convert(b.Buf, cell)
	return err
}

// project makes the outputs the batch's columns. Converted ones start at base.
func (m *Mapper) project(b *batch.Batch, base int) {
	if b.Buf == nil {
		b.Buf = []byte{}
	}
	m.sources = append(m.sources[:0], b.Columns...)
	constants := base
	for i := range m.outputs {
		if m.outputs[i].converted() {
			constants += b.Rows
		}
	}
	b.Spans = b.Spans[:constants]
	for i := range m.outputs {
		if o := &m.outputs[i]; o.source < 0 {
			b.Append(o.constant)
		}
	}
	b.Columns = b.Columns[:0]
	for i := range m.outputs {
		o := &m.outputs[i]
		c := batch.Column{Data: b.Buf, Spans: b.Spans}
		switch {
		case o.source < 0:
			c.First = constants
			constants++
		case o.converted():
			c.First, c.Stride = base, 1
			base += b.Rows
		default:
			c.First, c.Stride = m.sources[o.source].First, m.sources[o.source].Stride
		}
		b.Columns = append(b.Columns, c)
	}
	clear(m.sources) // they hold the batch's data
	b.Schema = m.out
}

func (m *Mapper) reject(b *batch.Batch, row int, column string, cause batch.Cause, reason string) {
	values := make([][]byte, len(m.in.Fields))
	for i := range values {
		if cell := b.Columns[i].Cell(row); cell != nil {
			values[i] = append([]byte{}, cell...)
		}
	}
	b.Rejects = append(b.Rejects, batch.Reject{
		Where: describe(b, row), Column: column, Reason: reason, Cause: cause, Names: m.in.Names(), Values: values,
	})
}

// compact removes the dropped rows. The kept ones go into spans of their own,
// since columns may share a span; the batch's old ones serve the next batch.
func (m *Mapper) compact(b *batch.Batch) {
	b.NoteGone(m.dropped)
	spans := m.spans[:0]
	kept := 0
	for row := range b.Rows {
		if m.dropped[row] {
			continue
		}
		kept++
		for i := range b.Columns {
			c := &b.Columns[i]
			spans = append(spans, c.Spans[c.First+row*c.Stride])
		}
	}
	b.Spans, m.spans = spans, b.Spans
	b.Rows = kept
	for i := range b.Columns {
		b.Columns[i].Spans, b.Columns[i].First, b.Columns[i].Stride = spans, i, len(b.Columns)
	}
}
