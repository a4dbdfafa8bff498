package mysql

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/database"
)

// Enumerate implements connector.Source.
func (s *Source) Enumerate(ctx context.Context, at connector.Cursor, first connector.SplitID, want connector.Want) (connector.Enumeration, error) {
	sh, err := s.resolve(ctx)
	if err != nil {
		return connector.Enumeration{}, err
	}
	from, err := database.DecodeCursor[database.Cursor](at)
	if err == nil {
		err = sh.Check(from)
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

func (s *Source) enumerate(ctx context.Context, session *session, sh *shape, from database.Cursor, want connector.Want) (connector.Enumeration, error) {
	if want.Ordered || len(sh.Key) == 0 {
		return sh.Whole(), nil
	}
	z := s.size(sh.relation, want)
	if sh.index == "" {
		return s.scannedRanges(ctx, session, sh, z)
	}
	return sh.Step(from, want, z, func(low []string) ([]string, error) { return s.bound(ctx, session, sh, low, z.SplitRows) })
}

// size is that of a table, or of a query, of which nothing is known.
func (s *Source) size(r *relation, want connector.Want) database.Size {
	var bytes, rows int64
	if r != nil {
		bytes, rows = r.bytes, r.rows
	}
	return database.SizeUp(bytes, rows, s.options.SplitSize.Bytes(), s.options.SplitRows, want)
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
	rows, err := session.keys(ctx, sh.keyColumns, "SELECT "+sh.noted()+" FROM "+sh.ranged()+database.Where(conditions)+
		" ORDER BY "+sh.ordering()+" LIMIT 1 OFFSET "+strconv.FormatInt(n-1, 10))
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0], nil
}

// notNull leaves out the rows that have a split of their own.
func (sh *shape) notNull() []string {
	if !sh.Nullable {
		return nil
	}
	return []string{quoteName(sh.Key[0]) + " IS NOT NULL"}
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
			if err := database.CheckKeyText(key); err != nil {
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

// scannedRanges finds all bounds in one pass over everything, for no index has
// the rows in the order of the key.
func (s *Source) scannedRanges(ctx context.Context, session *session, sh *shape, z database.Size) (connector.Enumeration, error) {
	names := quoteNames(sh.Key)
	inner := "SELECT " + names + ", row_number() OVER (ORDER BY " + names + ") AS leat_n FROM " + sh.from + database.Where(sh.notNull())
	bounds, err := session.keys(ctx, sh.keyColumns, fmt.Sprintf("SELECT %s FROM (%s) AS leat_bounds WHERE leat_n %% %d = 0 GROUP BY %s ORDER BY %[4]s",
		sh.noted(), inner, z.SplitRows, qualified("leat_bounds", sh.Key)))
	if err != nil {
		return connector.Enumeration{}, err
	}
	return sh.Cut(bounds, z), nil
}
