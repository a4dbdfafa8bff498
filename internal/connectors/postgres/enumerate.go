package postgres

import (
	"context"
	"fmt"
	"strconv"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/database"
)

const (
	pageBytes = 8192
	// correlated is how well a key's order has to follow the table's for
	// ranges of it to be read well.
	correlated = 0.8
)

// cursor is where the enumeration goes on.
type cursor struct {
	database.Cursor
	// Table is the last table whose blocks were split. What was begun with,
	// blocks or ranges, is gone on with.
	Table oid `json:"table,omitempty"`
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
	from, err := database.DecodeCursor[cursor](at)
	if err == nil {
		err = sh.Check(from.Cursor)
	}
	if err != nil {
		return connector.Enumeration{}, err
	}
	var e connector.Enumeration
	err = s.sessions.with(ctx, func(session *session) error {
		e, err = s.enumerate(ctx, session, sh, from, want)
		return err
	})
	return database.Number(e, first), wrap("find splits of "+sh.What, err)
}

func (s *Source) enumerate(ctx context.Context, session *session, sh *shape, from cursor, want connector.Want) (connector.Enumeration, error) {
	if want.Ordered {
		return sh.Whole(), nil
	}
	if !sh.stored {
		if len(sh.Key) == 0 {
			return sh.Whole(), nil
		}
		return s.queryRanges(ctx, session, sh, database.Size{})
	}
	leaves, err := loadLeaves(ctx, session, sh.relation.oid)
	if err != nil {
		return connector.Enumeration{}, err
	}
	size := s.size(leaves, want)
	if from.Low == nil && (from.Table != 0 || len(sh.Key) == 0 || s.scattered(ctx, session, sh, size)) {
		return s.blocks(sh, leaves, size, from), nil
	}
	if !sh.indexed && from.Low == nil {
		return s.queryRanges(ctx, session, sh, size)
	}
	return s.ranges(ctx, session, sh, size, from.Cursor, want)
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
			density = pageBytes / database.GuessedRow
		}
		l.rows = int64(density * float64(l.pages))
	}
	return leaves, nil
}

// size is that of all tables together.
func (s *Source) size(leaves []leaf, want connector.Want) database.Size {
	var bytes, rows int64
	for _, l := range leaves {
		bytes += l.pages * pageBytes
		rows += l.rows
	}
	return database.SizeUp(bytes, rows, s.options.SplitSize.Bytes(), s.options.SplitRows, want)
}

// scattered reports whether ranges of the key would be read from all over the
// table, which is then better read by blocks. A key that was asked for is kept.
func (s *Source) scattered(ctx context.Context, session *session, sh *shape, z database.Size) bool {
	if len(s.options.Key) > 0 || z.Bytes <= z.SplitBytes {
		return false
	}
	row, err := session.one(ctx, `SELECT abs(correlation) < $4::float8 FROM pg_catalog.pg_stats WHERE schemaname = $1 AND tablename = $2 AND attname = $3 ORDER BY inherited DESC LIMIT 1`,
		sh.relation.name.schema, sh.relation.name.table, sh.Key[0], fmt.Sprint(correlated))
	return err == nil && row != nil && isTrue(row[0])
}

// blocks splits tables by their blocks. The last range of a table is open, for
// it may grow.
func (s *Source) blocks(sh *shape, leaves []leaf, z database.Size, from cursor) connector.Enumeration {
	var e connector.Enumeration
	for _, l := range leaves {
		// What may be read through the relation may not be read directly, or has
		// policies of its own then.
		if from.Table == 0 && !l.readable && l.oid != sh.relation.oid {
			return sh.Whole()
		}
	}
	step := max(1, z.SplitBytes/pageBytes)
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
				Spec: database.EncodeSpec(&spec), Bytes: pages * pageBytes, Rows: rows, Label: fmt.Sprintf("%s from block %d", sh.What, at),
			})
		}
		if len(e.Splits) >= 4096 && i+1 < len(leaves) {
			e.Next = database.EncodeCursor(cursor{Table: l.oid})
			return e
		}
	}
	e.Done = true
	return e
}

// ranges steps through the key's index.
func (s *Source) ranges(ctx context.Context, session *session, sh *shape, z database.Size, from database.Cursor, want connector.Want) (connector.Enumeration, error) {
	var e connector.Enumeration
	if z.Bytes <= z.SplitBytes && s.options.SplitRows == 0 {
		return sh.Last(e, nil, z), nil
	}
	// Without these a wrong guess of the planner could scan and sort the whole
	// table for each bound.
	if err := session.exec(ctx, "BEGIN; SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off"); err != nil {
		return e, err
	}
	defer session.rollback(ctx)
	return sh.Step(from, want, z, func(low []string) ([]string, error) { return s.bound(ctx, session, sh, low, z.SplitRows) })
}

// bound finds the key of the row that is n rows after a key; nil when there
// are not so many.
func (s *Source) bound(ctx context.Context, session *session, sh *shape, low []string, n int64) ([]string, error) {
	names := quoteNames(sh.Key)
	conditions := []string{}
	if low != nil {
		conditions = append(conditions, compare(sh.keyColumns, ">", low))
	}
	if sh.Nullable {
		conditions = append(conditions, quoteName(sh.Key[0])+" IS NOT NULL")
	}
	row, err := session.one(ctx, "SELECT "+names+" FROM "+sh.from+database.Where(conditions)+" ORDER BY "+names+" OFFSET "+strconv.FormatInt(n-1, 10)+" LIMIT 1")
	if err != nil || row == nil {
		return nil, err
	}
	key := cellTexts(row)
	return key, database.CheckKeyText(key)
}

// queryRanges finds all bounds in one pass over a query, for each pass runs it.
func (s *Source) queryRanges(ctx context.Context, session *session, sh *shape, z database.Size) (connector.Enumeration, error) {
	n := s.options.SplitRows
	if n == 0 {
		n = s.options.SplitSize.Bytes() / database.GuessedRow
	}
	if z.SplitRows > 0 {
		n = z.SplitRows
	}
	names, conditions := quoteNames(sh.Key), []string{}
	if sh.Nullable {
		conditions = append(conditions, quoteName(sh.Key[0])+" IS NOT NULL")
	}
	rows, err := session.query(ctx, "SELECT DISTINCT ON ("+names+") "+names+" FROM (SELECT "+names+", row_number() OVER (ORDER BY "+names+") AS leat_n FROM "+sh.from+
		database.Where(conditions)+") b WHERE leat_n % $1::bigint = 0 ORDER BY "+names, strconv.FormatInt(max(1, n), 10))
	if err != nil {
		return connector.Enumeration{}, err
	}
	z.SplitRows, z.Rows = n, max(n, z.Rows)
	bounds := make([][]string, len(rows))
	for i, row := range rows {
		bounds[i] = cellTexts(row)
		if err := database.CheckKeyText(bounds[i]); err != nil {
			return connector.Enumeration{}, err
		}
	}
	return sh.Cut(bounds, z), nil
}

func cellTexts(row [][]byte) []string {
	texts := make([]string, len(row))
	for i, cell := range row {
		texts[i] = string(cell)
	}
	return texts
}
