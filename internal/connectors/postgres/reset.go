package postgres

import (
	"context"
	"slices"
	"strings"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/database"
)

// filesQuery lists a table and its partitions with the files that hold their
// rows, the table itself first. TRUNCATE and all that rewrites a table gives
// it another file; what has no file of its own counts as 0.
const filesQuery = `SELECT pg_catalog.string_agg(o || ':' || coalesce(pg_catalog.pg_relation_filenode(o), 0), ' ' ORDER BY o <> c, o)
FROM (SELECT pg_catalog.to_regclass($1)::oid) r(c), LATERAL (SELECT relid::oid FROM pg_catalog.pg_partition_tree(c) UNION SELECT c) p(o) WHERE c IS NOT NULL`

// filesOf names the table's files; "" when there is no such table.
func filesOf(ctx context.Context, s *session, table string) (string, error) {
	row, err := s.one(ctx, filesQuery, table)
	if err != nil || row == nil {
		return "", wrap("look up the files of "+table, err)
	}
	return string(row[0]), nil
}

// checkReset fails when rows that count as written may have gone: rows of
// splits, or the files that the run began to fill (exactness rule 1), unless
// its result is visible already. Partitions may come, but not go.
func (l *ledger) checkReset(ctx context.Context, s *session, m *database.Marker) error {
	if err := l.CheckPositions(ctx, s, m); err != nil || m.Outcome != "" {
		return err
	}
	row, err := s.one(ctx, "SELECT files FROM "+l.Runs+" WHERE run = $1::uuid", m.Run)
	if err != nil || row == nil {
		return wrap("read the run's marker", err)
	}
	table := m.Filled()
	text, err := filesOf(ctx, s, table)
	if err != nil {
		return err
	}
	files, was := strings.Fields(text), strings.Fields(string(row[0]))
	missing := slices.ContainsFunc(was, func(file string) bool { return !slices.Contains(files, file) })
	if !missing && (len(was) == 0 || files[0] == was[0]) {
		return nil
	}
	return connector.Errorf(connector.Fatal,
		"the target was reset: since the run began, %s was emptied (TRUNCATE), made anew, lost a partition, or was rewritten (VACUUM FULL, CLUSTER, ALTER TABLE), so rows that count as written may be gone; look what it holds, and begin anew with --restart", table)
}
