package stream

import (
	"fmt"
	"hash/fnv"
	"math"
	"strconv"

	"github.com/leatdata/leat/batch"
)

// generator makes the cells of one column.
type generator struct {
	typ  batch.Type
	make func(dst []byte, r *random, t *batch.Type) []byte
	// seed is of the job's seed and the column's name.
	seed uint64
	// nulls is the share of NULLs in 2^63ths.
	nulls uint64
	key   bool
}

func newGenerator(f batch.Field, seed int64, nulls float64, key bool) generator {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s", seed, f.Name)
	g := generator{typ: f.Type, make: makerOf(f.Type.Kind), seed: h.Sum64(), key: key}
	if !f.NotNull {
		g.nulls = uint64(nulls * math.MaxInt64)
	}
	return g
}

// appendCell adds the cell of a row, counted from 0, to b.
func (g *generator) appendCell(b *batch.Batch, r *random, row int64) {
	off := len(b.Buf)
	if g.key {
		b.Buf = strconv.AppendInt(b.Buf, row+1, 10)
		b.AppendFrom(off)
		return
	}
	r.state = g.seed ^ mix(uint64(row)+golden)
	if r.next()>>1 < g.nulls {
		b.AppendNull()
		return
	}
	b.Buf = g.make(b.Buf, r, &g.typ)
	b.AppendFrom(off)
}

// defaultFields returns the key and a column of every kind.
func defaultFields(key string) []batch.Field {
	fields := []batch.Field{{Name: key, Type: batch.Of(batch.Int64)}}
	for _, k := range batch.Kinds() {
		t := batch.Of(k)
		switch k {
		case batch.Untyped, batch.Named:
			continue
		case batch.Decimal:
			t.Precision, t.Scale = 15, 2
		case batch.Bit:
			t.Length = 8
		case batch.Time, batch.TimeTZ, batch.Timestamp, batch.Instant:
			t.Fraction = 7
		case batch.Array:
			t.Elem = &batch.Type{Kind: batch.Int32}
		}
		fields = append(fields, batch.Field{Name: k.String() + "_col", Type: t})
	}
	return fields
}

// makeable reports why no cell of a type can be made.
func makeable(t batch.Type) error {
	if t.Kind == batch.Array {
		if t.Elem == nil {
			return fmt.Errorf("an array needs the type of its elements, such as array of int32")
		}
		return makeable(*t.Elem)
	}
	if makerOf(t.Kind) == nil {
		return fmt.Errorf("values of type %s cannot be made", t)
	}
	return nil
}

func makerOf(k batch.Kind) func([]byte, *random, *batch.Type) []byte {
	switch k {
	case batch.Untyped, batch.Text:
		return appendText
	case batch.Bool:
		return appendBool
	case batch.Int8, batch.Int16, batch.Int32, batch.Int64:
		return appendInt
	case batch.Uint8, batch.Uint16, batch.Uint32, batch.Uint64:
		return appendUint
	case batch.Float32, batch.Float64:
		return appendFloat
	case batch.Decimal:
		return appendDecimal
	case batch.Bytes:
		return appendBytes
	case batch.Date:
		return appendDate
	case batch.Time, batch.TimeTZ:
		return appendTime
	case batch.Timestamp, batch.Instant:
		return appendTimestamp
	case batch.Interval:
		return appendInterval
	case batch.UUID:
		return appendUUID
	case batch.JSON:
		return appendJSON
	case batch.Bit:
		return appendBits
	case batch.Array:
		return appendArray
	}
	return nil
}
