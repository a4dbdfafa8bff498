package sqlite

import (
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/option"
)

func TestLocation(t *testing.T) {
	for arg, want := range map[string]map[string]any{
		"sqlite:data.db?table=t":          {"path": "data.db", "table": "t"},
		"sqlite://data.db?table=t":        {"path": "data.db", "table": "t"},
		"sqlite://dir/Data.db?table=t":    {"path": "dir/Data.db", "table": "t"},
		"sqlite:///tmp/a%20b.db":          {"path": "/tmp/a b.db", "table": "data"},
		"sqlite:/tmp/a.db?mode=overwrite": {"path": "/tmp/a.db", "table": "data", "mode": "overwrite"},
	} {
		u, err := url.Parse(arg)
		if err != nil {
			t.Fatal(err)
		}
		got, err := location(connector.Location{URL: u, Sink: true})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, error %v, want %v", arg, got, err, want)
		}
	}
	got, err := location(connector.Location{Path: "x.db"})
	if want := map[string]any{"path": "x.db"}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("a path as a source: %v, error %v", got, err)
	}
	u, err := url.Parse("sqlite:data.db?tabel=t")
	if err != nil {
		t.Fatal(err)
	}
	_, err = location(connector.Location{URL: u})
	for _, want := range []string{`"tabel"`, `did you mean "table"?`, "split_rows"} {
		if connector.ClassOf(err) != connector.Usage || !strings.Contains(err.Error(), want) {
			t.Errorf("an unknown parameter: %v, want %s", err, want)
		}
	}
	if _, err := location(connector.Location{Path: "-"}); connector.ClassOf(err) != connector.Usage {
		t.Errorf("-: %v", err)
	}
}

func TestReadbackReadsWhatTheSinkWrites(t *testing.T) {
	f := newFile(t)
	in := fields(t, "a int64")
	o := new(SinkOptions)
	if err := option.Parse(map[string]any{"path": f.path, "table": "t"}, o); err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.load(NewSink(o, connector.SinkEnv{}), "r1", in, rowsOf(in, []string{"5"})); err != nil {
		t.Fatal(err)
	}
	source, err := Definition().Sink.Readback(o)
	if err != nil {
		t.Fatal(err)
	}
	rows, _ := read(t, NewSource(source.(*SourceOptions), connector.SourceEnv{}))
	equal(t, "rows", rows, []string{`"5"`})
}

func TestOptionsSayAllThatIsWrong(t *testing.T) {
	err := option.Parse(map[string]any{"path": "x", "table": "leat_runs", "key": "a", "positions_table": "LEAT_runs", "mode": "append"}, new(SinkOptions))
	for _, want := range []string{"key is for mode upsert", "are the same", "where runs or positions are kept"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	err = option.Parse(map[string]any{"path": "x", "table": "sqlite_x", "query": "SELECT 1", "split_rows": 0}, new(SourceOptions))
	for _, want := range []string{"exclude each other", "1 or more", "keeps for itself"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}
