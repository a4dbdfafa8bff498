package suite

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/leatdata/leat/bench/dataset"
	"github.com/leatdata/leat/bench/process"
)

// pgDump is the peer of copies between two databases of PostgreSQL.
const pgDump = "pg_dump | psql"

// transfers are the cases postgres → postgres, between two databases of a server.
func (e *Env) transfers() []Planned {
	const group = "postgres → postgres"
	needs := []string{"postgres"}
	same := func(kind string, one, two float64) func(context.Context) (Case, error) {
		return func(ctx context.Context) (Case, error) { return e.transfer(ctx, kind, one, two) }
	}
	return []Planned{
		{group, "postgres → postgres, same types", needs, same("UNLOGGED", 1.25, 1.3)},
		{group, "postgres → postgres, same types, logged", needs, same("", 0, 0)},
		{group, "postgres → postgres, cast and filter", needs, e.castAndFilter},
	}
}

func (e *Env) transfer(ctx context.Context, kind string, one, two float64) (Case, error) {
	t := dataset.Lineitem()
	server, f, err := e.filledPg(ctx, t, e.Rows)
	if err != nil {
		return Case{}, err
	}
	target := server.In(targetDatabase)
	source, sink := pgAt(server, t.Name), pgAt(target, t.Name)
	dump := pipe(server.PgDump("--data-only", "--table="+t.Name), target.Psql())
	return Case{
		Rows: f.Rows, Bytes: f.Bytes, servers: []int{server.Pid()},
		Contenders: []Contender{
			{Name: pgDump, Streams: 1, commands: command(dump)},
			e.leat("leat", 1, source, sink, Goal{Against: pgDump, Speed: one}),
			e.leat("leat", 2, source, sink, Goal{Against: pgDump, Speed: two}),
		},
		reset:       resetPg(target, t.Name, kind, t.DDL()),
		fingerprint: pgFingerprint(target, t.Name),
	}, nil
}

// most is a filter that 48 of 50 rows pass.
const most = "quantity < 49"

// casts are what castAndFilter converts: columns of the mixed table to what leat
// and PostgreSQL call the type.
func casts() map[string]struct{ leat, postgres string } {
	return map[string]struct{ leat, postgres string }{
		"orderkey":      {"text", "text"},
		"linenumber":    {"int64", "int8"},
		"quantity":      {"int32", "int4"},
		"extendedprice": {"float64", "float8"},
		"shipdate":      {"timestamp", "timestamp"},
	}
}

// castAndFilter is the case in which five columns change their types and some
// rows are left out. pg_dump can do neither: it copies the whole table as it is.
func (e *Env) castAndFilter(ctx context.Context) (Case, error) {
	t := dataset.Lineitem()
	c, err := e.transfer(ctx, "UNLOGGED", 0, 0)
	if err != nil {
		return c, err
	}
	server, target := e.postgres, e.postgres.In(targetDatabase)
	count, err := server.Query(ctx, fmt.Sprintf("SELECT count(*) FROM %s WHERE %s", t.Name, most))
	if err != nil {
		return c, err
	}
	whole := &otherCopy{rows: c.Rows, fingerprint: c.fingerprint}
	if c.Rows, err = strconv.Atoi(count); err != nil {
		return c, fmt.Errorf("read the number of rows: %w", err)
	}
	const converted = "converted"
	var columns, jobColumns, selected []string
	for _, column := range t.Columns {
		cast, ok := casts()[column.Name]
		if !ok {
			columns = append(columns, column.Name+" "+column.Type)
			jobColumns = append(jobColumns, column.Name)
			selected = append(selected, column.Name)
			continue
		}
		columns = append(columns, column.Name+" "+cast.postgres)
		jobColumns = append(jobColumns, fmt.Sprintf("{name: %s, cast: %s}", column.Name, cast.leat))
		selected = append(selected, column.Name+"::"+cast.postgres)
	}
	leat := func(streams int) func() ([]process.Command, error) {
		return func() ([]process.Command, error) {
			return e.job(pgAt(server, t.Name), pgAt(target, converted), streams,
				"columns: ["+strings.Join(jobColumns, ", ")+"]", "where: "+most)
		}
	}
	query := pipe(
		server.Psql("--command", fmt.Sprintf(`\copy (select %s from %s where %s) to pstdout`, strings.Join(selected, ", "), t.Name, most)),
		target.Psql("--command", fmt.Sprintf(`\copy %s from pstdin`, converted)))
	c.Contenders = []Contender{
		{Name: pgDump + ", all rows as they are", Streams: 1, commands: c.Contenders[0].commands, other: whole},
		{Name: "leat", Streams: 1, commands: leat(1), Goals: []Goal{{Against: pgDump + ", all rows as they are", Speed: 0.95}}},
		{Name: "leat", Streams: 2, commands: leat(2)},
		{Name: `psql \copy query | psql \copy`, Streams: 1, commands: command(query)},
	}
	resetWhole, resetConverted := c.reset, resetPg(target, converted, "UNLOGGED", strings.Join(columns, ", "))
	c.reset = func(ctx context.Context) error {
		if err := resetWhole(ctx); err != nil {
			return err
		}
		return resetConverted(ctx)
	}
	c.fingerprint = pgFingerprint(target, converted)
	return c, nil
}
