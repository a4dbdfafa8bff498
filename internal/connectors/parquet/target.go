package parquet

import (
	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/internal/connectors/parquet/format"
)

// maxPrecision is the most digits of a decimal that readers of Parquet know.
const maxPrecision = 38

// targetType returns the type that a column of a type is written as.
func targetType(t batch.Type) batch.Type {
	switch t.Kind {
	case batch.Untyped, batch.Named, batch.TimeTZ, batch.Interval, batch.Bit, batch.Text:
		return batch.Of(batch.Text)
	case batch.Array:
		return batch.Of(batch.JSON)
	case batch.Decimal:
		precision, scale := decimalBounds(t)
		if precision == 0 {
			return batch.Of(batch.Text)
		}
		return batch.Type{Kind: batch.Decimal, Precision: precision, Scale: scale}
	case batch.Time, batch.Timestamp, batch.Instant:
		return batch.Type{Kind: t.Kind, Fraction: fractionOf(unitOf(t))}
	}
	return batch.Of(t.Kind)
}

// decimalBounds returns the bounds of Parquet's type for a decimal, whose
// scale is never negative nor more than its precision; a precision of 0 says
// that there is none for it.
func decimalBounds(t batch.Type) (precision, scale int) {
	precision, scale = t.Precision, t.Scale
	if precision > 0 && scale < 0 {
		precision, scale = precision-scale, 0
	}
	precision = max(precision, scale)
	if t.Precision == 0 || precision > maxPrecision {
		return 0, 0
	}
	return precision, scale
}

// unitOf returns the unit in which times of a type are written: nanoseconds
// only where there may be some, for their range is short.
func unitOf(t batch.Type) format.Unit {
	if t.Fraction > 7 {
		return format.Nanos
	}
	return format.Micros
}

// fractionOf is the batch.Type.Fraction of a unit.
func fractionOf(u format.Unit) int {
	switch u {
	case format.Millis:
		return 4
	case format.Nanos:
		return 10
	}
	return 7
}

// elementOf returns the node of the file's schema for a column of the target,
// whose type targetType has chosen.
func elementOf(f batch.Field) format.Element {
	e := format.Element{Name: f.Name, Repetition: format.Optional}
	if f.NotNull {
		e.Repetition = format.Required
	}
	switch t := f.Type; t.Kind {
	case batch.Bool:
		e.Type = format.Boolean
	case batch.Int8, batch.Int16, batch.Int32, batch.Int64, batch.Uint8, batch.Uint16, batch.Uint32, batch.Uint64:
		e.Type = format.Int32
		bits := int8(8) << ((t.Kind - batch.Int8) % 4)
		if bits == 64 {
			e.Type = format.Int64
		}
		e.Logical = format.Logical{Kind: format.Integer, Bits: bits, Signed: t.Kind < batch.Uint8}
	case batch.Float32:
		e.Type = format.Float
	case batch.Float64:
		e.Type = format.Double
	case batch.Decimal:
		e.Logical = format.Logical{Kind: format.Decimal, Precision: int32(t.Precision), Scale: int32(t.Scale)}
		switch {
		case t.Precision <= 9:
			e.Type = format.Int32
		case t.Precision <= 18:
			e.Type = format.Int64
		default:
			e.Type, e.Length = format.Fixed, decimalLength(t.Precision)
		}
	case batch.Date:
		e.Type, e.Logical = format.Int32, format.Logical{Kind: format.Date}
	case batch.Time:
		e.Type, e.Logical = format.Int64, format.Logical{Kind: format.Time, Unit: unitOf(t)}
	case batch.Timestamp, batch.Instant:
		e.Type, e.Logical = format.Int64, format.Logical{Kind: format.Timestamp, Unit: unitOf(t), UTC: t.Kind == batch.Instant}
	case batch.UUID:
		e.Type, e.Length, e.Logical = format.Fixed, 16, format.Logical{Kind: format.UUID}
	case batch.JSON:
		e.Type, e.Logical = format.ByteArray, format.Logical{Kind: format.JSON}
	case batch.Bytes:
		e.Type = format.ByteArray
	default:
		e.Type, e.Logical = format.ByteArray, format.Logical{Kind: format.String}
	}
	return e
}

// decimalLength returns the bytes that all decimals of a precision fit in.
func decimalLength(precision int) int32 {
	lengths := [...]int32{ // from 19 digits on
		9, 9, 9, 10, 10, 11, 11, 11, 12, 12, 13, 13, 13, 14, 14, 15, 15, 16, 16, 16,
	}
	return lengths[precision-19]
}

// elements returns the schema of a file, its root first.
func elements(s *batch.Schema) []format.Element {
	all := []format.Element{{Name: "schema", Type: format.NoType, Children: int32(len(s.Fields))}}
	for _, f := range s.Fields {
		all = append(all, elementOf(f))
	}
	return all
}
