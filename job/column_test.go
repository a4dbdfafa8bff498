package job

import (
	"fmt"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

func TestOutputs(t *testing.T) {
	in := &batch.Schema{Fields: []batch.Field{
		{Name: "id", Type: batch.Of(batch.Int64), NotNull: true}, {Name: "amount", Type: batch.Of(batch.Float64)}, {Name: "Note", Type: batch.Of(batch.Text)},
	}}
	for columns, want := range map[string]string{
		"":                                    "id:int64:0 amount:float64:1 Note:text:2",
		"[Note, id]":                          "Note:text:2 id:int64:0",
		"['*', {name: origin, value: north}]": "id:int64:0 amount:float64:1 Note:text:2 origin:text:-1",
		"[{name: n, value: 1}, '*', {name: total, from: amount, cast: 'decimal(5,1)'}]": "n:int64:-1 id:int64:0 Note:text:2 total:decimal(5,1):1",
		"[id, {name: again, from: id}]": "id:int64:0 again:int64:0",
		"[note]":                        `error: columns: the source has no column "note"; did you mean "Note"?`,
		"[zebra]":                       `error: columns: the source has no column "zebra"; it has id, amount, Note`,
		"['*', {name: id, value: 1}]":   `error: columns: two columns of the target would have the name "id"`,
	} {
		text := "source: {csv: {path: a}}\nsink: {pit: }\n"
		if columns != "" {
			text += "columns: " + columns + "\n"
		}
		outputs, err := mustParse(t, text, Vars{}).Outputs(in)
		var got []string
		for _, o := range outputs {
			got = append(got, fmt.Sprintf("%s:%s:%d", o.Field.Name, o.Field.Type, o.Source))
		}
		if err != nil {
			got = []string{"error: " + err.Error()}
			if connector.ClassOf(err) != connector.Usage {
				t.Errorf("%s: class %s", columns, connector.ClassOf(err))
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s:\n got %s\nwant %s", columns, strings.Join(got, " "), want)
		}
	}
}

func TestInputs(t *testing.T) {
	const sides = "source: {csv: {path: a}}\nsink: {pit: }\n"
	if got := mustParse(t, sides, Vars{}).Inputs(); got != nil {
		t.Errorf("all columns: %v", got)
	}
	if got := mustParse(t, sides+"columns: ['*', {name: x, from: y}]\n", Vars{}).Inputs(); got != nil {
		t.Errorf("with *: %v", got)
	}
	if got := mustParse(t, sides+"columns: [b, {name: x, from: y}, {name: z, from: y}, {name: c, value: 1}]\n", Vars{}).Inputs(); fmt.Sprint(got) != "[b y]" {
		t.Errorf("chosen: %v", got)
	}
}
