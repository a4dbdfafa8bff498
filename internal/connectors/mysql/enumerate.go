package mysql

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/leatdata/leat/connector"
)

// Bounds of the number and size of splits.
const (
	// stepSplits is how many ranges a step of the enumeration finds, but for the
	// first, for which the readers wait.
	stepSplits = 16
	// minSplitBytes is what a split holds at least, to be worth its claim.
	minSplitBytes = 4 << 20
	// splitsPerReader are wanted, so that readers end at about the same time.
	splitsPerReader = 4
	// guessedRow stands for the bytes of a row of which nothing is known.
	guessedRow = 100
)

// cursor is where the enumeration goes on: Low is the last bound found, of Key.
type cursor struct {
	Key []string `json:"key"`
	Low []string `json:"low"`
}

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
		if !slices.Equal(from.Key, sh.key) {
			return connector.Enumeration{}, connector.Errorf(connector.Permanent,
				"%s was being split by %s, and its key is now %s; begin anew with --restart", sh.what, strings.Join(from.Key, ", "), strings.Join(sh.key, ", "))
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
	if want.Ordered || len(sh.key) == 0 {
		return s.whole(sh), nil
	}
	z := sizeUp(sh.relation, s.options, want)
	if sh.index == "" {
		return s.scannedRanges(ctx, session, sh, z)
	}
	steps := stepSplits
	if from.Low == nil {
		steps = min(steps, max(1, want.Parallelism))
	}
	return s.ranges(ctx, session, sh, z, from, steps)
}

// whole is one split of everything, in the order of the key where there is one.
func (s *Source) whole(sh *shape) connector.Enumeration {
	spec := splitSpec{}
	if len(sh.key) > 0 {
		spec.Key, spec.Ordered = sh.key, true
	}
	return connector.Enumeration{Splits: []connector.Split{{Spec: spec.encode(), Label: sh.what}}, Done: true}
}

// size is how large a relation and its splits are.
type size struct {
	bytes, rows           int64
	splitBytes, splitRows int64
}

// sizeUp decides the size of splits: as asked for, but smaller when there
// would else be too few of them for all readers.
func sizeUp(r *relation, options SourceOptions, want connector.Want) size {
	var z size
	if r != nil {
		z.bytes, z.rows = r.bytes, r.rows
	}
	share := z.bytes / int64(max(1, want.Parallelism)*splitsPerReader)
	z.splitBytes = min(options.SplitSize.Bytes(), max(minSplitBytes, share))
	z.splitRows = options.SplitRows
	switch {
	case z.splitRows > 0 && z.rows > 0:
		z.splitBytes = max(1, int64(float64(z.bytes)*float64(z.splitRows)/float64(z.rows)))
	case z.splitRows == 0 && z.bytes > 0 && z.rows > 0:
		z.splitRows = max(1, int64(float64(z.rows)*float64(z.splitBytes)/float64(z.bytes)))
	case z.splitRows == 0:
		z.splitRows = max(1, z.splitBytes/guessedRow)
	}
	return z
}

// ranges steps through the key's index.
func (s *Source) ranges(ctx context.Context, session *session, sh *shape, z size, from cursor, steps int) (connector.Enumeration, error) {
	var e connector.Enumeration
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
	text, err := json.Marshal(cursor{Key: sh.key, Low: low})
	e.Next = connector.Cursor(text)
	return e, err
}

// bound finds the key of the row that is n rows after a key; nil when there
// are not so many.
func (s *Source) bound(ctx context.Context, session *session, sh *shape, low []string, n int64) ([]string, error) {
	var conditions []string
	if low != nil {
		condition, err := compare(sh.keyColumns, ">", low)
		if err != nil {
			return nil, err
		}
		conditions = append(conditions, condition)
	}
	conditions = append(conditions, sh.notNull()...)
	rows, err := session.keys(ctx, sh.keyColumns, "SELECT "+sh.noted()+" FROM "+sh.ranged()+whereOf(conditions)+
		" ORDER BY "+sh.ordering()+" LIMIT 1 OFFSET "+strconv.FormatInt(n-1, 10))
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0], nil
}

// notNull leaves out the rows that have a split of their own.
func (sh *shape) notNull() []string {
	if !sh.nullable {
		return nil
	}
	return []string{quoteName(sh.key[0]) + " IS NOT NULL"}
}

// noted is the key's columns as they are noted.
func (sh *shape) noted() string {
	var list []string
	for i := range sh.keyColumns {
		k := &sh.keyColumns[i]
		expression := k.expression()
		if expression == "" {
			expression = quoteName(k.name)
		}
		list = append(list, expression)
	}
	return strings.Join(list, ", ")
}

// keys runs a query for key values and returns them as they are noted.
func (s *session) keys(ctx context.Context, columns []keyColumn, query string) ([][]string, error) {
	st, err := newStream(ctx, s, query)
	if err != nil {
		return nil, err
	}
	var all [][]string
	err = st.guard(ctx, func(any) error {
		for {
			row, err := st.next()
			if err != nil {
				return err
			}
			key := make([]string, len(columns))
			for i := range columns {
				noted, err := columns[i].appendKey(nil, row[i])
				if err != nil {
					return err
				}
				key[i] = string(noted)
			}
			if err := checkKeyText(key); err != nil {
				return err
			}
			all = append(all, key)
		}
	})
	st.close()
	if !errors.Is(err, io.EOF) {
		return nil, err
	}
	return all, nil
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

// scannedRanges finds all bounds in one pass over everything, for no index has
// the rows in the order of the key.
func (s *Source) scannedRanges(ctx context.Context, session *session, sh *shape, z size) (connector.Enumeration, error) {
	names := quoteNames(sh.key)
	inner := "SELECT " + names + ", row_number() OVER (ORDER BY " + names + ") AS leat_n FROM " + sh.from + whereOf(sh.notNull())
	bounds, err := session.keys(ctx, sh.keyColumns, fmt.Sprintf("SELECT %s FROM (%s) AS leat_bounds WHERE leat_n %% %d = 0 GROUP BY %s ORDER BY %[4]s",
		sh.noted(), inner, z.splitRows, qualified("leat_bounds", sh.key)))
	var e connector.Enumeration
	if err != nil {
		return e, err
	}
	var low []string
	for _, high := range bounds {
		e.Splits = append(e.Splits, rangeSplit(sh, low, high, z))
		low = high
	}
	return s.lastRange(sh, e, low, z), nil
}
