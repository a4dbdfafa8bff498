package local_test

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

// counting is a source of the records 1 to records, in splits of perSplit and
// batches of perBatch, found in two steps. It rejects some.
type counting struct{}

const (
	records  = 150
	perSplit = 25
	perBatch = 3
)

// rejectedByReader are records that the source cannot read.
func rejectedByReader(id int) bool { return id%11 == 0 }

func (counting) schema() *batch.Schema {
	return &batch.Schema{
		Fields: []batch.Field{{Name: "id", Type: batch.Of(batch.Int64), NotNull: true}, {Name: "word", Type: batch.Of(batch.Text)}},
		Key:    []string{"id"},
	}
}

// Schema implements connector.Source.
func (c counting) Schema(context.Context) (*batch.Schema, error) { return c.schema(), nil }

// Enumerate implements connector.Source.
func (counting) Enumerate(_ context.Context, from connector.Cursor, first connector.SplitID, _ connector.Want) (connector.Enumeration, error) {
	const all = records / perSplit
	e := connector.Enumeration{Next: "half"}
	for int(first) < all && len(e.Splits) < all/2 {
		e.Splits = append(e.Splits, connector.Split{ID: first, Spec: fmt.Sprint(int(first)*perSplit + 1), Rows: perSplit})
		first++
	}
	e.Done = from != ""
	return e, nil
}

// Open implements connector.Source.
func (c counting) Open(_ context.Context, split connector.Split, pos connector.Position) (connector.Reader, error) {
	start, err := strconv.Atoi(split.Spec)
	if err != nil {
		return nil, err
	}
	r := &countingReader{next: start, end: start + perSplit}
	if pos != "" {
		r.next, err = strconv.Atoi(string(pos))
	}
	return r, err
}

// Close implements connector.Source.
func (counting) Close() error { return nil }

type countingReader struct{ next, end int }

// Next implements connector.Reader.
func (r *countingReader) Next(ctx context.Context, b *batch.Batch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.next == r.end {
		return io.EOF
	}
	for range perBatch {
		if r.next == r.end {
			break
		}
		id, word := []byte(strconv.Itoa(r.next)), fmt.Appendf(nil, "word %d", r.next)
		if rejectedByReader(r.next) {
			b.Rejects = append(b.Rejects, batch.Reject{Reason: "cannot be read", Values: [][]byte{id, word}})
		} else {
			b.Append(id)
			b.Append(word)
		}
		r.next++
	}
	b.Seal()
	b.Bytes = int64(len(b.Buf))
	return nil
}

// Position implements connector.Reader.
func (r *countingReader) Position() (connector.Position, bool) {
	return connector.Position(strconv.Itoa(r.next)), true
}

// Close implements connector.Reader.
func (*countingReader) Close() error { return nil }
