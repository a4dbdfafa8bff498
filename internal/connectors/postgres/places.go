package postgres

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/leatdata/leat/connector"
)

// serverQuery names a database, by no address: the cluster, which its replicas
// and the copies of its folder share, and the server that runs now.
const serverQuery = `SELECT d.oid, (EXTRACT(epoch FROM pg_catalog.pg_postmaster_start_time()) * 1000000)::bigint,
  CASE WHEN pg_catalog.has_function_privilege('pg_catalog.pg_control_system()', 'EXECUTE') THEN (SELECT system_identifier FROM pg_catalog.pg_control_system()) END
FROM pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database()`

// familyQuery finds the tables that hold rows of a relation.
const familyQuery = `WITH RECURSIVE t(oid) AS (SELECT $1::oid UNION SELECT inhrelid FROM pg_catalog.pg_inherits JOIN t ON inhparent = t.oid) SELECT oid FROM t`

// Identify implements connector.Identifier.
func (s *Source) Identify(ctx context.Context) (id connector.Identity, err error) {
	sh, err := s.resolve(ctx)
	if err != nil {
		return id, err
	}
	err = s.sessions.with(ctx, func(session *session) error {
		if sh.relation == nil || sh.relation.kind == 'v' {
			id, err = behind(ctx, session, sh.from)
		} else {
			id, err = familyOf(ctx, session, sh.relation)
		}
		return err
	})
	return id, wrap("identify "+sh.What, err)
}

// Identify implements connector.Identifier.
func (k *Sink) Identify(ctx context.Context) (id connector.Identity, err error) {
	t, err := k.current()
	if err != nil || t.relation == nil {
		return id, err
	}
	err = k.sessions.with(ctx, func(session *session) error {
		if t.relation.kind == 'v' {
			// Its trigger may write anywhere; likely to what the view shows.
			id, err = behind(ctx, session, t.name.String())
		} else {
			id, err = familyOf(ctx, session, t.relation)
		}
		return err
	})
	return id, wrap("identify "+t.name.String(), err)
}

// familyOf identifies a table with its partitions and heirs.
func familyOf(ctx context.Context, s *session, rel *relation) (connector.Identity, error) {
	rows, err := s.query(ctx, familyQuery, rel.oid.String())
	if err != nil {
		return connector.Identity{}, err
	}
	tables := make([]string, len(rows))
	for i, row := range rows {
		tables[i] = string(row[0])
	}
	return identify(ctx, s, tables, true)
}

// behind identifies the tables that what stands after FROM reads, as the
// planner sees them. What it will not plan for us stays unknown.
func behind(ctx context.Context, s *session, from string) (connector.Identity, error) {
	row, err := s.one(ctx, "EXPLAIN (VERBOSE, FORMAT JSON) SELECT * FROM "+from)
	if err != nil && classify(err) == connector.Retryable {
		return connector.Identity{}, err
	}
	var plan any
	if err != nil || row == nil || json.Unmarshal(row[0], &plan) != nil {
		return connector.Identity{}, nil
	}
	var tables []string
	for n := range planned(plan, map[name]bool{}) {
		row, err := s.one(ctx, "SELECT pg_catalog.to_regclass($1)::oid", n.String())
		if err != nil {
			return connector.Identity{}, err
		}
		if row[0] != nil {
			tables = append(tables, string(row[0]))
		}
	}
	return identify(ctx, s, tables, false)
}

// planned collects the relations that a plan in JSON names.
func planned(node any, into map[name]bool) map[name]bool {
	switch node := node.(type) {
	case []any:
		for _, n := range node {
			planned(n, into)
		}
	case map[string]any:
		table, ok := node["Relation Name"].(string)
		schema, named := node["Schema"].(string)
		if ok && named {
			into[name{schema: schema, table: table}] = true
		}
		for _, n := range node {
			planned(n, into)
		}
	}
	return into
}

// identify makes places of tables. A table of the same cluster on another
// server may be the same one, replicated, or a copy that goes its own way.
func identify(ctx context.Context, s *session, tables []string, sure bool) (id connector.Identity, err error) {
	row, err := s.one(ctx, serverQuery)
	if err != nil || row == nil {
		return id, err
	}
	database, started, cluster := string(row[0]), string(row[1]), string(row[2])
	for _, table := range tables {
		place := strings.Join([]string{"postgres", cluster, started, database, table}, " ")
		if sure {
			id.Places = append(id.Places, place)
		} else {
			id.Behind = append(id.Behind, place)
		}
		if cluster != "" {
			id.Behind = append(id.Behind, strings.Join([]string{"postgres", cluster, database, table}, " "))
		}
	}
	return id, nil
}
