package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/database"
)

// Source reads a table, a view or a query of a PostgreSQL database.
type Source struct {
	options  SourceOptions
	log      *slog.Logger
	where    string
	only     []string
	sessions *sessions
	rules    breakRules

	shape database.Found[shape]
}

// newSource returns the source of these options; it does not connect.
func newSource(options *SourceOptions, env connector.SourceEnv) (*Source, error) {
	config, err := parseURL(options.URL)
	if err != nil {
		return nil, err
	}
	s := &Source{
		options: *options, log: env.Log, where: strings.TrimSpace(env.Where), only: env.Columns,
		sessions: &sessions{config: config, settings: sourceSettings(options)}, rules: brokenRules(),
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
	lines := []string{"reads " + sh.What + " by COPY"}
	if s.where != "" {
		lines = append(lines, "where runs in the database: "+s.where)
	}
	if sh.hidden != "" {
		lines = append(lines, sh.hidden)
	}
	keyless := "one, which is committed once, at its end; name a key to have more"
	if sh.stored {
		keyless = "by the place of rows in the table, which has no key; each is committed once, at its end"
	}
	return append(lines, sh.Describe(sh.indexed, keyless)...), nil
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
			sh.unchecked = session.ParameterStatus("server_encoding") == "SQL_ASCII"
			if err := s.checkPolicies(ctx, session, sh); err != nil {
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
	return database.CheckWhere([]string{s.condition(), "(ARRAY[\n" + s.where + "\n])[1]"}, func(condition string) error {
		_, err := s.parse(ctx, session, "SELECT 1 FROM "+sh.from+" WHERE "+condition)
		return err
	}, classify)
}

// condition is the job's where in parentheses, which a comment cannot swallow.
func (s *Source) condition() string { return "(\n" + s.where + "\n)" }

// shape is what a source reads. It does not change once made.
type shape struct {
	database.Keyed
	from     string // what follows FROM
	relation *relation
	// stored says that the rows stand in tables that can be read by TID.
	stored bool
	schema *batch.Schema
	// columns are the schema's.
	columns []column
	// keyColumns are those of the key.
	keyColumns []column
	// indexed says that an index has the rows in the order of the key.
	indexed bool
	// hidden says, for people, that policies may hide rows; "" if none do.
	hidden string
	// unchecked says that texts may be other than UTF-8.
	unchecked bool
}

func (s *Source) tableShape(ctx context.Context, session *session) (*shape, error) {
	n, err := parseName(s.options.Table)
	if err != nil {
		return nil, connector.Errorf(connector.Usage, "table: %w", err)
	}
	rel, err := loadRelation(ctx, session, n)
	if err != nil {
		return nil, err
	}
	if rel == nil {
		return nil, connector.Errorf(connector.Usage, "table %s does not exist", n)
	}
	if !strings.ContainsRune("rpvmf", rune(rel.kind)) {
		return nil, connector.Errorf(connector.Usage, "%s is no table and no view", rel.name)
	}
	sh := &shape{
		Keyed: database.Keyed{What: "table " + rel.name.String()}, from: rel.name.String(), relation: rel, columns: s.chosen(rel.columns),
		stored: strings.ContainsRune("rpm", rune(rel.kind)) && !rel.rowSecurity,
	}
	sh.schema = &batch.Schema{}
	for _, c := range sh.columns {
		sh.schema.Fields = append(sh.schema.Fields, c.field())
	}
	if err := s.tableKey(sh); err != nil {
		return nil, err
	}
	if sh.Unique && !slices.ContainsFunc(sh.Key, func(k string) bool { return sh.schema.Index(k) < 0 }) {
		sh.schema.Key = sh.Key
	}
	return sh, nil
}

// chosen leaves out the columns that the job does not need.
func (s *Source) chosen(columns []column) []column {
	return database.Chosen(columns, s.only, (*column).named)
}

// tableKey decides what the table is split by.
func (s *Source) tableKey(sh *shape) error {
	// A plain table's key does not speak for the rows of its heirs.
	heirs := sh.relation.children && sh.relation.kind == 'r'
	key := s.options.Key
	if len(key) == 0 && !heirs {
		key = sh.relation.bestKey()
	}
	for _, name := range key {
		c := sh.relation.column(name)
		if c == nil {
			return connector.Errorf(connector.Usage, "key: %s has no column %s; it has %s", sh.relation.name, name, database.Listed(sh.relation.names()))
		}
		sh.keyColumns = append(sh.keyColumns, *c)
	}
	sh.Key = key
	for _, u := range sh.relation.keys {
		sh.Unique = sh.Unique || !heirs && u.notNull && !slices.ContainsFunc(u.columns, func(c string) bool { return !slices.Contains(key, c) })
	}
	for _, c := range sh.keyColumns {
		sh.Unique = sh.Unique && c.notNull
	}
	sh.byFirst()
	for _, u := range sh.relation.keys {
		sh.indexed = sh.indexed || !heirs && len(key) > 0 && len(u.columns) >= len(sh.Key) && slices.Equal(u.columns[:len(sh.Key)], sh.Key)
	}
	return nil
}

// byFirst keeps the first column of a key that is not unique: rows that are
// alike in it, or NULL, stay in one split.
func (sh *shape) byFirst() {
	if sh.Unique || len(sh.Key) == 0 {
		return
	}
	sh.Key, sh.keyColumns = sh.Key[:1], sh.keyColumns[:1]
	sh.Nullable = !sh.keyColumns[0].notNull
}

func (s *Source) queryShape(ctx context.Context, session *session) (*shape, error) {
	query := strings.TrimRight(s.options.Query, "; \t\r\n")
	sh := &shape{Keyed: database.Keyed{What: "the query"}, from: "(\n" + query + "\n) AS leat_query", schema: &batch.Schema{}}
	description, err := s.parse(ctx, session, "SELECT * FROM "+sh.from)
	if err != nil {
		if c := classify(err); c != connector.Permanent {
			return nil, wrap("query", err)
		}
		return nil, connector.Errorf(connector.Usage, "query: %w", err)
	}
	if len(description.ParamOIDs) > 0 {
		return nil, connector.Errorf(connector.Usage, "query: it has parameters ($1), for which there are no values")
	}
	oids := make([]oid, len(description.Fields))
	for i, f := range description.Fields {
		oids[i] = oid(f.DataTypeOID)
	}
	types, err := loadTypes(ctx, session, oids)
	if err != nil {
		return nil, err
	}
	var all []column
	seen := map[string]bool{}
	for i, f := range description.Fields {
		if seen[f.Name] {
			return nil, connector.Errorf(connector.Usage, "query: it gives two columns the name %s; name one of them otherwise by AS", f.Name)
		}
		seen[f.Name] = true
		if types[oids[i]] == nil {
			return nil, fmt.Errorf("query: column %s is of an unknown type", f.Name)
		}
		all = append(all, column{name: f.Name, typ: types[oids[i]], mod: f.TypeModifier})
	}
	for _, name := range s.options.Key {
		i := slices.IndexFunc(all, func(c column) bool { return c.name == name })
		if i < 0 {
			return nil, connector.Errorf(connector.Usage, "key: the query has no column %s", name)
		}
		sh.Key, sh.keyColumns = append(sh.Key, name), append(sh.keyColumns, all[i])
	}
	sh.byFirst()
	sh.columns = s.chosen(all)
	for _, c := range sh.columns {
		sh.schema.Fields = append(sh.schema.Fields, c.field())
	}
	return sh, nil
}
