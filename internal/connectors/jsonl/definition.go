package jsonl

import (
	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/files"
)

// Definition declares the connector.
func Definition() *connector.Definition {
	return files.Definition[SourceOptions, SinkOptions, *Source]{
		Name:      "jsonl",
		Doc:       "files of JSON objects, one a line, also compressed",
		Suffixes:  []string{".jsonl", ".ndjson"},
		Types:     typeRows(),
		NewSource: NewSource, NewSink: NewSink, Readback: readback,
	}.Connector()
}

func typeRows() []connector.TypeRow {
	return []connector.TypeRow{
		{Native: "number", Type: batch.Of(batch.Untyped), Note: "its very digits; the target's type decides, or the option types; where the target is made, int64, decimal or float64 where every number prints back from it, else text"},
		{Native: "string", Type: batch.Of(batch.Untyped), Note: "likewise; where the target is made, date, timestamp, instant or uuid where every string prints back from it, else text"},
		{Native: "true, false", Type: batch.Of(batch.Bool)},
		{Native: "null, or no such key", Type: batch.Of(batch.Untyped), Note: "NULL; written as null"},
		{Native: "object, array, values of several kinds", Type: batch.Of(batch.JSON), Note: "the text as it stands; an array for a target's array type; JSON's null in such a column is dirty when written, for it would read as NULL"},
		{Native: "string in base64, or \\x and hexadecimal digits", Type: batch.Of(batch.Bytes), Note: "written in base64"},
		{Native: "string", Type: batch.Of(batch.Float64), Note: "NaN, Infinity and -Infinity are written as strings, for JSON has no such numbers"},
	}
}
