package parquet

import (
	"errors"
	"slices"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/internal/connectors/parquet/format"
	"github.com/leatdata/leat/internal/files"
)

var errNull = errors.New("is NULL in a column that has none")

// encoder is the files.Packer of row groups. A pack is a row group and, behind
// it, what the footer will say of it.
type encoder struct {
	pool    *writeFormat
	schema  *batch.Schema
	columns []*column
	comp    *format.Compressor
	tag     uint32 // of the schema

	maxRows, maxHeld int

	rows    int
	payload int64
	skip    []bool
	bad     bool
}

var _ files.Packer = (*encoder)(nil)

// Header implements files.Encoder.
func (e *encoder) Header(dst []byte) []byte { return append(dst, format.Magic...) }

// Encode implements files.Encoder.
func (e *encoder) Encode(dst []byte, b *batch.Batch, reject func(row int, column, reason string)) []byte {
	rows := e.add(b, reject)
	if rows == 0 {
		return dst
	}
	e.rows += rows
	b.Forget() // the columns have copies
	held := 0
	for _, c := range e.columns {
		if c.full() {
			must(c.endPage(e.comp))
		}
		held += c.held()
		e.payload += c.payload
		c.payload = 0
	}
	if e.rows >= e.maxRows || held >= e.maxHeld {
		return e.Pack(dst)
	}
	return dst
}

// add takes a batch's rows column by column. Where a cell cannot be held, all
// are taken back and added again without its row.
func (e *encoder) add(b *batch.Batch, reject func(row int, column, reason string)) int {
	e.bad = false
	for i, c := range e.columns {
		c.add(&b.Columns[i], b.Rows, b.ValidUTF8, nil, func(row int, err error) {
			if !e.bad {
				e.bad = true
				e.skip = append(e.skip[:0], make([]bool, b.Rows)...)
			}
			if !e.skip[row] {
				e.skip[row] = true
				reject(row, e.schema.Fields[i].Name, err.Error())
			}
		})
	}
	if !e.bad {
		return b.Rows
	}
	kept := b.Rows
	for _, skipped := range e.skip {
		if skipped {
			kept--
		}
	}
	for i, c := range e.columns {
		c.takeBack()
		c.add(&b.Columns[i], b.Rows, b.ValidUTF8, e.skip, func(_ int, err error) {
			panic("parquet: a cell that was held before is not held again: " + err.Error())
		})
	}
	return kept
}

// Pack implements files.Packer.
func (e *encoder) Pack(dst []byte) []byte {
	if e.rows == 0 {
		return dst
	}
	done, huge := 0, false
	for _, c := range e.columns {
		done += len(c.pages)
		huge = huge || c.huge
	}
	if huge {
		dst = batch.Grow(dst, len(dst)+done+done/16)
	} else {
		dst = slices.Grow(dst, done+done/4)
	}
	p := pack{start: len(dst), group: format.RowGroup{Rows: int64(e.rows)}}
	// Offsets are those in a file of this pack alone.
	origin := p.start - len(format.Magic)
	for _, c := range e.columns {
		var chunk format.Chunk
		var err error
		dst, chunk, err = c.finish(dst, origin, e.comp)
		must(err)
		p.group.Chunks = append(p.group.Chunks, chunk)
		p.group.Bytes += chunk.Uncompressed
		c.begin()
	}
	e.rows = 0
	return p.append(dst, e.tag)
}

// ValueBytes implements files.Packer.
func (e *encoder) ValueBytes() int64 {
	n := e.payload
	e.payload = 0
	return n
}

// Close implements files.Packer.
func (e *encoder) Close() {
	for _, c := range e.columns {
		c.begin()
		c.payload = 0
	}
	e.rows, e.payload = 0, 0
	e.pool.put(e)
}

// must holds what compressions into memory promise.
func must(err error) {
	if err != nil {
		panic("parquet: " + err.Error())
	}
}
