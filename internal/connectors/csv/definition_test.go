package csv

import (
	"maps"
	"testing"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/option"
)

func TestDefinitionIsWhole(t *testing.T) {
	d := Definition()
	if _, err := connector.NewRegistry(d); err != nil {
		t.Fatal(err)
	}
	for _, o := range []any{d.Source.Options(), d.Sink.Options()} {
		if err := option.Parse(map[string]any{"path": "a.csv"}, o); err != nil {
			t.Errorf("%T with its defaults: %v", o, err)
		}
	}
	for i, row := range d.Types {
		if row.Native == "" || row.Note == "" {
			t.Errorf("type row %d says nothing: %+v", i, row)
		}
	}
}

func TestLocationGoesByTheSuffix(t *testing.T) {
	for path, want := range map[string]map[string]any{
		"a.csv":         {"path": "a.csv"},
		"dir/b.csv.gz":  {"path": "dir/b.csv.gz"},
		"c.tsv":         {"path": "c.tsv", "delimiter": "tab"},
		"d.tsv.zst":     {"path": "d.tsv.zst", "delimiter": "tab"},
		"-":             {"path": "-"},
		"e.tsv.old.csv": {"path": "e.tsv.old.csv"},
	} {
		got, err := Definition().Location(connector.Location{Path: path, Raw: path})
		if err != nil || !maps.Equal(got, want) {
			t.Errorf("%s: got %v, %v, want %v", path, got, err, want)
		}
	}
}
