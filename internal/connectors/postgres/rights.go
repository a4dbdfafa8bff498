package postgres

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/leatdata/leat/connector"
)

// rightsQuery tells of a table of ours whether its schema is there, whether it
// is, and whether we may use it, or else make it.
const rightsQuery = `SELECT n IS NOT NULL, c IS NOT NULL, CASE WHEN c IS NOT NULL THEN (SELECT pg_catalog.bool_and(pg_catalog.has_table_privilege(c, p)) FROM pg_catalog.unnest($3::text[]) p)
  WHEN n IS NOT NULL THEN pg_catalog.has_schema_privilege(n, 'CREATE') END
FROM (SELECT pg_catalog.to_regclass($1)::oid, pg_catalog.to_regnamespace(pg_catalog.quote_ident($2))::oid) t(c, n)`

// checkRights refuses tables of ours that the role may neither use nor make,
// before anything is changed.
func (l *ledger) checkRights(ctx context.Context, s *session) error {
	const wayOut = "runs and positions are kept in two tables of the target, which runs_table and positions_table can name otherwise"
	for _, t := range []struct {
		name   name
		rights []string
	}{{l.runs, []string{"SELECT", "INSERT", "UPDATE"}}, {l.positions, []string{"SELECT", "INSERT", "UPDATE", "DELETE"}}} {
		row, err := s.one(ctx, rightsQuery, t.name.String(), t.name.schema, "{"+strings.Join(t.rights, ",")+"}")
		if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == stateNoRight {
			return connector.Errorf(connector.Usage, "table %s: %s: grant USAGE and CREATE on the schema; %s", t.name, pg.Message, wayOut)
		}
		switch {
		case err != nil:
			return wrap("look up "+t.name.String(), err)
		case isTrue(row[2]):
		case isTrue(row[1]):
			return connector.Errorf(connector.Usage, "this role may not use table %s: grant %s on it; %s", t.name, strings.Join(t.rights, ", "), wayOut)
		case isTrue(row[0]):
			return connector.Errorf(connector.Usage, "this role may not make table %s: grant CREATE on its schema; %s", t.name, wayOut)
		default:
			return connector.Errorf(connector.Usage, "table %s: its schema does not exist; %s", t.name, wayOut)
		}
	}
	return nil
}
