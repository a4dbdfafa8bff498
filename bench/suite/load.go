package suite

import (
	"context"
	"fmt"

	"github.com/leatdata/leat/bench/dataset"
	"github.com/leatdata/leat/bench/process"
)

// goals are what one stream and two must reach, as multiples of the peer's speed.
type goals struct {
	one, two float64
	aim      bool
}

// loads are the cases csv → postgres, into an empty unlogged table without keys.
func (e *Env) loads() []Planned {
	return []Planned{
		{"csv → postgres, mixed", func(_ context.Context, name string) (Case, error) {
			return e.load(name, dataset.Lineitem(), e.Rows, "UNLOGGED", goals{one: 1.4, two: 1.9})
		}},
		{"csv → postgres, narrow", func(_ context.Context, name string) (Case, error) {
			return e.load(name, dataset.Narrow(), e.Rows*10/3, "UNLOGGED", goals{2.3, 2.6, true})
		}},
		{"csv → postgres, wide", func(_ context.Context, name string) (Case, error) {
			return e.load(name, dataset.Wide(), e.Rows/6, "UNLOGGED", goals{1.5, 1.8, true})
		}},
		{"csv → postgres, mixed, logged", func(_ context.Context, name string) (Case, error) {
			return e.load(name, dataset.Lineitem(), e.Rows, "", goals{})
		}},
	}
}

func (e *Env) load(name string, t dataset.Table, rows int, kind string, g goals) (Case, error) {
	f, err := e.files(t, rows)
	if err != nil {
		return Case{}, err
	}
	leat := func(streams int) func() ([]process.Command, error) {
		return func() ([]process.Command, error) {
			return e.job(fmt.Sprintf("{csv: {path: %q}}", f.Whole), e.pgEndpoint(t.Name), streams)
		}
	}
	psql := func(paths ...string) func() ([]process.Command, error) {
		return func() ([]process.Command, error) {
			var commands []process.Command
			for _, path := range paths {
				commands = append(commands, e.Server.Psql("--command",
					fmt.Sprintf(`\copy %s from '%s' (format csv, header)`, t.Name, path)))
			}
			return commands, nil
		}
	}
	return Case{
		Name: name, Rows: rows, Bytes: f.Bytes,
		Contenders: []Contender{
			{Name: `psql \copy`, Streams: 1, commands: psql(f.Whole)},
			{Name: "leat", Streams: 1, Goal: g.one, Aim: g.aim, commands: leat(1)},
			{Name: "leat", Streams: 2, Goal: g.two, Aim: g.aim, commands: leat(2)},
			{Name: `2 × psql \copy, halves`, Streams: 2, commands: psql(f.Halves[:]...)},
		},
		reset: func(ctx context.Context) error {
			return e.sql(ctx, "DROP TABLE IF EXISTS "+t.Name,
				fmt.Sprintf("CREATE %s TABLE %s (%s)", kind, t.Name, t.DDL()), "CHECKPOINT")
		},
		fingerprint: func(ctx context.Context) (Fingerprint, error) { return e.tableFingerprint(ctx, t.Name) },
	}, nil
}

// pgEndpoint is a table of the server as a source or a sink, in YAML.
func (e *Env) pgEndpoint(table string) string {
	return fmt.Sprintf("{postgres: {url: %q, table: %q}}", e.Server.URL(), table)
}
