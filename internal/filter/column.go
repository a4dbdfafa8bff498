package filter

import (
	"bytes"
	"fmt"

	"github.com/expr-lang/expr/ast"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/batch/value"
)

// CellError is a cell that is not of its column's type, or a computation that
// has no result. The record is then dirty.
type CellError struct {
	// Column is the column at fault, empty when it is no single one's.
	Column string
	Err    error
}

// Error implements error.
func (e *CellError) Error() string {
	if e.Column == "" {
		return e.Err.Error()
	}
	return fmt.Sprintf("column %q: %v", e.Column, e.Err)
}

// Unwrap returns the cause.
func (e *CellError) Unwrap() error { return e.Err }

// cells makes the eval of a column from the parser of its cells.
func cells[T any](index int, name string, parse func([]byte) (T, error)) eval[T] {
	return func(r row) (opt[T], error) {
		cell := r.b.Columns[index].Cell(r.i)
		if cell == nil {
			return null[T](), nil
		}
		v, err := parse(cell)
		if err != nil {
			return null[T](), &CellError{Column: name, Err: fmt.Errorf("%s: %w", value.Quote(cell), err)}
		}
		return some(v), nil
	}
}

// column returns the term of a field of the schema.
func column(node ast.Node, index int, f *batch.Field) *term {
	t := &term{node: node, column: f}
	switch k := f.Type.Kind; {
	case k == batch.Bool:
		t.kind, t.boolean = boolKind, cells(index, f.Name, value.ParseBool)
	case k.IsInteger():
		t.kind, t.whole, t.number = exactKind, true, cells(index, f.Name, integerParser(k))
	case k.IsFloat():
		t.kind, t.float = floatKind, cells(index, f.Name, floatParser(k))
	case k == batch.Decimal:
		t.kind, t.number = exactKind, cells(index, f.Name, numberOfDecimal)
	case k == batch.Untyped, k == batch.Text, k == batch.Bit:
		t.kind, t.text = textKind, cells(index, f.Name, asItIs)
	case k == batch.JSON, k == batch.Named:
		t.kind, t.unordered, t.text = textKind, true, cells(index, f.Name, asItIs)
	case k == batch.Bytes:
		t.kind, t.text = bytesKind, cells(index, f.Name, asItIs)
	case k == batch.UUID:
		t.kind, t.uuid = uuidKind, cells(index, f.Name, value.ParseUUID)
	case k == batch.Date:
		t.kind, t.moment = dateKind, cells(index, f.Name, parseDate)
	case k == batch.Timestamp:
		t.kind, t.moment = timestampKind, cells(index, f.Name, parseTimestamp)
	case k == batch.Instant:
		t.kind, t.moment = instantKind, cells(index, f.Name, parseInstant)
	case k == batch.Time:
		t.kind, t.moment = timeKind, cells(index, f.Name, parseTime)
	default: // Interval, TimeTZ, Array: one value has many texts, or no order
		t.kind, t.text = opaqueKind, cells(index, f.Name, asItIs)
	}
	return t
}

// raw is the column's text as it is.
func raw(index int) eval[[]byte] { return cells(index, "", asItIs) }

func asItIs(b []byte) ([]byte, error) { return b, nil }

func integerParser(k batch.Kind) func([]byte) (number, error) {
	if k >= batch.Uint8 {
		bits := 8 << (k - batch.Uint8)
		return func(b []byte) (number, error) {
			u, err := value.ParseUint(b, bits)
			return numberOfUint(u), err
		}
	}
	bits := 8 << (k - batch.Int8)
	return func(b []byte) (number, error) {
		i, err := value.ParseInt(b, bits)
		return numberOfInt(i), err
	}
}

func floatParser(k batch.Kind) func([]byte) (float64, error) {
	bits := 64
	if k == batch.Float32 {
		bits = 32
	}
	return func(b []byte) (float64, error) { return value.ParseFloat(b, bits) }
}

func parseDate(b []byte) (int64, error) {
	d, err := value.ParseDate(b)
	return int64(d), err
}

func parseTimestamp(b []byte) (int64, error) {
	t, err := value.ParseTimestamp(b)
	return int64(t), err
}

func parseInstant(b []byte) (int64, error) {
	t, err := value.ParseInstant(b)
	return int64(t), err
}

func parseTime(b []byte) (int64, error) {
	t, err := value.ParseTime(b)
	return int64(t), err
}

// midnight makes a timestamp of a date.
func midnight(date int64) (int64, error) {
	t, err := value.Date(date).At(0)
	return int64(t), err
}

// compareUUIDs orders two uuids by their bytes.
func compareUUIDs(a, b [16]byte) int { return bytes.Compare(a[:], b[:]) }
