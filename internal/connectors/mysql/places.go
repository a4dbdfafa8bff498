package mysql

import (
	"bytes"
	"context"
	"strings"

	"github.com/leatdata/leat/connector"
)

// Identify implements connector.Identifier. What a view or a query reads stays
// unknown: MariaDB does not tell of which tables its columns are.
func (s *Source) Identify(ctx context.Context) (id connector.Identity, err error) {
	sh, err := s.resolve(ctx)
	if err != nil || sh.relation == nil || sh.relation.isView() {
		return id, err
	}
	err = s.sessions.with(ctx, func(session *session) error {
		id, err = identify(ctx, session, sh.relation.name)
		return err
	})
	return id, wrap("identify "+sh.What, err)
}

// Identify implements connector.Identifier.
func (k *Sink) Identify(ctx context.Context) (id connector.Identity, err error) {
	k.mu.Lock()
	t := k.target
	k.mu.Unlock()
	if t == nil || t.relation == nil {
		return id, nil
	}
	err = k.sessions.with(ctx, func(s *session) error {
		id, err = identify(ctx, s, t.relation.name)
		return err
	})
	return id, wrap("identify "+t.name.String(), err)
}

// identify makes the place of a table: the server that has it, by no address,
// and when the table was made.
func identify(ctx context.Context, s *session, n name) (id connector.Identity, err error) {
	// By this statement, since no server has all of them.
	rows, err := s.query(ctx, "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('server_uuid', 'server_uid', 'server_id', 'hostname', 'port', 'datadir')")
	if err != nil {
		return id, err
	}
	table, err := s.query(ctx, "SELECT table_schema, table_name, create_time FROM information_schema.tables WHERE table_schema = ? AND table_name = ?", n.database, n.table)
	if err != nil || len(table) == 0 {
		return id, err
	}
	var place strings.Builder
	place.WriteString("mysql")
	for _, row := range append(rows, table[0]) {
		place.WriteString(" " + string(bytes.Join(row, []byte("="))))
	}
	id.Places = []string{place.String()}
	return id, nil
}
