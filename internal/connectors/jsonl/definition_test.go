package jsonl

import (
	"bytes"
	"path/filepath"
	"slices"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/files"
	"github.com/leatdata/leat/internal/storage"
)

// What happens to JSON is told before: its null is dirty, and in a column
// without a type it is a text, also when the type was found by the texts.
func TestDoubtsAboutJSON(t *testing.T) {
	values := batch.Of(batch.JSON)
	first := &batch.Schema{Fields: []batch.Field{
		{Name: "a", Type: values},
		{Name: "b", Type: batch.Type{Kind: batch.Array, Elem: &values}},
		{Name: "c"},
		{Name: "d"},
		{Name: "e", Type: batch.Of(batch.Text)},
	}}
	o := &SinkOptions{SinkOptions: files.SinkOptions{Path: filepath.Join(t.TempDir(), "o.jsonl"), Mode: "overwrite"}}
	s, err := NewSink(storage.Local{}, &bytes.Buffer{}, o, connector.SinkEnv{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Resolve(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	found := &batch.Schema{Fields: slices.Clone(first.Fields)}
	found.Fields[2].Type, found.Fields[3].Type = batch.Of(batch.Text), batch.Of(batch.Int64)
	plan, err := s.Resolve(t.Context(), found)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "doubts", plan.Doubts, []string{
		"JSON in a, b: JSON's null is dirty, for in JSON lines it could not be told from NULL; spaces around a value, and line ends in it, are left out",
		"text in c has no declared type and is written as strings, also where it is JSON itself: declare types: {c: json} on the source to have it embedded",
	})
}
