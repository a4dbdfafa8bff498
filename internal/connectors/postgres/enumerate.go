package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/leatdata/leat/connector"
)

// Bounds of the number and size of splits.
const (
	// stepSplits is how many key ranges a step of the enumeration finds, but
	// for the first, for which the readers wait.
	stepSplits = 16
	// minSplitBytes is what a split holds at least, to be worth its claim.
	minSplitBytes = 4 << 20
	// splitsPerReader are wanted, so that readers end at about the same time.
	splitsPerReader = 4
	pageBytes       = 8192
	// guessedRow stands for the bytes of a row in a table never analyzed.
	guessedRow = 100
	// correlated is how well a key's order has to follow the table's for
	// ranges of it to be read well.
	correlated = 0.8
)

// cursor is where the enumeration goes on.
type cursor struct {
	// Low is the last bound found, of Key; Table the last table whose blocks
	// were split. What was begun with is gone on with.
	Key   []string `json:"key,omitempty"`
	Low   []string `json:"low,omitempty"`
	Table oid      `json:"table,omitempty"`
}

// leaf is a table that holds rows of the relation itself.
type leaf struct {
	oid      oid
	kind     byte
	pages    int64
	rows     int64
	filenode oid
	readable bool
}

const leavesQuery = `WITH RECURSIVE t(oid) AS (SELECT $1::oid UNION SELECT inhrelid FROM pg_catalog.pg_inherits JOIN t ON inhparent = t.oid)
SELECT c.oid, c.relkind, CASE WHEN c.relkind IN ('r', 'm') THEN pg_catalog.pg_relation_size(c.oid) / pg_catalog.current_setting('block_size')::int ELSE 0 END,
  CASE WHEN c.reltuples < 0 OR c.relpages = 0 THEN -1 ELSE (c.reltuples / c.relpages)::float8 END,
  coalesce(pg_catalog.pg_relation_filenode(c.oid), 0), pg_catalog.has_table_privilege(c.oid, 'SELECT') AND NOT pg_catalog.row_security_active(c.oid)
FROM t JOIN pg_catalog.pg_class c ON c.oid = t.oid WHERE c.relkind IN ('r', 'm', 'f') ORDER BY c.oid`

// Enumerate implements connector.Source.
func (s *Source) Enumerate(ctx context.Context, at connector.Cursor, first connector.SplitID, want connector.Want) (connector.Enumeration, error) {
	sh, err := s.resolve(ctx)
	if err != nil {
		return connector.Enumeration{}, err
	}
	var from cursor
	if at != "" {
		if err := json.Unmarshal([]byte(at), &from); err != nil {
			return connector.Enumeration{}, connector.Errorf(connector.Permanent, "read the cursor: %w", err)
		}
	}
	var e connector.Enumeration
	err = s.sessions.with(ctx, func(session *session) error {
		e, err = s.enumerate(ctx, session, sh, from, want)
		return err
	})
	for i := range e.Splits {
		e.Splits[i].ID = first + connector.SplitID(i)
	}
	return e, wrap("find splits of "+sh.what, err)
}

func (s *Source) enumerate(ctx context.Context, session *session, sh *shape, from cursor, want connector.Want) (connector.Enumeration, error) {
	if want.Ordered {
		return s.whole(sh), nil
	}
	if !sh.stored {
		if len(sh.key) == 0 {
			return s.whole(sh), nil
		}
		return s.queryRanges(ctx, session, sh, size{})
	}
	leaves, err := loadLeaves(ctx, session, sh.relation.oid)
	if err != nil {
		return connector.Enumeration{}, err
	}
	size := sizeUp(leaves, s.options, want)
	switch {
	case from.Low != nil:
		if !slices.Equal(from.Key, sh.key) {
			return connector.Enumeration{}, connector.Errorf(connector.Permanent,
				"the table was being split by %s, and its key is now %s; begin anew with --restart", strings.Join(from.Key, ", "), strings.Join(sh.key, ", "))
		}
	case from.Table != 0, len(sh.key) == 0, s.scattered(ctx, session, sh, size):
		return s.blocks(sh, leaves, size, from), nil
	}
	if !sh.indexed && from.Low == nil {
		return s.queryRanges(ctx, session, sh, size)
	}
	steps := stepSplits
	if from.Low == nil {
		steps = min(steps, max(1, want.Parallelism))
	}
	return s.ranges(ctx, session, sh, size, from, steps)
}

