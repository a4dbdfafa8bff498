package files

import (
	"io"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

// Decoder cuts text into records of one format. It belongs to one goroutine.
type Decoder interface {
	// Decode takes records from the front of data, appends their spans (which
	// index data) to b.Spans and dirty ones, with their lines as At, to
	// b.Rejects, and returns the bytes it took: whole records only, at most
	// batch.Room allows. It may rewrite bytes that it took (to undouble a
	// quote). data starts at a record; when final, it ends where the split
	// ends, and a record without its line end is a record. 0 and no error asks
	// for more data. line is the number of the first line of data in its file,
	// for messages, 0 when unknown; the decoder returns the number of line
	// ends that it took.
	Decode(b *batch.Batch, data []byte, final bool, line int64) (n int, lines int64, err error)
}

// Extender is a Decoder that makes cells whose text does not stand in data.
type Extender interface {
	Decoder
	// Extra returns what the last Decode made. The reader appends it to the
	// bytes that Decode took: spans find its byte i at n+i. It is copied.
	Extra() []byte
}

// LineEnder is a Decoder or a Cutter of lines that end in another byte than
// LF.
type LineEnder interface {
	// LineEnd returns the last byte of every line end.
	LineEnd() byte
}

// lineEndOf returns the byte by which the lines of a decoder or cutter count.
func lineEndOf(v any) byte {
	if e, ok := v.(LineEnder); ok {
		return e.LineEnd()
	}
	return '\n'
}

// Cutter finds where records end in a stream of blocks, for splits.
type Cutter interface {
	// Cut follows the records through p, the next block of the stream, and
	// returns the index in p just after the first record end at or after
	// from, or -1 when there is none in p. It is then called again with the
	// rest of p, or the next block.
	Cut(p []byte, from int) int
}

// Encoder turns batches into text of one format. It belongs to one goroutine.
type Encoder interface {
	// Header appends what stands at the start of each file.
	Header(dst []byte) []byte
	// Encode appends all rows of b. A row that cannot be told in this format
	// is left out and given to reject.
	Encode(dst []byte, b *batch.Batch, reject func(row int, column, reason string)) []byte
}

// Packer is an Encoder of a format whose records do not stand one after
// another: it gathers them, and a pack of them can be read only when it is
// whole. A file's size then tells nothing of the records that are held.
type Packer interface {
	Encoder
	// Pack appends the pack of what Encode has taken and held back. Encode
	// appends packs too, where one is full.
	Pack(dst []byte) []byte
	// ValueBytes returns the bytes of the values taken since the last call.
	ValueBytes() int64
	// Close lets the encoder's memory serve another.
	Close()
}

// Ender is a WriteFormat whose files end in what is made of all their packs.
type Ender interface {
	// End returns the end of a file that holds segments, which follow one
	// another from the header on.
	End(schema *batch.Schema, file io.ReaderAt, segments []connector.Segment) ([]byte, error)
}

// WriteFormat is the half of a Format by which records are written.
type WriteFormat interface {
	// Suffix is the usual ending of a file's name: ".csv".
	Suffix() string
	// NewEncoder returns an encoder of batches of the schema.
	NewEncoder(schema *batch.Schema) Encoder
}

// Format is a text format of records, made from a connector's options.
type Format interface {
	WriteFormat
	// NewDecoder returns a decoder into the schema that the source found.
	NewDecoder(schema *batch.Schema) Decoder
	// NewCutter returns a cutter for a stream that starts at a record.
	NewCutter() Cutter
	// Preamble returns the length of what stands before the first record in a
	// file whose text starts with head: skipped lines and a header. ok is
	// false when head is too short to tell and is not the whole file.
	Preamble(head []byte, whole bool) (n int, lines int64, ok bool, err error)
}
