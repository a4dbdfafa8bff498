package verify

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/leatdata/leat/internal/connectors"
	"github.com/leatdata/leat/internal/local"
	"github.com/leatdata/leat/internal/testenv"
)

// Records of every type, NULLs among them, are copied from the generator to
// each connector and from each to each; after every copy both sides hold the
// same, by readers that are not the writers' own.
func TestEveryTypeThroughEveryPair(t *testing.T) {
	pg := testenv.Postgres(t)
	url := pg.Database(t)
	dir := t.TempDir()
	ends := map[string]func(name string, sink bool) string{
		"csv": func(name string, _ bool) string {
			return fmt.Sprintf("csv: {path: %q}", filepath.Join(dir, name+".csv"))
		},
		"jsonl": func(name string, _ bool) string {
			return fmt.Sprintf("jsonl: {path: %q}", filepath.Join(dir, name+".jsonl.gz"))
		},
		"sqlite": func(name string, sink bool) string {
			mode := ""
			if sink {
				mode = ", mode: overwrite"
			}
			return fmt.Sprintf("sqlite: {path: %q, table: %s%s}", filepath.Join(dir, "all.db"), name, mode)
		},
		"postgres": func(name string, _ bool) string {
			return fmt.Sprintf("postgres: {url: %q, table: %s}", url, name)
		},
	}
	copied := func(t *testing.T, source, sink string) {
		t.Helper()
		j := parse(t, fmt.Sprintf("name: pair\nsource: {%s}\nsink: {%s}\n", source, sink))
		state := local.Options{StateDir: t.TempDir()}
		sum, err := local.New(local.Deps{Registry: connectors.All()}).Run(t.Context(), j, state)
		if err != nil || sum.Written != 400 {
			t.Fatalf("%d written: %v", sum.Written, err)
		}
		r, err := Run(t.Context(), j, Options{Key: []string{"id"}}, slog.New(slog.DiscardHandler))
		if err != nil || !r.Equal() || r.Dirty != 0 || r.Source.Rows != 400 {
			t.Errorf("%+v, %v", r, err)
		}
	}
	for from, source := range ends {
		t.Run("stream to "+from, func(t *testing.T) {
			copied(t, "stream: {rows: 400, seed: 11, split_rows: 150}", source("first_"+from, true))
			for to, sink := range ends {
				t.Run(from+" to "+to, func(t *testing.T) {
					copied(t, source("first_"+from, false), sink("second_"+from+"_"+to, true))
				})
			}
		})
	}
}
