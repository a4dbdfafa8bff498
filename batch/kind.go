package batch

// Kind is what a value means, whatever system holds it. The package comment
// gives the canonical text of each.
type Kind uint8

// The kinds. Untyped is a text whose type nobody declared.
const (
	Untyped Kind = iota
	Bool
	Int8
	Int16
	Int32
	Int64
	Uint8
	Uint16
	Uint32
	Uint64
	Float32
	Float64
	Decimal
	Text
	Bytes
	Date
	Time
	TimeTZ
	Timestamp
	Instant
	Interval
	UUID
	JSON
	Bit
	Array
	Named
)

var kindNames = [...]string{
	"untyped", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
	"float32", "float64", "decimal", "text", "bytes", "date", "time", "timetz", "timestamp", "instant",
	"interval", "uuid", "json", "bit", "array", "named",
}

// String returns the kind's name as job files and messages write it.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "kind?"
}

// Kinds returns all kinds in the order of their declaration.
func Kinds() []Kind {
	kinds := make([]Kind, len(kindNames))
	for i := range kinds {
		kinds[i] = Kind(i)
	}
	return kinds
}

// IsInteger reports whether k is one of Int8 to Uint64.
func (k Kind) IsInteger() bool { return k >= Int8 && k <= Uint64 }

// IsFloat reports whether k is Float32 or Float64.
func (k Kind) IsFloat() bool { return k == Float32 || k == Float64 }
