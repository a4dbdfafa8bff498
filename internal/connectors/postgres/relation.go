package postgres

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

// relation is what the catalogue says of a table or view.
type relation struct {
	oid         oid
	name        name
	kind        byte // pg_class.relkind: r table, p partitioned, v view, m materialized view, f foreign
	unlogged    bool // it, or a partition: a crash empties it
	rowSecurity bool
	// children says that other tables hold rows of it: partitions, heirs.
	children bool
	// insteadOf says that a view takes INSERT by a trigger; skipping that a
	// table has triggers that may drop a row before it is stored.
	insteadOf bool
	skipping  bool
	// deferrable says that a constraint of it, or of a partition, may be judged
	// at the commit only; circular that one of these is about other rows, so
	// that writers of the same keys then wait for each other in a circle.
	deferrable bool
	circular   bool
	columns    []column
	keys       []uniqueKey
	incoming   []foreignKey
}

// column is a column of a relation.
type column struct {
	name      string
	typ       *typeInfo
	mod       int32
	notNull   bool
	generated bool   // computed by the table: cannot be written
	defaulted bool   // by a default or as an identity
	always    bool   // an identity that UPDATE cannot set
	sequence  string // the sequence that it owns, as SQL writes it
	movable   bool   // we have the right to move that sequence
}

// uniqueKey is a unique index over plain columns, all rows in it.
type uniqueKey struct {
	columns []string
	primary bool
	// notNull says that no column of it can be NULL.
	notNull bool
	// nullsAlike says that NULLs in it are equal.
	nullsAlike bool
	// immediate says that it judges each row at once, as ON CONFLICT needs.
	immediate bool
}

// foreignKey is a constraint of another table that refers to this one.
type foreignKey struct {
	name string
	from string
	// deferred says that it can wait for the commit and has no action on DELETE.
	deferred bool
}

const relationQuery = `WITH family AS (SELECT relid::oid FROM pg_catalog.pg_partition_tree(pg_catalog.to_regclass($1)) UNION SELECT pg_catalog.to_regclass($1)::oid)
SELECT c.oid, n.nspname, c.relname, c.relkind, (SELECT pg_catalog.bool_or(l.relpersistence = 'u') FROM family JOIN pg_catalog.pg_class l ON l.oid = relid), c.relrowsecurity,
  EXISTS (SELECT FROM pg_catalog.pg_inherits WHERE inhparent = c.oid),
  EXISTS (SELECT FROM pg_catalog.pg_trigger WHERE tgrelid = c.oid AND NOT tgisinternal AND tgtype & 64 <> 0 AND tgtype & 4 <> 0),
  EXISTS (SELECT FROM pg_catalog.pg_trigger WHERE tgrelid IN (SELECT relid FROM family)
    AND NOT tgisinternal AND tgenabled <> 'D' AND tgtype & 1 <> 0 AND tgtype & 2 <> 0 AND tgtype & 20 <> 0),
  EXISTS (SELECT FROM pg_catalog.pg_constraint WHERE conrelid IN (SELECT relid FROM family) AND condeferrable),
  EXISTS (SELECT FROM pg_catalog.pg_constraint WHERE conrelid IN (SELECT relid FROM family) AND condeferrable AND contype IN ('p', 'u', 'x'))
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = pg_catalog.to_regclass($1)`

const columnsQuery = `SELECT a.attname, a.atttypid, a.atttypmod, a.attnotnull, a.attgenerated <> '', a.atthasdef OR a.attidentity <> '', a.attidentity = 'a',
  s.name, s.name IS NULL OR pg_catalog.has_sequence_privilege(s.name, 'SELECT') AND pg_catalog.has_sequence_privilege(s.name, 'UPDATE')
FROM pg_catalog.pg_attribute a, LATERAL (SELECT pg_catalog.pg_get_serial_sequence(a.attrelid::pg_catalog.regclass::text, a.attname)) s(name)
WHERE a.attrelid = $1::oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`

const keysQuery = `SELECT i.indisprimary, i.indimmediate,
  (SELECT pg_catalog.string_agg(pg_catalog.quote_ident(a.attname), ',' ORDER BY k.n)
   FROM pg_catalog.unnest(i.indkey::int2[]) WITH ORDINALITY k(att, n)
   JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.att WHERE k.n <= i.indnkeyatts),
  (SELECT pg_catalog.bool_and(a.attnotnull) FROM pg_catalog.unnest(i.indkey::int2[]) WITH ORDINALITY k(att, n)
   JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.att WHERE k.n <= i.indnkeyatts),
  coalesce((pg_catalog.to_jsonb(i) ->> 'indnullsnotdistinct')::bool, false)
FROM pg_catalog.pg_index i
WHERE i.indrelid = $1::oid AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
ORDER BY i.indisprimary DESC, i.indnkeyatts, i.indexrelid`

const incomingQuery = `SELECT conname, conrelid::pg_catalog.regclass::text, condeferrable AND confdeltype = 'a'
FROM pg_catalog.pg_constraint WHERE contype = 'f' AND confrelid = $1::oid AND conrelid <> confrelid AND conparentid = 0 ORDER BY 1`

