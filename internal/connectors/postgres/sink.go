package postgres

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"sync"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/database"
)

// Sink writes to one table of a PostgreSQL database.
type Sink struct {
	options  SinkOptions
	log      *slog.Logger
	fail     func(string)
	sessions *sessions
	evictor  *evictor
	crowd    *database.Crowd
	rules    breakRules

	mu sync.Mutex
	in *batch.Schema
	// target is what Resolve found; Prepare replaces it once the table is there.
	target *target
}

// newSink returns the sink of these options; it does not connect.
func newSink(options *SinkOptions, env connector.SinkEnv) (*Sink, error) {
	config, err := parseURL(options.URL)
	if err != nil {
		return nil, err
	}
	k := &Sink{options: *options, log: env.Log, fail: env.Failpoint, sessions: &sessions{config: config, settings: writerSettings}, crowd: database.NewCrowd(), rules: brokenRules()}
	if k.log == nil {
		k.log = slog.New(slog.DiscardHandler)
	}
	if k.fail == nil {
		k.fail = func(string) {}
	}
	k.evictor = &evictor{Evictor: database.Evictor{Log: k.log, Patience: database.Patience}, sessions: k.sessions}
	return k, nil
}

// Resolve implements connector.Sink.
func (k *Sink) Resolve(ctx context.Context, in *batch.Schema) (*connector.Plan, error) {
	var t *target
	err := k.sessions.with(ctx, func(s *session) (err error) {
		if t, err = k.resolve(ctx, s, in); err != nil {
			return err
		}
		t.ledger, err = k.newLedger(ctx, s, t.unlogged)
		return err
	})
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	k.in, k.target = in, t
	k.mu.Unlock()
	plan := &connector.Plan{
		Schema: t.schema, Guarantee: connector.WithPosition, Creates: t.relation == nil, Empties: k.options.Mode == database.Truncate,
		Statements: k.statements(t), Doubts: append(t.doubts, k.outsideDoubts()...), AllowRefused: k.options.AllowRefused,
	}
	if t.relation != nil && t.relation.circular && !k.rules.manyWriters {
		plan.MaxWriters = 1
	}
	if !t.transactional {
		plan.Guarantee = connector.AtLeastOnce
	}
	plan.Statements = append([]string{"note runs in " + t.ledger.Runs + ", positions in " + t.ledger.Positions}, plan.Statements...)
	return plan, nil
}

// newLedger finds the tables of ours.
func (k *Sink) newLedger(ctx context.Context, s *session, unlogged bool) (*ledger, error) {
	positions, err := parseName(k.options.Positions)
	if err != nil {
		return nil, connector.Errorf(connector.Usage, "positions_table: %w", err)
	}
	if unlogged {
		// Not the same table: what is logged must not be emptied by a crash,
		// and what is not must be.
		positions.table += "_unlogged"
		if len(positions.table) > maxName {
			return nil, connector.Errorf(connector.Usage, "positions_table: the name %q, for unlogged targets, is longer than %d bytes", positions.table, maxName)
		}
	}
	runs, err := parseName(k.options.RunsTable)
	if err != nil {
		return nil, connector.Errorf(connector.Usage, "runs_table: %w", err)
	}
	if runs, err = locate(ctx, s, runs); err == nil {
		positions, err = locate(ctx, s, positions)
	}
	if err != nil {
		return nil, err
	}
	l := newLedger(runs, positions, unlogged, k.rules.Rules)
	return l, l.checkRights(ctx, s)
}

// locate gives a name the schema in which the search path finds it, or else
// would make it.
func locate(ctx context.Context, s *session, n name) (name, error) {
	if n.schema != "" {
		return n, nil
	}
	row, err := s.one(ctx, `SELECT coalesce((SELECT nspname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE c.oid = pg_catalog.to_regclass($1)), pg_catalog.current_schema())`, n.String())
	if err != nil {
		return n, wrap("look up "+n.String(), err)
	}
	if row[0] == nil {
		return n, connector.Errorf(connector.Usage, "%s: the search path names no schema that exists", n)
	}
	n.schema = string(row[0])
	return n, nil
}

// current returns what Resolve found.
func (k *Sink) current() (*target, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.target == nil {
		return nil, connector.Errorf(connector.Permanent, "the sink was not resolved")
	}
	return k.target, nil
}

// Register implements connector.Sink.
func (k *Sink) Register(ctx context.Context, run connector.Run, splits []connector.Split) error {
	t, err := k.current()
	if err != nil {
		return err
	}
	return k.sessions.with(ctx, func(s *session) error {
		l := t.ledger
		return wrap("register splits for "+t.name.String(), s.transact(ctx, func() error {
			m, err := k.lockMarker(ctx, s, l, run.ID)
			if err != nil {
				return err
			}
			if err := l.Takes(m, run.ID); err != nil {
				return err
			}
			// Else new rows would hide that the old ones are gone.
			if err := l.CheckPositions(ctx, s, m); err != nil {
				return err
			}
			// An insert waits for a claim of the same row that is under way.
			return k.ownRows(ctx, s, func() error { return l.Register(ctx, s, run.ID, splits) })
		}))
	})
}

// lockMarker locks a run's marker, ending who holds it for too long.
func (k *Sink) lockMarker(ctx context.Context, s *session, l *ledger, run string) (m *database.Marker, err error) {
	err = k.ownRows(ctx, s, func() error {
		m, err = l.Lock(ctx, s, run)
		return err
	})
	return m, err
}

// ownRows runs f, which touches rows of our tables only and may wait for
// them: who holds one for too long is ended.
func (k *Sink) ownRows(ctx context.Context, s *session, f func() error) error {
	return k.evictor.during(ctx, s, func() error {
		if err := s.exec(ctx, setLocal("lock_timeout", lockTimeout)); err != nil {
			return err
		}
		if err := f(); err != nil {
			return err
		}
		return s.exec(ctx, setLocal("lock_timeout", 0))
	})
}

// States implements connector.Sink.
func (k *Sink) States(ctx context.Context, run connector.Run) (states []connector.SplitState, err error) {
	t, err := k.current()
	if err != nil || !t.transactional {
		return nil, err
	}
	err = k.sessions.with(ctx, func(s *session) error {
		states, err = t.ledger.Known(ctx, s, run.ID)
		return err
	})
	return states, err
}

// apart runs f in a session of its own.
func (k *Sink) apart(ctx context.Context, f func(database.Session) error) error {
	return k.sessions.with(ctx, func(s *session) error { return f(s) })
}

// Close implements connector.Sink.
func (k *Sink) Close() error {
	k.sessions.close()
	return nil
}

// serverVersion returns the server's version as 150018 for 15.18.
func serverVersion(s *session) int {
	major, rest, _ := strings.Cut(s.ParameterStatus("server_version"), ".")
	minor, _, _ := strings.Cut(rest, " ")
	major, _, _ = strings.Cut(major, " ")
	a, err := strconv.Atoi(major)
	if err != nil {
		return 0
	}
	b, err := strconv.Atoi(minor)
	if err != nil {
		b = 0
	}
	return a*10000 + b
}
