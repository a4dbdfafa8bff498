package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/leatdata/leat/connector"
)

// Row-level security would hide rows from the reader without a word. As
// pg_dump does, sessions of a source turn it off: the server then refuses a
// statement that a policy applies to. The option row_security lets it filter.
const (
	rowSecurityOff = "SET row_security = off"
	rowSecurityOn  = "SET row_security = on"
)

// sourceSettings are those of a source's sessions.
func sourceSettings(o *SourceOptions) string {
	if o.RowSecurity {
		return readerSettings + "; " + rowSecurityOn
	}
	return readerSettings + "; " + rowSecurityOff
}

// parse has the server parse a statement, and says of one that it refuses
// because of a policy what can be done.
func (s *Source) parse(ctx context.Context, session *session, sql string) (*pgconn.StatementDescription, error) {
	description, err := session.Prepare(ctx, "", sql, nil)
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || pg.Code != stateNoRight || s.options.RowSecurity {
		return description, err
	}
	// What it takes with policies, and not without, was about them.
	if err := session.exec(ctx, rowSecurityOn); err != nil {
		return nil, err
	}
	if _, denied := session.Prepare(ctx, "", sql, nil); denied == nil {
		err = connector.Errorf(connector.Usage,
			"row-level security applies to role %s: rows that its policies hide would not be copied (%w); read as the tables' owner or a role with BYPASSRLS, or accept that with row_security: true", roleOf(ctx, session), err)
	}
	return nil, errors.Join(err, session.exec(ctx, rowSecurityOff))
}

// roleOf is the role whose rights count; "of the session" if it cannot be told.
func roleOf(ctx context.Context, session *session) string {
	row, err := session.one(ctx, "SELECT pg_catalog.quote_ident(current_user)")
	if err != nil || row == nil {
		return "of the session"
	}
	return string(row[0])
}

// checkPolicies refuses to read under policies that are not accepted, and
// notes those that are.
func (s *Source) checkPolicies(ctx context.Context, session *session, sh *shape) error {
	if !s.options.RowSecurity {
		_, err := s.parse(ctx, session, "SELECT 1 FROM "+sh.from)
		return wrap("read "+sh.What, err)
	}
	if sh.relation == nil {
		sh.hidden = "row_security: rows of its tables that policies hide from role " + roleOf(ctx, session) + " are not copied"
		return nil
	}
	row, err := session.one(ctx, "SELECT pg_catalog.row_security_active($1::oid), $2 IN ('v', 'm')", sh.relation.oid.String(), string(sh.relation.kind))
	if err != nil {
		return wrap("look for row-level security", err)
	}
	switch {
	case isTrue(row[0]):
		sh.hidden = "row-level security applies to role " + roleOf(ctx, session) + " on " + sh.What + ": rows that its policies hide are not copied"
	case isTrue(row[1]):
		sh.hidden = "row_security: rows of the tables behind the view that policies hide are not copied"
	}
	return nil
}
