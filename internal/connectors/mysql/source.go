package mysql

import (
	"context"
	"log/slog"
	"strings"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/database"
)

// Source reads a table, a view or a query.
type Source struct {
	options  SourceOptions
	log      *slog.Logger
	where    string
	only     []string
	sessions *sessions
	rules    sourceRules

	shape database.Found[shape]
}

// newSource returns the source of these options; it does not connect.
func newSource(options *SourceOptions, env connector.SourceEnv) (*Source, error) {
	config, err := parseURL(options.URL)
	if err != nil {
		return nil, err
	}
	pool, err := newSessions(config, readerSettings, readerAccess)
	if err != nil {
		return nil, err
	}
	s := &Source{
		options: *options, log: env.Log, where: strings.TrimSpace(env.Where), only: env.Columns,
		sessions: pool, rules: brokenSourceRules(),
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	return s, nil
}

// Schema implements connector.Source.
func (s *Source) Schema(ctx context.Context) (*batch.Schema, error) {
	sh, err := s.resolve(ctx)
	if err != nil {
		return nil, err
	}
	return sh.schema, nil
}

// PushesFilter implements connector.Filterer.
func (s *Source) PushesFilter() bool { return true }

// Describe implements connector.Describer.
func (s *Source) Describe(ctx context.Context) ([]string, error) {
	sh, err := s.resolve(ctx)
	if err != nil {
		return nil, err
	}
	lines := []string{"reads " + sh.What}
	if s.where != "" {
		lines = append(lines, "where runs in the database: "+s.where)
	}
	lines = append(lines, sh.Describe(sh.index != "", "one, which is committed once, at its end; name a key to have more")...)
	return lines, nil
}

// Close implements connector.Source.
func (s *Source) Close() error {
	s.sessions.close()
	return nil
}

// resolve finds out what there is to read, once.
func (s *Source) resolve(ctx context.Context) (*shape, error) {
	return s.shape.Get(func() (sh *shape, err error) {
		err = s.sessions.with(ctx, func(session *session) (err error) {
			if s.options.Query != "" {
				sh, err = s.queryShape(ctx, session)
			} else {
				sh, err = s.tableShape(ctx, session)
			}
			if err != nil {
				return err
			}
			return s.checkWhere(ctx, session, sh)
		})
		return sh, err
	})
}

// checkWhere has the server parse the job's condition.
func (s *Source) checkWhere(ctx context.Context, session *session, sh *shape) error {
	if s.where == "" {
		return nil
	}
	// The second would not parse if the condition left its parentheses.
	return database.CheckWhere([]string{s.condition(), "IF(\n" + s.where + "\n, 1, 0)"}, func(condition string) error {
		_, err := session.query(ctx, "SELECT 1 FROM "+sh.from+" WHERE "+condition+" LIMIT 0")
		return err
	}, classify)
}

// condition is the job's where in parentheses, which a comment cannot swallow.
func (s *Source) condition() string { return "(\n" + s.where + "\n)" }