// whole is one split of everything, in the order of the key where there is one.
func (s *Source) whole(sh *shape) connector.Enumeration {
	spec := splitSpec{}
	if len(sh.key) > 0 {
		spec.Key, spec.Ordered = sh.key, true
	}
	return connector.Enumeration{Splits: []connector.Split{{Spec: spec.encode(), Label: sh.what}}, Done: true}
}

func loadLeaves(ctx context.Context, session *session, relation oid) ([]leaf, error) {
	rows, err := session.query(ctx, leavesQuery, relation.String())
	if err != nil {
		return nil, err
	}
	leaves := make([]leaf, len(rows))
	for i, row := range rows {
		l := &leaves[i]
		l.kind, l.readable = row[1][0], isTrue(row[5])
		if l.oid, err = parseOID(row[0]); err != nil {
			return nil, err
		}
		if l.filenode, err = parseOID(row[4]); err != nil {
			return nil, err
		}
		if l.pages, err = strconv.ParseInt(string(row[2]), 10, 64); err != nil {
			return nil, fmt.Errorf("read a table's size: %w", err)
		}
		density, err := strconv.ParseFloat(string(row[3]), 64)
		if err != nil {
			return nil, fmt.Errorf("read a table's size: %w", err)
		}
		if density < 0 {
			density = pageBytes / guessedRow
		}
		l.rows = int64(density * float64(l.pages))
	}
	return leaves, nil
}

// size is how large a relation and its splits are.
type size struct {
	bytes, rows           int64
	splitBytes, splitRows int64
}

// sizeUp decides the size of splits: as asked for, but smaller when there
// would else be too few of them for all readers.
func sizeUp(leaves []leaf, options SourceOptions, want connector.Want) size {
	var z size
	for _, l := range leaves {
		z.bytes += l.pages * pageBytes
		z.rows += l.rows
	}
	share := z.bytes / int64(max(1, want.Parallelism)*splitsPerReader)
	z.splitBytes = min(options.SplitSize.Bytes(), max(minSplitBytes, share))
	z.splitRows = options.SplitRows
	if z.splitRows == 0 && z.bytes > 0 {
		z.splitRows = max(1, int64(float64(z.rows)*float64(z.splitBytes)/float64(z.bytes)))
	} else if z.splitRows > 0 && z.rows > 0 {
		z.splitBytes = max(pageBytes, int64(float64(z.bytes)*float64(z.splitRows)/float64(z.rows)))
	}
	return z
}

// scattered reports whether ranges of the key would be read from all over the
// table, which is then better read by blocks. A key that was asked for is kept.
func (s *Source) scattered(ctx context.Context, session *session, sh *shape, z size) bool {
	if len(s.options.Key) > 0 || z.bytes <= z.splitBytes {
		return false
	}
	row, err := session.one(ctx, `SELECT abs(correlation) < $4::float8 FROM pg_catalog.pg_stats WHERE schemaname = $1 AND tablename = $2 AND attname = $3 ORDER BY inherited DESC LIMIT 1`,
		sh.relation.name.schema, sh.relation.name.table, sh.key[0], fmt.Sprint(correlated))
	return err == nil && row != nil && isTrue(row[0])
}

// blocks splits tables by their blocks. The last range of a table is open, for
// it may grow.
func (s *Source) blocks(sh *shape, leaves []leaf, z size, from cursor) connector.Enumeration {
	var e connector.Enumeration
	for _, l := range leaves {
		// What may be read through the relation may not be read directly, or has
		// policies of its own then.
		if from.Table == 0 && !l.readable && l.oid != sh.relation.oid {
			return s.whole(sh)
		}
	}
	step := max(1, z.splitBytes/pageBytes)
	for i, l := range leaves {
		if l.oid <= from.Table {
			continue
		}
		for at := int64(0); at == 0 || at < l.pages; at += step {
			spec := splitSpec{Table: l.oid, Filenode: l.filenode, From: uint32(at)}
			pages := l.pages - at
			if at+step < l.pages {
				spec.To, pages = uint32(at+step), step
			}
			rows := int64(0)
			if l.pages > 0 {
				rows = l.rows * pages / l.pages
			}
			e.Splits = append(e.Splits, connector.Split{
				Spec: spec.encode(), Bytes: pages * pageBytes, Rows: rows, Label: fmt.Sprintf("%s from block %d", sh.what, at),
			})
		}
		if len(e.Splits) >= 4096 && i+1 < len(leaves) {
			e.Next = encodeCursor(cursor{Table: l.oid})
			return e
		}
	}
	e.Done = true
	return e
}

