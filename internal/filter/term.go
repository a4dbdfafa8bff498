package filter

import (
	"github.com/expr-lang/expr/ast"

	"github.com/leatdata/leat/batch"
)

// row is a record of a batch.
type row struct {
	b *batch.Batch
	i int
}

// opt is a value or NULL.
type opt[T any] struct {
	v    T
	null bool
}

func some[T any](v T) opt[T] { return opt[T]{v: v} }

func null[T any]() opt[T] { return opt[T]{null: true} }

// eval computes a value from a record. It keeps nothing between records.
type eval[T any] func(row) (opt[T], error)

func constant[T any](v T) eval[T] {
	o := some(v)
	return func(row) (opt[T], error) { return o, nil }
}

func nothing[T any](row) (opt[T], error) { return null[T](), nil }

// kind is the type of a term.
type kind uint8

const (
	nullKind kind = iota
	boolKind
	exactKind
	floatKind
	textKind
	bytesKind
	uuidKind
	dateKind
	timestampKind
	instantKind
	timeKind
	// opaqueKind is a column that can only be tested for NULL or made a text.
	opaqueKind
)

var kindWords = [...]string{
	"nil", "true or false", "a number", "a float", "a text", "bytes", "a uuid", "a date", "a timestamp", "an instant",
	"a time", "a value without comparison",
}

func (k kind) isNumber() bool { return k == exactKind || k == floatKind }

// isText reports whether the term's bytes are in text.
func (k kind) isText() bool { return k == textKind || k == bytesKind }

// isMoment reports whether the term's value is in moment.
func (k kind) isMoment() bool { return k >= dateKind && k <= timeKind }

// term is a part of the expression with its type, ready to be computed. The
// eval that its kind calls for is set.
type term struct {
	kind kind
	node ast.Node

	boolean eval[bool]
	number  eval[number]
	float   eval[float64]
	text    eval[[]byte]
	uuid    eval[[16]byte]
	// moment is a value.Date for dateKind, a value.Timestamp for timestampKind
	// and instantKind, a value.Time for timeKind.
	moment eval[int64]

	// column is the field that the term is, or nil.
	column *batch.Field
	// whole says that an exact number has no fraction.
	whole bool
	// fixed is the value of an exact number that no record changes, or nil.
	fixed *number
	// literal is the text of a string in quotes, which takes the type of
	// what it is compared with; or nil.
	literal *string
	// unordered says that a text is only equal or not.
	unordered bool
}

// isUntyped reports whether the term is a column whose type nobody declared.
func (t *term) isUntyped() bool { return t.column != nil && t.column.Type.Kind == batch.Untyped }

// convert makes an eval of another with a conversion that NULL passes by.
func convert[T, U any](from eval[T], f func(T) (U, error)) eval[U] {
	return func(r row) (opt[U], error) {
		v, err := from(r)
		if err != nil || v.null {
			return null[U](), err
		}
		u, err := f(v.v)
		if err != nil {
			return null[U](), err
		}
		return some(u), nil
	}
}

// combine makes an eval of two with a function; NULL on either side is NULL.
func combine[T, U any](left, right eval[T], f func(a, b T) (U, error)) eval[U] {
	return func(r row) (opt[U], error) {
		a, err := left(r)
		if err != nil || a.null {
			return null[U](), err
		}
		b, err := right(r)
		if err != nil || b.null {
			return null[U](), err
		}
		u, err := f(a.v, b.v)
		if err != nil {
			return null[U](), err
		}
		return some(u), nil
	}
}
