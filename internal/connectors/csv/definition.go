package csv

import (
	"strings"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/files"
)

// Definition declares the connector.
func Definition() *connector.Definition {
	return files.Definition[SourceOptions, SinkOptions, *Source]{
		Name:     "csv",
		Doc:      "delimited text files: CSV, TSV and their kin, also compressed",
		Suffixes: []string{".csv", ".tsv"}, Standard: true, ByName: byName,
		Types:     typeRows(),
		NewSource: NewSource, NewSink: NewSink, Readback: readback,
	}.Connector()
}

// byName knows tabs by the suffix.
func byName(name string, options map[string]any) {
	if strings.HasSuffix(name, ".tsv") {
		options["delimiter"] = "tab"
	}
}

func typeRows() []connector.TypeRow {
	return []connector.TypeRow{
		{Native: "field", Type: batch.Of(batch.Untyped), Note: "the target's type decides, or the option types; where the target is made, what all values of the column allow, else text"},
		{Native: "bare empty field", Type: batch.Of(batch.Untyped), Note: "NULL, or what null_token says; \"\" is the empty text"},
		{Native: `\x and hexadecimal digits`, Type: batch.Of(batch.Bytes), Note: "how bytes are read and written; a text without a backslash is its own bytes, one with another backslash is dirty"},
	}
}
