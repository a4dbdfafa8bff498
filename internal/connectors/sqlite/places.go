package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/connectors/sqlite/native"
)

// place names a table by its file and the name that the catalogue has for it,
// whatever case it was asked for in.
func (d dbFile) place(table string) (string, error) {
	file, err := fileIdentity(d.path)
	if err != nil {
		return "", connector.E(connector.Usage, fmt.Errorf("identify the database file: %w", err))
	}
	return "sqlite " + file + " " + table, nil
}

// Identify implements connector.Identifier: the table is a place of its own,
// and what a view, a query or the job's where reads lies behind it.
func (s *Source) Identify(ctx context.Context) (connector.Identity, error) {
	var id connector.Identity
	r, err := s.resolve(ctx)
	if err != nil {
		return id, err
	}
	if r.table != nil && !r.table.view {
		place, err := s.db.place(r.table.name)
		if err != nil {
			return id, err
		}
		id.Places = []string{place}
	}
	c, err := s.db.openRead()
	if err != nil {
		return id, err
	}
	tables, err := s.tablesRead(ctx, c, r)
	if err = errors.Join(err, c.Close()); err != nil {
		return id, s.db.interrupted(ctx, err)
	}
	for _, table := range tables {
		place, err := s.db.place(table)
		if err != nil {
			return id, err
		}
		id.Behind = append(id.Behind, place)
	}
	return id, nil
}

// tablesRead lists the tables whose trees, or whose indexes', the statement of
// a split opens.
func (s *Source) tablesRead(ctx context.Context, c *native.Conn, r *relation) ([]string, error) {
	defer c.Watch(ctx)()
	sql, args, err := s.statement(r, spec{})
	if err != nil {
		return nil, err
	}
	roots := map[int64]bool{}
	err = c.Query("EXPLAIN "+sql, args, func(st *native.Stmt) error {
		// OpenRead and ReopenIdx: P2 is the root page, P3 the file, 0 for main.
		if op := st.String(1); (op == "OpenRead" || op == "ReopenIdx") && st.Int64(4) == 0 {
			roots[st.Int64(3)] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var tables []string
	err = c.Query("SELECT tbl_name, rootpage FROM main.sqlite_schema WHERE type IN ('table', 'index') AND rootpage > 0", nil, func(st *native.Stmt) error {
		if roots[st.Int64(1)] {
			tables = append(tables, st.String(0))
		}
		return nil
	})
	return tables, err
}

// Identify implements connector.Identifier. A table that the run makes has no
// place yet.
func (s *Sink) Identify(ctx context.Context) (connector.Identity, error) {
	tg, err := s.resolved()
	if err != nil || tg.table == nil {
		return connector.Identity{}, err
	}
	place, err := s.db.place(tg.name)
	if err != nil {
		return connector.Identity{}, err
	}
	return connector.Identity{Places: []string{place}}, ctx.Err()
}
