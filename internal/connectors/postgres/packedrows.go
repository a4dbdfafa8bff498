package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

// Packing implements connector.PackedSource. The key is found in the packed
// rows, so it has to be among the fields.
func (s *Source) Packing(ctx context.Context, fields []string) (batch.Packing, error) {
	sh, err := s.resolve(ctx)
	if err != nil {
		return nil, err
	}
	columns := make([]column, len(fields))
	for i, f := range fields {
		at := slices.IndexFunc(sh.columns, func(c column) bool { return c.name == f })
		if at < 0 {
			return nil, nil //nolint:nilnil // no packing is an answer
		}
		columns[i] = sh.columns[at]
	}
	p := newPacking(columns)
	if p == nil || sh.unchecked || sh.Unique && !p.has(sh.keyColumns) {
		return nil, nil //nolint:nilnil // no packing is an answer
	}
	return p, nil
}

// OpenPacked implements connector.PackedSource.
func (s *Source) OpenPacked(ctx context.Context, split connector.Split, pos connector.Position, p batch.Packing) (connector.Reader, error) {
	own, ok := p.(*packing)
	if !ok {
		return nil, connector.Errorf(connector.Permanent, "a packing of another system")
	}
	return s.openAs(ctx, split, pos, func(_ *shape, keys []column) rowTaker { return &packedRows{packing: own, keys: keys} })
}

// packedRows takes the rows of COPY's binary form as they are.
type packedRows struct {
	packing *packing
	keys    []column
	// headed says that the header was taken off, ended that the trailer came.
	headed bool
	ended  bool
}

func (p *packedRows) selected() []string {
	names := make([]string, len(p.packing.columns))
	for i, c := range p.packing.columns {
		names[i] = c.name
	}
	return names
}

func (p *packedRows) format() string { return " (FORMAT binary)" }

func (p *packedRows) begin(*batch.Batch) {}

func (p *packedRows) full(b *batch.Batch) bool { return b.FullPacked(len(p.packing.columns)) }

// take implements rowTaker. The server sends a row in a message, the first
// behind the header; the form would allow several.
func (p *packedRows) take(b *batch.Batch, data []byte) (rows int64, err error) {
	if !p.headed {
		rest, ok := bytes.CutPrefix(data, []byte(copyHeader))
		if !ok {
			return 0, errTuple
		}
		data, p.headed = rest, true
	}
	for len(data) > 0 {
		if p.ended {
			return rows, errTuple
		}
		if len(data) == 2 && int16(binary.BigEndian.Uint16(data)) == -1 {
			p.ended = true
			break
		}
		length, payload, err := p.packing.tuple(data)
		if err != nil {
			return rows, err
		}
		b.AppendPacked(data[:length])
		b.Bytes += int64(payload)
		data = data[length:]
		rows++
	}
	return rows, nil
}

func (p *packedRows) seal(b *batch.Batch) { b.SealPacked(p.packing) }

func (p *packedRows) key(b *batch.Batch) ([]string, error) {
	return p.packing.key(b.PackedRow(b.Rows-1), p.keys)
}
