package sqlite

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/connectors/sqlite/native"
)

// Source reads a table, a view or a query of an SQLite file.
type Source struct {
	options SourceOptions
	env     connector.SourceEnv
	db      dbFile

	mu       sync.Mutex // guards what follows
	relation *relation
	targets  map[string]batch.Type // SetTypes's
	found    map[string]batch.Type // Infer's, also of an earlier start
}

// relation is what is read, as the catalogue has it.
type relation struct {
	// table is nil for a query.
	table *table
	// from is what stands after FROM.
	from    string
	columns []column
	schema  *batch.Schema
	// rowid is the expression for the rowid, "" when there is none; then key
	// are the columns of the key of a table without rowid, or none.
	rowid string
	key   []string
	// made is a hash of the definition.
	made string
}

// NewSource returns a source of the options.
func NewSource(options *SourceOptions, env connector.SourceEnv) *Source {
	return &Source{options: *options, env: env, db: dbFile{options.Path, lockWait}}
}

// PushesFilter reports that SQLite evaluates the job's where.
func (s *Source) PushesFilter() bool { return s.env.Where != "" }

// Schema returns the columns and the types that their declarations stand for.
func (s *Source) Schema(ctx context.Context) (*batch.Schema, error) {
	r, err := s.resolve(ctx)
	if err != nil {
		return nil, err
	}
	return r.schema, nil
}

// SetTypes implements connector.Typer: a blob in a column without a type is
// readable where the target's column is one of bytes.
func (s *Source) SetTypes(types map[string]batch.Type) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.targets = types
}

func (s *Source) targetOf(column string) batch.Type {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.targets[column]
}

// resolve reads the catalogue, once.
func (s *Source) resolve(ctx context.Context) (*relation, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.relation != nil {
		return s.relation, nil
	}
	c, err := s.db.openRead()
	if err != nil {
		return nil, err
	}
	r, err := s.readRelation(c)
	if err == nil {
		err = s.checkWhere(c, r)
	}
	if err = errors.Join(err, c.Close()); err != nil {
		return nil, s.db.classed(err)
	}
	s.relation = r
	return r, nil
}

func (s *Source) readRelation(c *native.Conn) (*relation, error) {
	if s.options.Query != "" {
		return s.readQuery(c)
	}
	name := s.options.Table
	if name == "" {
		var err error
		if name, err = onlyTable(c, s.options.Path); err != nil {
			return nil, err
		}
	}
	t, err := readTable(c, name)
	if err != nil {
		return nil, err
	}
	if t == nil {
		names, err := tables(c)
		return nil, errors.Join(err, connector.Errorf(connector.Usage, "there is no table %s in %s; it has %s", name, s.options.Path, strings.Join(names, ", ")))
	}
	r := &relation{table: t, from: quote(t.name), rowid: t.rowidName(), made: hashText(t.sql)}
	if t.withoutRowid {
		r.key = t.primaryKey()
	}
	if err := s.options.declare(t.columns); err != nil {
		return nil, err
	}
	r.choose(t.columns, s.env.Columns, t.neverNull)
	r.schema.Key = t.schemaKey(r.schema)
	return r, nil
}

// onlyTable finds the one table of a file besides Leat's own.
func onlyTable(c *native.Conn, path string) (string, error) {
	all, err := tables(c)
	if err != nil {
		return "", err
	}
	names := slices.DeleteFunc(all, func(n string) bool { return strings.HasPrefix(n, "leat_") })
	if len(names) != 1 {
		return "", connector.Errorf(connector.Usage, "name the table of %s to read, such as sqlite://%s?table=t; it has %d: %s", path, path, len(names), strings.Join(names, ", "))
	}
	return names[0], nil
}

// choose makes the schema of the columns that the job wants, nil for all.
func (r *relation) choose(columns []column, wanted []string, neverNull func(int) bool) {
	r.schema = &batch.Schema{}
	for i, col := range columns {
		if wanted != nil && !slices.Contains(wanted, col.name) {
			continue
		}
		r.columns = append(r.columns, col)
		r.schema.Fields = append(r.schema.Fields, batch.Field{Name: col.name, Type: col.typ, NotNull: neverNull(i)})
	}
}