// ranges steps through the key's index.
func (s *Source) ranges(ctx context.Context, session *session, sh *shape, z size, from cursor, steps int) (connector.Enumeration, error) {
	var e connector.Enumeration
	if z.bytes <= z.splitBytes && s.options.SplitRows == 0 {
		return s.lastRange(sh, e, nil, z), nil
	}
	// Without these a wrong guess of the planner could scan and sort the whole
	// table for each bound.
	if err := session.exec(ctx, "BEGIN; SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off"); err != nil {
		return e, err
	}
	defer session.rollback(ctx)
	low := from.Low
	for range steps {
		high, err := s.bound(ctx, session, sh, low, z.splitRows)
		if err != nil {
			return e, err
		}
		if high == nil {
			return s.lastRange(sh, e, low, z), nil
		}
		e.Splits = append(e.Splits, rangeSplit(sh, low, high, z))
		low = high
	}
	e.Next = encodeCursor(cursor{Key: sh.key, Low: low})
	return e, nil
}

// bound finds the key of the row that is n rows after a key; nil when there
// are not so many.
func (s *Source) bound(ctx context.Context, session *session, sh *shape, low []string, n int64) ([]string, error) {
	names := quoteNames(sh.key)
	conditions := []string{}
	if low != nil {
		conditions = append(conditions, compare(sh.keyColumns, ">", low))
	}
	if sh.nullable {
		conditions = append(conditions, quoteName(sh.key[0])+" IS NOT NULL")
	}
	row, err := session.one(ctx, "SELECT "+names+" FROM "+sh.from+whereOf(conditions)+" ORDER BY "+names+" OFFSET "+strconv.FormatInt(n-1, 10)+" LIMIT 1")
	if err != nil || row == nil {
		return nil, err
	}
	key := cellTexts(row)
	return key, checkKeyText(key)
}

// lastRange ends an enumeration with the open range, and NULL keys.
func (s *Source) lastRange(sh *shape, e connector.Enumeration, low []string, z size) connector.Enumeration {
	e.Splits = append(e.Splits, rangeSplit(sh, low, nil, z))
	if sh.nullable {
		spec := splitSpec{Key: sh.key, Null: true}
		e.Splits = append(e.Splits, connector.Split{Spec: spec.encode(), Label: sh.what + " where " + sh.key[0] + " is NULL"})
	}
	e.Done = true
	return e
}

func rangeSplit(sh *shape, low, high []string, z size) connector.Split {
	spec := splitSpec{Key: sh.key, Low: low, High: high, NotNull: sh.nullable, Ordered: sh.unique}
	label := sh.what
	if low != nil {
		label += " after " + strings.Join(low, ", ")
	}
	return connector.Split{Spec: spec.encode(), Rows: min(z.splitRows, z.rows), Bytes: min(z.splitBytes, z.bytes), Label: label}
}

// queryRanges finds all bounds in one pass over a query, for each pass runs it.
func (s *Source) queryRanges(ctx context.Context, session *session, sh *shape, z size) (connector.Enumeration, error) {
	n := s.options.SplitRows
	if n == 0 {
		n = s.options.SplitSize.Bytes() / guessedRow
	}
	if z.splitRows > 0 {
		n = z.splitRows
	}
	names, conditions := quoteNames(sh.key), []string{}
	if sh.nullable {
		conditions = append(conditions, quoteName(sh.key[0])+" IS NOT NULL")
	}
	rows, err := session.query(ctx, "SELECT DISTINCT ON ("+names+") "+names+" FROM (SELECT "+names+", row_number() OVER (ORDER BY "+names+") AS leat_n FROM "+sh.from+
		whereOf(conditions)+") b WHERE leat_n % $1::bigint = 0 ORDER BY "+names, strconv.FormatInt(max(1, n), 10))
	var e connector.Enumeration
	if err != nil {
		return e, err
	}
	z.splitRows, z.rows = n, max(n, z.rows)
	var low []string
	for _, row := range rows {
		high := cellTexts(row)
		if err := checkKeyText(high); err != nil {
			return e, err
		}
		e.Splits = append(e.Splits, rangeSplit(sh, low, high, z))
		low = high
	}
	return s.lastRange(sh, e, low, z), nil
}

func encodeCursor(c cursor) connector.Cursor {
	text, err := json.Marshal(c)
	if err != nil {
		panic(fmt.Sprintf("postgres: encode a cursor: %v", err))
	}
	return connector.Cursor(text)
}

func cellTexts(row [][]byte) []string {
	texts := make([]string, len(row))
	for i, cell := range row {
		texts[i] = string(cell)
	}
	return texts
}

// whereOf joins conditions into a WHERE.
func whereOf(conditions []string) string {
	if len(conditions) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(conditions, " AND ")
}
