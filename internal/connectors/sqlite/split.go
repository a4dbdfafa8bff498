package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/connectors/sqlite/native"
)

// maxSplits bounds the splits of a table, however far apart its rowids are.
const maxSplits = 1024

// spec is a split: the rows whose rowid or key is greater than After and not
// greater than To; no bound where one is empty.
type spec struct {
	Made  string     `json:"made"`
	After []keyValue `json:"after,omitempty"`
	To    []keyValue `json:"to,omitempty"`
}

func parseSpec(split connector.Split) (spec, error) {
	var sp spec
	if err := json.Unmarshal([]byte(split.Spec), &sp); err != nil {
		return sp, connector.Errorf(connector.Fatal, "split %d: %w", split.ID, err)
	}
	return sp, nil
}

// Enumerate makes all splits in one step.
func (s *Source) Enumerate(ctx context.Context, _ connector.Cursor, first connector.SplitID, want connector.Want) (connector.Enumeration, error) {
	r, err := s.resolve(ctx)
	if err != nil {
		return connector.Enumeration{}, err
	}
	var bounds [][]keyValue
	rows := int64(0)
	if r.table != nil && !want.Ordered {
		if bounds, rows, err = s.bounds(ctx, r, want); err != nil {
			return connector.Enumeration{}, err
		}
	}
	e := connector.Enumeration{Done: true}
	var after []keyValue
	for i := range len(bounds) + 1 {
		sp := spec{Made: r.made, After: after}
		if i < len(bounds) {
			sp.To = bounds[i]
			after = bounds[i]
		}
		text, err := json.Marshal(sp)
		if err != nil {
			return connector.Enumeration{}, err
		}
		e.Splits = append(e.Splits, connector.Split{
			ID: first + connector.SplitID(i), Spec: string(text), Label: r.label() + sp.label(),
			Rows: rows / int64(len(bounds)+1),
		})
	}
	return e, nil
}

func (sp spec) label() string {
	var b strings.Builder
	if sp.After != nil {
		b.WriteString(" after " + formatKey(sp.After))
	}
	if sp.To != nil {
		b.WriteString(" to " + formatKey(sp.To))
	}
	return b.String()
}

// bounds returns the upper bounds of all splits but the last, which has none,
// and about how many rows there are, 0 when unknown.
func (s *Source) bounds(ctx context.Context, r *relation, want connector.Want) ([][]keyValue, int64, error) {
	if r.rowid == "" && r.key == nil {
		return nil, 0, nil
	}
	c, err := s.db.openRead()
	if err != nil {
		return nil, 0, err
	}
	stop := c.Watch(ctx)
	var bounds [][]keyValue
	var rows int64
	if r.rowid != "" {
		bounds, rows, err = s.rowidBounds(c, r, want)
	} else {
		bounds, err = s.keyBounds(c, r)
		rows = int64(len(bounds)+1) * s.options.SplitRows
	}
	stop()
	return bounds, rows, s.db.interrupted(ctx, errors.Join(err, c.Close()))
}

// rowidBounds cuts the span from the lowest to the highest rowid into equal parts.
func (s *Source) rowidBounds(c *native.Conn, r *relation, want connector.Want) ([][]keyValue, int64, error) {
	var low, high int64
	empty := false
	err := c.Query(fmt.Sprintf("SELECT (SELECT min(%[1]s) FROM %[2]s), (SELECT max(%[1]s) FROM %[2]s)", r.rowid, r.from), nil, func(st *native.Stmt) error {
		empty = st.Class(0) == native.Null
		low, high = st.Int64(0), st.Int64(1)
		return nil
	})
	if err != nil || empty {
		return nil, 0, err
	}
	// The span of all rowids does not fit a signed number.
	span := uint64(high) - uint64(low)
	parts := span/uint64(s.options.SplitRows) + 1
	if least := uint64(2 * max(1, want.Parallelism)); parts < least && span/least > 10000 {
		parts = least
	}
	parts = min(parts, maxSplits)
	var bounds [][]keyValue
	for i := uint64(1); i < parts; i++ {
		bound := int64(uint64(low) + span/parts*i)
		bounds = append(bounds, []keyValue{keyValue("i" + strconv.FormatInt(bound, 10))})
	}
	return bounds, int64(min(span, 1<<62)) + 1, nil
}

// keyBounds takes every so many-th key of a table without rowid, by one scan
// of the key.
func (s *Source) keyBounds(c *native.Conn, r *relation) ([][]keyValue, error) {
	key := quoteAll(r.key)
	var bounds [][]keyValue
	err := c.Query("SELECT "+key+" FROM (SELECT "+key+", row_number() OVER (ORDER BY "+key+") AS leat_n FROM "+r.from+") WHERE leat_n % ? = 0",
		[]any{s.options.SplitRows}, func(st *native.Stmt) error {
			bound := make([]keyValue, len(r.key))
			for i := range bound {
				bound[i] = keyValue(appendKey(nil, st, i))
			}
			bounds = append(bounds, bound)
			return nil
		})
	return bounds, err
}

// statement is the query of a split, with its parameters. The rowid or key
// comes after the columns.
func (s *Source) statement(r *relation, sp spec) (string, []any, error) {
	var columns []string
	for _, c := range r.columns {
		columns = append(columns, c.name)
	}
	sql := "SELECT " + quoteAll(columns)
	order := ""
	switch {
	case r.rowid != "":
		order = r.rowid
	case r.key != nil:
		order = quoteAll(r.key)
	}
	if order != "" {
		sql += ", " + order
	}
	sql += " FROM " + r.from
	var conditions []string
	var args []any
	for _, bound := range []struct {
		key []keyValue
		op  string
	}{{sp.After, ">"}, {sp.To, "<="}} {
		if bound.key == nil {
			continue
		}
		if order == "" || len(bound.key) != max(1, len(r.key)) {
			return "", nil, connector.Errorf(connector.Fatal, "%s has no position such as %s", r.label(), formatKey(bound.key))
		}
		conditions = append(conditions, "("+order+") "+bound.op+" (?"+strings.Repeat(", ?", len(bound.key)-1)+")")
		for _, k := range bound.key {
			v, err := k.value()
			if err != nil {
				return "", nil, err
			}
			args = append(args, v)
		}
	}
	if s.env.Where != "" {
		conditions = append(conditions, "(\n"+s.env.Where+"\n)")
	}
	if len(conditions) > 0 {
		sql += " WHERE " + strings.Join(conditions, " AND ")
	}
	if order != "" {
		sql += " ORDER BY " + order
	}
	return sql, args, nil
}
