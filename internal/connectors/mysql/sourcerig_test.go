package mysql

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/connectortest"
	"github.com/leatdata/leat/connector/option"
	"github.com/leatdata/leat/internal/testenv"
)

// sourceRig is a database of its own to be read.
type sourceRig struct {
	t     *testing.T
	maria *testenv.MariaDBServer
	url   string
}

func newSourceRig(t *testing.T, setup string) *sourceRig {
	t.Helper()
	maria := testenv.MariaDB(t)
	r := &sourceRig{t: t, maria: maria, url: maria.Database(t)}
	maria.Exec(t, r.url, setup)
	return r
}

// options are those of the table t, or of others.
func (r *sourceRig) options(options map[string]any) *SourceOptions {
	r.t.Helper()
	values := map[string]any{"url": r.url}
	maps.Copy(values, options)
	if values["table"] == nil && values["query"] == nil {
		values["table"] = "t"
	}
	o := new(SourceOptions)
	check(r.t, option.Parse(values, o))
	return o
}

func (r *sourceRig) source(options map[string]any, env connector.SourceEnv) *Source {
	r.t.Helper()
	s := must(newSource(r.options(options), env))(r.t)
	r.t.Cleanup(func() { _ = s.Close() })
	return s
}

// allSplits enumerates to the end, each step by its cursor alone.
func allSplits(t *testing.T, s *Source, want connector.Want) []connector.Split {
	t.Helper()
	var all []connector.Split
	for at := connector.Cursor(""); ; {
		e := must(s.Enumerate(t.Context(), at, connector.SplitID(len(all)), want))(t)
		all = append(all, e.Splits...)
		if e.Done {
			return all
		}
		at = e.Next
	}
}

// readFrom reads a split from a position; each row is its cells between bars.
func readFrom(t *testing.T, s *Source, split connector.Split, pos connector.Position) (rows []string, rejects []batch.Reject) {
	t.Helper()
	rd := must(s.Open(t.Context(), split, pos))(t)
	defer func() { check(t, rd.Close()) }()
	schema := must(s.Schema(t.Context()))(t)
	b := new(batch.Batch)
	for {
		b.Reset(schema)
		err := rd.Next(t.Context(), b)
		if errors.Is(err, io.EOF) {
			return rows, rejects
		}
		check(t, err)
		for _, row := range connectortest.RowsOf(b) {
			rows = append(rows, line(row))
		}
		rejects = append(rejects, b.Rejects...)
	}
}

func line(row connectortest.Row) string {
	return strings.ReplaceAll(strings.Join(row, "|"), connectortest.Null, "NULL")
}

// readAll reads all splits of a source.
func readAll(t *testing.T, s *Source, want connector.Want) (rows []string, rejects []batch.Reject) {
	t.Helper()
	for _, split := range allSplits(t, s, want) {
		got, dirty := readFrom(t, s, split, "")
		rows, rejects = append(rows, got...), append(rejects, dirty...)
	}
	return rows, rejects
}

// types of the schema, by their names.
func typesOf(t *testing.T, s *Source) string {
	t.Helper()
	var list []string
	for _, f := range must(s.Schema(t.Context()))(t).Fields {
		text := fmt.Sprintf("%s %s", f.Name, f.Type)
		if f.NotNull {
			text += " not null"
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}
