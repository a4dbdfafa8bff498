package postgres

import (
	"fmt"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

// simpleKinds are the types whose kind needs no modifier.
var simpleKinds = map[oid]batch.Kind{ //nolint:gochecknoglobals // a constant table
	oidBool: batch.Bool, oidInt2: batch.Int16, oidInt4: batch.Int32, oidInt8: batch.Int64, oidOID: batch.Uint32,
	oidFloat4: batch.Float32, oidFloat8: batch.Float64, oidText: batch.Text, oidBytea: batch.Bytes,
	oidDate: batch.Date, oidUUID: batch.UUID,
}

// typeOf returns the type of a column of ours.
func typeOf(t *typeInfo, mod int32) batch.Type {
	t, mod = t.under(mod)
	if kind, ok := simpleKinds[t.oid]; ok {
		return batch.Of(kind)
	}
	switch t.oid {
	case oidJSON, oidJSONB:
		return batch.Type{Kind: batch.JSON, Name: t.name}
	case oidName:
		return batch.Type{Kind: batch.Text, Length: 63, Name: "name"}
	case oidChar:
		return batch.Type{Kind: batch.Text, Length: 1, Name: `"char"`}
	case oidVarchar:
		return batch.Type{Kind: batch.Text, Length: lengthOf(mod)}
	case oidBpchar:
		return batch.Type{Kind: batch.Text, Length: lengthOf(mod), Fixed: mod >= 0}
	case oidNumeric:
		precision, scale := numericMod(mod)
		return batch.Type{Kind: batch.Decimal, Precision: precision, Scale: scale}
	case oidTime, oidTimeTZ, oidTimestamp, oidTimestampTZ:
		return batch.Type{Kind: timeKind(t.oid), Fraction: fractionOf(mod) + 1}
	case oidInterval:
		return batch.Type{Kind: batch.Interval, Fraction: intervalFraction(mod) + 1}
	case oidBit:
		return batch.Type{Kind: batch.Bit, Length: max(1, int(mod)), Fixed: true}
	case oidVarbit:
		return batch.Type{Kind: batch.Bit, Length: max(0, int(mod))}
	}
	if t.elem != nil {
		elem := typeOf(t.elem, mod)
		return batch.Type{Kind: batch.Array, Elem: &elem}
	}
	return batch.Type{Kind: batch.Named, Name: t.name}
}

func timeKind(o oid) batch.Kind {
	switch o {
	case oidTime:
		return batch.Time
	case oidTimeTZ:
		return batch.TimeTZ
	case oidTimestamp:
		return batch.Timestamp
	}
	return batch.Instant
}

// lengthOf reads the modifier of varchar and bpchar: 4 more than the length.
func lengthOf(mod int32) int {
	if mod < 4 {
		return 0
	}
	return int(mod - 4)
}

// numericMod reads the modifier of numeric; precision 0 is none.
func numericMod(mod int32) (precision, scale int) {
	if mod < 4 {
		return 0, 0
	}
	mod -= 4
	// The scale is an 11-bit number with a sign (from PostgreSQL 15 on).
	return int(mod >> 16 & 0xffff), int(((mod & 0x7ff) ^ 1024) - 1024)
}

// fractionOf returns the digits of the seconds that a time type keeps.
func fractionOf(mod int32) int {
	if mod < 0 || mod > 6 {
		return 6
	}
	return int(mod)
}

// intervalFraction is fractionOf for interval, whose modifier also names fields.
func intervalFraction(mod int32) int {
	if mod < 0 {
		return 6
	}
	return fractionOf(mod & 0xffff)
}

// ddlType returns the type of a column to be made for values of a type.
// exists tells whether the target has a type of that name.
func ddlType(t batch.Type, exists func(name string) bool) string {
	switch t.Kind {
	case batch.Decimal:
		if t.Precision > 0 && t.Precision <= 1000 {
			return fmt.Sprintf("numeric(%d,%d)", t.Precision, t.Scale)
		}
		return "numeric"
	case batch.Text:
		return ddlText(t)
	case batch.Time, batch.TimeTZ, batch.Timestamp, batch.Instant, batch.Interval:
		return ddlTime(t)
	case batch.JSON:
		if t.Name == "jsonb" {
			return "jsonb"
		}
		return "json"
	case batch.Bit:
		return ddlBit(t)
	case batch.Array:
		if t.Elem == nil {
			return "text"
		}
		return ddlType(*t.Elem, exists) + "[]"
	case batch.Named:
		if t.Name != "" && exists(t.Name) {
			return t.Name
		}
		return "text"
	}
	if name, ok := ddlNames[t.Kind]; ok {
		return name
	}
	return "text"
}

// ddlNames are the column types for kinds without bounds.
var ddlNames = map[batch.Kind]string{ //nolint:gochecknoglobals // a constant table
	batch.Bool: "boolean", batch.Int8: "smallint", batch.Int16: "smallint", batch.Int32: "integer", batch.Int64: "bigint",
	batch.Uint8: "smallint", batch.Uint16: "integer", batch.Uint32: "bigint", batch.Uint64: "numeric(20,0)",
	batch.Float32: "real", batch.Float64: "double precision", batch.Bytes: "bytea", batch.Date: "date", batch.UUID: "uuid",
}

func ddlText(t batch.Type) string {
	switch {
	case t.Length == 0 || t.Length > 10485760:
		return "text"
	case t.Fixed:
		return fmt.Sprintf("character(%d)", t.Length)
	}
	return fmt.Sprintf("character varying(%d)", t.Length)
}

func ddlBit(t batch.Type) string {
	switch {
	case t.Length == 0:
		return "bit varying"
	case t.Fixed:
		return fmt.Sprintf("bit(%d)", t.Length)
	}
	return fmt.Sprintf("bit varying(%d)", t.Length)
}

func ddlTime(t batch.Type) string {
	precision := ""
	if t.Fraction > 0 && t.Fraction < 7 { // 6 is the default
		precision = fmt.Sprintf("(%d)", t.Fraction-1)
	}
	switch t.Kind {
	case batch.Time:
		return "time" + precision
	case batch.TimeTZ:
		return "time" + precision + " with time zone"
	case batch.Timestamp:
		return "timestamp" + precision
	case batch.Instant:
		return "timestamp" + precision + " with time zone"
	}
	return "interval" + precision
}

// typeRows is the type map for people.
func typeRows() []connector.TypeRow {
	array := batch.Type{Kind: batch.Array, Elem: &batch.Type{Kind: batch.Text}}
	return []connector.TypeRow{
		{Native: "boolean", Type: batch.Of(batch.Bool)},
		{Native: "smallint", Type: batch.Of(batch.Int16), Note: "also made for int8 and uint8"},
		{Native: "integer", Type: batch.Of(batch.Int32), Note: "also made for uint16"},
		{Native: "bigint", Type: batch.Of(batch.Int64), Note: "also made for uint32"},
		{Native: "oid", Type: batch.Of(batch.Uint32)},
		{Native: "real", Type: batch.Of(batch.Float32)},
		{Native: "double precision", Type: batch.Of(batch.Float64)},
		{Native: "numeric(p,s)", Type: batch.Of(batch.Decimal), Note: "numeric(20,0) is made for uint64; a value that would be rounded is dirty"},
		{Native: "text, varchar(n), char(n), name", Type: batch.Of(batch.Text), Note: "also made for untyped columns; a value longer than n is dirty"},
		{Native: "bytea", Type: batch.Of(batch.Bytes)},
		{Native: "date", Type: batch.Of(batch.Date)},
		{Native: "time", Type: batch.Of(batch.Time)},
		{Native: "timetz", Type: batch.Of(batch.TimeTZ)},
		{Native: "timestamp", Type: batch.Of(batch.Timestamp)},
		{Native: "timestamptz", Type: batch.Of(batch.Instant)},
		{Native: "interval", Type: batch.Of(batch.Interval)},
		{Native: "uuid", Type: batch.Of(batch.UUID)},
		{Native: "json, jsonb", Type: batch.Of(batch.JSON), Note: "json is made unless the source says jsonb, which keeps no spaces and no order of keys"},
		{Native: "bit(n), bit varying(n)", Type: batch.Of(batch.Bit)},
		{Native: "arrays", Type: array},
		{Native: "domains", Type: batch.Of(batch.Untyped), Note: "as the type they stand on; their checks are the server's"},
		{Native: "enums, ranges, inet, money and all others", Type: batch.Type{Kind: batch.Named, Name: "by the type's name"}, Note: "by their text"},
	}
}