// loadRelation reads a relation of that name; nil when there is none.
func loadRelation(ctx context.Context, s *session, n name) (*relation, error) {
	row, err := s.one(ctx, relationQuery, n.String())
	if err != nil {
		return nil, wrap("look up "+n.String(), err)
	}
	if row == nil {
		return nil, nil
	}
	r := &relation{
		name: name{schema: string(row[1]), table: string(row[2])}, kind: row[3][0], unlogged: isTrue(row[4]),
		rowSecurity: isTrue(row[5]), children: isTrue(row[6]), insteadOf: isTrue(row[7]), skipping: isTrue(row[8]),
		deferrable: isTrue(row[9]), circular: isTrue(row[10]),
	}
	if r.oid, err = parseOID(row[0]); err != nil {
		return nil, err
	}
	for _, load := range []func(context.Context, *session) error{r.loadColumns, r.loadKeys, r.loadIncoming} {
		if err := load(ctx, s); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *relation) loadColumns(ctx context.Context, s *session) error {
	rows, err := s.query(ctx, columnsQuery, r.oid.String())
	if err != nil {
		return wrap("read the columns of "+r.name.String(), err)
	}
	oids := make([]oid, len(rows))
	for i, row := range rows {
		if oids[i], err = parseOID(row[1]); err != nil {
			return err
		}
	}
	types, err := loadTypes(ctx, s, oids)
	if err != nil {
		return err
	}
	for i, row := range rows {
		mod, err := strconv.ParseInt(string(row[2]), 10, 32)
		if err != nil {
			return fmt.Errorf("read the columns of %s: %w", r.name, err)
		}
		if types[oids[i]] == nil {
			return connector.Errorf(connector.Retryable, "the type of column %s of %s has gone", row[0], r.name)
		}
		r.columns = append(r.columns, column{
			name: string(row[0]), typ: types[oids[i]], mod: int32(mod), notNull: isTrue(row[3]),
			generated: isTrue(row[4]), defaulted: isTrue(row[5]), always: isTrue(row[6]), sequence: string(row[7]), movable: isTrue(row[8]),
		})
	}
	return nil
}

func (r *relation) loadKeys(ctx context.Context, s *session) error {
	rows, err := s.query(ctx, keysQuery, r.oid.String())
	if err != nil {
		return wrap("read the keys of "+r.name.String(), err)
	}
	for _, row := range rows {
		if row[2] == nil {
			continue
		}
		r.keys = append(r.keys, uniqueKey{
			primary: isTrue(row[0]), immediate: isTrue(row[1]), columns: splitNames(string(row[2])), notNull: isTrue(row[3]), nullsAlike: isTrue(row[4]),
		})
	}
	return nil
}

func (r *relation) loadIncoming(ctx context.Context, s *session) error {
	rows, err := s.query(ctx, incomingQuery, r.oid.String())
	if err != nil {
		return wrap("read the foreign keys to "+r.name.String(), err)
	}
	for _, row := range rows {
		r.incoming = append(r.incoming, foreignKey{name: string(row[0]), from: string(row[1]), deferred: isTrue(row[2])})
	}
	return nil
}

// column returns the column of that exact name, or nil.
func (r *relation) column(name string) *column {
	for i := range r.columns {
		if r.columns[i].name == name {
			return &r.columns[i]
		}
	}
	return nil
}

// names returns the columns' names.
func (r *relation) names() []string {
	names := make([]string, len(r.columns))
	for i := range r.columns {
		names[i] = r.columns[i].name
	}
	return names
}

// bestKey returns the primary key, or the shortest unique key without NULLs.
func (r *relation) bestKey() []string {
	for _, k := range r.keys {
		if k.notNull {
			return k.columns
		}
	}
	return nil
}

// uniqueOn returns the unique key over exactly these columns, in any order.
func (r *relation) uniqueOn(columns []string) *uniqueKey {
	want := slices.Sorted(slices.Values(columns))
	for i := range r.keys {
		if slices.Equal(want, slices.Sorted(slices.Values(r.keys[i].columns))) {
			return &r.keys[i]
		}
	}
	return nil
}

func (c *column) named() string { return c.name }

// field returns the column as a field of ours.
func (c *column) field() batch.Field {
	return batch.Field{Name: c.name, Type: typeOf(c.typ, c.mod), NotNull: c.notNull}
}

func isTrue(cell []byte) bool { return string(cell) == "t" }

// splitNames splits identifiers, quoted where they need it, at their commas.
func splitNames(text string) []string {
	var names []string
	var b strings.Builder
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"' && quoted && i+1 < len(text) && text[i+1] == '"':
			b.WriteByte('"')
			i++
		case c == '"':
			quoted = !quoted
		case c == ',' && !quoted:
			names = append(names, b.String())
			b.Reset()
		default:
			b.WriteByte(c)
		}
	}
	return append(names, b.String())
}
