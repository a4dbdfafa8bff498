package csv

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/option"
	"github.com/leatdata/leat/internal/files"
	"github.com/leatdata/leat/internal/storage"
)

func sinkOf(t *testing.T, stdout *bytes.Buffer, options map[string]any) (*files.Sink, *SinkOptions, error) {
	t.Helper()
	var o SinkOptions
	if err := option.Parse(options, &o); err != nil {
		return nil, nil, err
	}
	s, err := NewSink(storage.Local{}, stdout, &o, connector.SinkEnv{})
	if err == nil {
		t.Cleanup(func() { _ = s.Close() })
	}
	return s, &o, err
}

// writeAll takes rows through a sink's whole protocol, and returns the final
// state and how many were refused.
func writeAll(t *testing.T, s *files.Sink, schema *batch.Schema, rows [][]any) (connector.SplitState, int) {
	t.Helper()
	ctx := t.Context()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.Resolve(ctx, schema)
	check(err)
	run := connector.Run{ID: "6a1f", Job: "j", JobHash: "h", Fresh: true}
	check(s.Prepare(ctx, run))
	split := connector.Split{ID: 0}
	check(s.Register(ctx, run, []connector.Split{split}))
	refused := 0
	w, state, err := s.Claim(ctx, connector.Attempt{
		Run: run, Split: split, Token: connector.NewToken(1, 1),
		Reject: func(*batch.Batch, int, string, batch.Cause, string) { refused++ },
	})
	check(err)
	check(w.Write(ctx, batchOf(schema, rows)))
	check(w.Flush(ctx))
	state.Done = true
	state, err = w.Commit(ctx, state)
	check(err)
	check(w.Close())
	check(s.Finish(ctx, run, []connector.SplitState{state}))
	return state, refused
}

func TestSinkWritesWhatItsReadbackReads(t *testing.T) {
	schema := schemaOf(3)
	schema.Fields[2].Type = batch.Of(batch.Bytes)
	rows := [][]any{{"1", nil, "\x00\xff"}, {"", `\N`, ""}, {"a,b\n\"c\"", "x\ty", nil}}
	for name, options := range map[string]map[string]any{
		"plain":      {},
		"null token": {"null_token": `\N`},
		"tab":        {"delimiter": "tab", "line_end": "crlf"},
		"all quoted": {"quote_fields": "all", "quote": "'"},
		"backslash":  {"escape": "backslash", "header": false},
		"no quotes":  {"escape": "backslash", "quote": "none", "null_token": `\N`},
		"gzip":       {"compression": "gzip"},
	} {
		t.Run(name, func(t *testing.T) {
			options["path"] = filepath.Join(t.TempDir(), "out.csv")
			s, o, err := sinkOf(t, nil, options)
			if err != nil {
				t.Fatal(err)
			}
			state, refused := writeAll(t, s, schema, rows)
			if refused > 0 || state.Counters.Written != 3 {
				t.Fatalf("%d refused, %d written", refused, state.Counters.Written)
			}
			read, err := Definition().Sink.Readback(o)
			if err != nil {
				t.Fatal(err)
			}
			src, err := NewSource(storage.Local{}, nil, read.(*SourceOptions), connector.SourceEnv{})
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			res, err := readAll(t, src)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, "rows", res.rows, []rec{row("1", nil, `\x00ff`), row("", `\N`, `\x`), row("a,b\n\"c\"", "x\ty", nil)})
		})
	}
}

func TestSinkWritesTheTextThatOthersRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.csv")
	s, _, err := sinkOf(t, nil, map[string]any{"path": path, "null_token": `\N`})
	if err != nil {
		t.Fatal(err)
	}
	writeAll(t, s, schemaOf(1), [][]any{{nil}, {""}, {`\N`}, {`\.`}})
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if want := "c1\n\\N\n\"\"\n\"\\N\"\n\"\\.\"\n"; string(text) != want {
		t.Errorf("got %q, want %q", text, want)
	}
}

func TestSinkWritesToStandardOutput(t *testing.T) {
	var out bytes.Buffer
	s, _, err := sinkOf(t, &out, map[string]any{"path": "-", "header": true})
	if err != nil {
		t.Fatal(err)
	}
	writeAll(t, s, schemaOf(2), [][]any{{"1", nil}})
	if want := "c1,c2\n1,\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// What a dialect without quotes cannot tell is dirty, and the rest is written.
func TestSinkRefusesWhatItCannotTell(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.tsv")
	s, _, err := sinkOf(t, nil, map[string]any{"path": path, "quote": "none", "delimiter": "tab", "header": false})
	if err != nil {
		t.Fatal(err)
	}
	state, refused := writeAll(t, s, schemaOf(2), [][]any{{"a", "b"}, {"a\tb", "c"}, {"", "d"}, {"e", "f\n"}, {nil, `"g"`}})
	if refused != 3 || state.Counters.Written != 2 {
		t.Errorf("%d refused, %d written", refused, state.Counters.Written)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "a\tb\n\t\"g\"\n" {
		t.Errorf("got %q, %v", text, err)
	}
	schema := schemaOf(1)
	schema.Fields[0].Name = "a\tb"
	s, _, err = sinkOf(t, nil, map[string]any{"path": path, "quote": "none", "delimiter": "tab"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Resolve(t.Context(), schema); connector.ClassOf(err) != connector.Usage || !strings.Contains(err.Error(), "header: false") {
		t.Errorf("a name with a delimiter: %v", err)
	}
	if _, _, err := sinkOf(t, nil, map[string]any{"path": path, "quote": "none", "quote_fields": "all"}); err == nil {
		t.Error("all quoted without a quote")
	}
}
