package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/batch/value"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/connectors/sqlite/native"
)

var (
	_ connector.Inferrer = (*Source)(nil)
	_ connector.Recaller = (*Source)(nil)
)

// Infer implements connector.Inferrer: in one snapshot it reads the columns
// that were declared without a type, of the records that the job reads. Values
// of one storage class keep it; what is mixed, and texts, are of the type from
// which all read back as the texts that they are.
func (s *Source) Infer(ctx context.Context) (*batch.Schema, error) {
	r, err := s.resolve(ctx)
	if err != nil {
		return nil, err
	}
	columns, loose := []*looseColumn{}, []column{}
	for _, c := range r.columns {
		if c.typ.Kind == batch.Untyped {
			columns, loose = append(columns, &looseColumn{}), append(loose, c)
		}
	}
	if err := s.eachValue(ctx, r, loose, columns); err != nil {
		return nil, fmt.Errorf("find the types of columns without one: %w", err)
	}
	types := map[string]batch.Type{}
	for i, c := range loose {
		types[c.name] = columns[i].typ()
	}
	schema := &batch.Schema{Fields: make([]batch.Field, len(r.schema.Fields)), Key: r.schema.Key}
	for i, f := range r.schema.Fields {
		if t, ok := types[f.Name]; ok {
			f.Type = t
		}
		schema.Fields[i] = f
	}
	s.Recall(schema)
	return schema, nil
}

// Recall implements connector.Recaller.
func (s *Source) Recall(schema *batch.Schema) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.found = map[string]batch.Type{}
	for _, f := range schema.Fields {
		if f.Type.Kind != batch.Untyped {
			s.found[f.Name] = f.Type
		}
	}
}

// typed gives a column without a type the one that Infer has found.
func (s *Source) typed(c column) (_ column, loose bool) {
	if c.typ.Kind != batch.Untyped {
		return c, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t, loose := s.found[c.name]
	if loose {
		c.typ = t
	}
	return c, loose
}

// eachValue shows the values of the columns to those who look for their types.
func (s *Source) eachValue(ctx context.Context, r *relation, loose []column, to []*looseColumn) (err error) {
	if len(loose) == 0 {
		return nil
	}
	c, err := s.db.openRead()
	if err != nil {
		return err
	}
	defer func() { err = s.db.interrupted(ctx, errors.Join(err, c.Close())) }()
	defer c.Watch(ctx)()
	return c.Query(s.valuesOf(r, loose), nil, func(st *native.Stmt) error {
		for i, column := range to {
			column.add(st, i)
		}
		return nil
	})
}

func (s *Source) valuesOf(r *relation, columns []column) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	sql := "SELECT " + quoteAll(names) + " FROM " + r.from
	if s.env.Where != "" {
		sql += " WHERE (\n" + s.env.Where + "\n)"
	}
	return sql
}

// looseColumn looks for the type of a column that was declared without one.
type looseColumn struct {
	integers, floats, texts, blobs bool
	// inexact says that an integer is none of the floats' texts.
	inexact bool
	// all is what the texts of all values allow.
	all     value.Inference
	scratch []byte
}

func (l *looseColumn) add(s *native.Stmt, i int) {
	switch s.Class(i) {
	case native.Integer:
		v := s.Int64(i)
		l.integers = true
		l.scratch = strconv.AppendInt(l.scratch[:0], v, 10)
		const exact = 1 << 53
		l.inexact = l.inexact || v > exact || v < -exact
		l.all.Add(l.scratch)
	case native.Float:
		l.floats = true
		l.scratch = value.AppendFloat(l.scratch[:0], s.Float(i), 64)
		l.all.Add(l.scratch)
	case native.Text:
		l.texts = true
		l.all.Add(s.Text(i))
	case native.Blob:
		l.blobs = true
	}
}

// typ is the type; Text where there were no values, or blobs among others.
func (l *looseColumn) typ() batch.Type {
	switch {
	case l.blobs && !l.integers && !l.floats && !l.texts:
		return batch.Of(batch.Bytes)
	case l.blobs:
		return batch.Of(batch.Text)
	case l.floats && !l.texts && !l.inexact:
		return batch.Of(batch.Float64)
	}
	return l.all.Type()
}
