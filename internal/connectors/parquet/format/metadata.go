package format

// Type is how values are stored.
type Type int32

// The physical types. NoType is that of a group.
const (
	NoType    Type = -1
	Boolean   Type = 0
	Int32     Type = 1
	Int64     Type = 2
	Int96     Type = 3
	Float     Type = 4
	Double    Type = 5
	ByteArray Type = 6
	Fixed     Type = 7
)

// Repetition says how often a field is there.
type Repetition int32

// The repetitions.
const (
	Required Repetition = 0
	Optional Repetition = 1
	Repeated Repetition = 2
)

// Encoding is how the values of a page are written.
type Encoding int32

// The encodings.
const (
	Plain                Encoding = 0
	PlainDictionary      Encoding = 2
	RLE                  Encoding = 3
	BitPacked            Encoding = 4
	DeltaBinaryPacked    Encoding = 5
	DeltaLengthByteArray Encoding = 6
	DeltaByteArray       Encoding = 7
	RLEDictionary        Encoding = 8
	ByteStreamSplit      Encoding = 9
)

// Logical is what values mean.
type Logical struct {
	Kind LogicalKind
	// Precision and Scale are a decimal's.
	Precision, Scale int32
	// UTC and Unit are of times.
	UTC  bool
	Unit Unit
	// Bits and Signed are an integer's.
	Bits   int8
	Signed bool
}

// LogicalKind is the kind of a logical type: the ids of the union LogicalType,
// and those that only the older ConvertedType has.
type LogicalKind int

// The kinds.
const (
	Bare      LogicalKind = 0
	String    LogicalKind = 1
	Map       LogicalKind = 2
	List      LogicalKind = 3
	Enum      LogicalKind = 4
	Decimal   LogicalKind = 5
	Date      LogicalKind = 6
	Time      LogicalKind = 7
	Timestamp LogicalKind = 8
	Integer   LogicalKind = 10
	Unknown   LogicalKind = 11
	JSON      LogicalKind = 12
	BSON      LogicalKind = 13
	UUID      LogicalKind = 14
	Float16   LogicalKind = 15
	// Other is one that this package does not know.
	Other    LogicalKind = 99
	Interval LogicalKind = 100
)

// Unit is a time's smallest part.
type Unit int8

// The units.
const (
	Millis Unit = 1
	Micros Unit = 2
	Nanos  Unit = 3
)

// Element is a node of the schema, which is listed depth first.
type Element struct {
	Name       string
	Type       Type
	Length     int32 // of Fixed
	Repetition Repetition
	Children   int32
	Logical    Logical
}

// Statistics are a chunk's bounds; nil where they are not known.
type Statistics struct {
	Min, Max []byte
	Nulls    int64
}

// Chunk is a column within a row group.
type Chunk struct {
	Type      Type
	Encodings []Encoding
	Path      []string
	Codec     Codec
	Values    int64
	// Uncompressed and Compressed are sizes with the page headers.
	Uncompressed, Compressed int64
	// Data and Dictionary are offsets in the file; Dictionary is 0 for none.
	Data, Dictionary int64
	Statistics       Statistics
	// Elsewhere says that the chunk is in another file; Encrypted that it
	// cannot be read without a key.
	Elsewhere, Encrypted bool
}

// Start is where the chunk's first page is.
func (c *Chunk) Start() int64 {
	if c.Dictionary > 0 && c.Dictionary < c.Data {
		return c.Dictionary
	}
	return c.Data
}

// RowGroup is some rows, column by column.
type RowGroup struct {
	Chunks []Chunk
	Bytes  int64 // uncompressed
	Rows   int64
}

// Compressed is the size of the row group in the file.
func (g *RowGroup) Compressed() int64 {
	var n int64
	for i := range g.Chunks {
		n += g.Chunks[i].Compressed
	}
	return n
}

// Move adds to all offsets.
func (g *RowGroup) Move(by int64) {
	for i := range g.Chunks {
		c := &g.Chunks[i]
		c.Data += by
		if c.Dictionary > 0 {
			c.Dictionary += by
		}
	}
}

// Footer is a file's metadata.
type Footer struct {
	Schema    []Element
	Rows      int64
	Groups    []RowGroup
	CreatedBy string
	Encrypted bool
}

// Magic stands at the start and at the end of a file; EncryptedMagic at the
// end of one whose footer is encrypted.
const (
	Magic          = "PAR1"
	EncryptedMagic = "PARE"
)
