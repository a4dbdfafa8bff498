package stream

import (
	"bytes"
	"net/url"
	"reflect"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/option"
)

func TestRecordsArePrintedAsReadableLines(t *testing.T) {
	var out bytes.Buffer
	sink := NewSink(&out)
	schema := &batch.Schema{Fields: []batch.Field{{Name: "a", Type: batch.Of(batch.Text)}, {Name: "b c", Type: batch.Of(batch.Bytes)}}}
	plan, err := sink.Resolve(t.Context(), schema)
	if err != nil || plan.Guarantee != connector.AtLeastOnce {
		t.Fatalf("plan %+v, error %v", plan, err)
	}
	w, state, err := sink.Claim(t.Context(), connector.Attempt{Token: 1})
	if err != nil {
		t.Fatal(err)
	}
	b := new(batch.Batch)
	b.Reset(schema)
	for _, cell := range [][]byte{[]byte("plain"), {1, 0xff}, nil, {}, {}, nil, []byte("NULL"), nil, []byte("two\nlines é"), nil, []byte("x=1"), nil} {
		b.Append(cell)
	}
	b.Seal()
	if err := w.Write(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	state.Done = true
	state, err = w.Commit(t.Context(), state)
	if err != nil || state.Counters.Written != 6 || state.CommitNo != 1 {
		t.Errorf("state %+v, error %v", state, err)
	}
	want := `a=plain "b c"=\x01ff
a=NULL "b c"=\x
a="" "b c"=NULL
a="NULL" "b c"=NULL
a="two\nlines é" "b c"=NULL
a="x=1" "b c"=NULL
`
	if out.String() != want {
		t.Errorf("printed\n%swant\n%s", &out, want)
	}
}

func TestASilentSinkIsStagedWithoutSegments(t *testing.T) {
	sink := NewSink(nil)
	plan, err := sink.Resolve(t.Context(), &batch.Schema{Fields: []batch.Field{{Name: "a"}}})
	if err != nil || plan.Guarantee != connector.Staged {
		t.Fatalf("plan %+v, error %v", plan, err)
	}
	old, _, err := sink.Claim(t.Context(), connector.Attempt{Token: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := sink.Claim(t.Context(), connector.Attempt{Token: 2}); err != nil {
		t.Fatal(err)
	}
	if _, err := old.Commit(t.Context(), connector.SplitState{}); connector.ClassOf(err) != connector.Fenced {
		t.Errorf("the older attempt's commit: %v, want fenced", err)
	}
}

func TestLocation(t *testing.T) {
	u, err := url.Parse("stream:?rows=10&nulls=0.5&columns=id int64,p decimal(10,2)")
	if err != nil {
		t.Fatal(err)
	}
	got, err := location(connector.Location{URL: u})
	want := map[string]any{"rows": "10", "nulls": "0.5", "columns": []any{"id int64", "p decimal(10,2)"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("location gives %v, %v, want %v", got, err, want)
	}
	var o SourceOptions
	if err := option.Parse(got, &o); err != nil || o.Rows != 10 || o.Nulls != 0.5 || len(o.Columns) != 2 || o.Key != "id" {
		t.Errorf("options %+v, error %v", o, err)
	}
	if u, err = url.Parse("stream:file.csv"); err != nil {
		t.Fatal(err)
	}
	if _, err := location(connector.Location{URL: u}); connector.ClassOf(err) != connector.Usage {
		t.Errorf("stream:file.csv gives %v, want a usage error", err)
	}
}