// schemaKey is the first unique key whose columns are all there and never NULL.
func (t *table) schemaKey(schema *batch.Schema) []string {
	for _, key := range t.unique {
		if !slices.ContainsFunc(key, func(name string) bool {
			return schema.Index(name) < 0 || !t.neverNull(t.index(name))
		}) {
			return key
		}
	}
	return nil
}

// readQuery finds the columns of the query's result.
func (s *Source) readQuery(c *native.Conn) (*relation, error) {
	query := strings.TrimRight(strings.TrimSpace(s.options.Query), "; \t\n")
	st, err := c.Prepare(query)
	if err != nil {
		return nil, connector.Errorf(connector.Usage, "query: %w", err)
	}
	defer st.Close()
	r := &relation{from: "(\n" + query + "\n)", made: hashText(query)}
	var columns []column
	for i := range st.Columns() {
		col := column{name: st.Name(i), declared: st.Declared(i)}
		if slices.ContainsFunc(columns, func(o column) bool { return o.name == col.name }) {
			return nil, connector.Errorf(connector.Usage, "query: column %q comes twice: name one of them with AS", col.name)
		}
		col.affinity = affinityOf(col.declared, false)
		col.typ = typeOf(col.declared, col.affinity)
		columns = append(columns, col)
	}
	if len(columns) == 0 {
		return nil, connector.Errorf(connector.Usage, "query: it returns no columns")
	}
	if err := s.options.declare(columns); err != nil {
		return nil, err
	}
	r.choose(columns, s.env.Columns, func(int) bool { return false })
	return r, nil
}

// checkWhere compiles the condition by itself, so that it cannot reach over
// the brackets that it is put in.
func (s *Source) checkWhere(c *native.Conn, r *relation) error {
	if len(r.columns) == 0 {
		return connector.Errorf(connector.Usage, "%s has none of the columns %s", r.label(), strings.Join(s.env.Columns, ", "))
	}
	if s.env.Where == "" {
		return nil
	}
	st, err := c.Prepare("SELECT 1 FROM " + r.from + " WHERE " + s.env.Where)
	st.Close()
	if err != nil {
		return connector.Errorf(connector.Usage, "where: %w", err)
	}
	return nil
}

func (r *relation) label() string {
	if r.table == nil {
		return "query"
	}
	return r.table.name
}

func hashText(text string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text))
	return strconv.FormatUint(h.Sum64(), 16)
}

// Open starts to read a split after a position, in one snapshot.
func (s *Source) Open(ctx context.Context, split connector.Split, pos connector.Position) (connector.Reader, error) {
	r, err := s.resolve(ctx)
	if err != nil {
		return nil, err
	}
	sp, err := parseSpec(split)
	if err != nil {
		return nil, err
	}
	if sp.Made != r.made {
		return nil, connector.Errorf(connector.Permanent, "%s of %s is defined otherwise than when its splits were made", r.label(), s.options.Path)
	}
	if pos != "" {
		if sp.After, err = parseKey(string(pos)); err != nil {
			return nil, fmt.Errorf("position in split %d: %w", split.ID, err)
		}
	}
	return openReader(ctx, s, r, sp)
}

// Close has nothing to end: connections belong to readers and single calls.
func (s *Source) Close() error { return nil }

// Describe says how the source is split.
func (s *Source) Describe(ctx context.Context) ([]string, error) {
	r, err := s.resolve(ctx)
	if err != nil {
		return nil, err
	}
	switch {
	case r.rowid != "":
		return []string{"splits: by ranges of " + r.rowid}, nil
	case r.key != nil:
		return []string{"splits: by ranges of the key " + quoteAll(r.key)}, nil
	}
	return []string{"splits: one, read again from its start after a crash"}, nil
}
