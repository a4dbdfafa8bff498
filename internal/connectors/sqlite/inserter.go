package sqlite

import (
	"errors"
	"fmt"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/connectors/sqlite/native"
	"github.com/leatdata/leat/internal/database"
)

// inserter puts batches into one table. Many rows go into one statement; when
// the table refuses it, SQLite has undone all of it, and its rows go in one by
// one, which finds those at fault.
type inserter struct {
	conn     *native.Conn
	table    string
	columns  []column
	encoders []encoder
	reject   func(b *batch.Batch, row int, column string, cause batch.Cause, reason string)
	// guarded says that triggers may keep a part of a failed statement, so
	// that each row needs a savepoint.
	guarded      bool
	allowRefused bool
	// key are the places of upsert's key columns, nil in other modes.
	key  []int
	keys keyTable

	many    *native.Stmt
	one     *native.Stmt
	perMany int
	// pending are the rows bound to many, and their bytes.
	pending []int
	bytes   int64

	memories []native.Memory
	bases    []uintptr
	// counts are what it did since the last commit.
	counts connector.Counters
}

func newInserter(c *native.Conn, s *Sink, tg *target, into string, reject func(*batch.Batch, int, string, batch.Cause, string)) (*inserter, error) {
	t, err := readTable(c, into)
	if err != nil {
		return nil, err
	}
	if t == nil {
		return nil, connector.Errorf(connector.Fatal, "the target was reset: table %s is gone; begin anew with --restart", into)
	}
	in := &inserter{
		conn: c, table: into, columns: tg.columns, reject: reject,
		guarded: t.triggers, allowRefused: s.options.AllowRefused,
		bases: make([]uintptr, len(tg.columns)),
	}
	for _, col := range tg.columns {
		e, err := encoderOf(col)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", col.name, err)
		}
		in.encoders = append(in.encoders, e)
	}
	if s.options.Mode == database.Upsert {
		for i, col := range tg.columns {
			if containsFold(tg.key, col.name) {
				in.key = append(in.key, i)
			}
		}
	}
	in.perMany = max(1, min(rowsPerInsert, maxParameters/len(tg.columns)))
	if in.guarded {
		in.perMany = 1
	}
	if in.one, err = c.Prepare(s.insertStatement(tg, into, 1)); err != nil {
		return nil, err
	}
	if in.many, err = c.Prepare(s.insertStatement(tg, into, in.perMany)); err != nil {
		in.one.Close()
		return nil, err
	}
	return in, nil
}

func (in *inserter) close() {
	in.one.Close()
	in.many.Close()
	for i := range in.memories {
		in.memories[i].Free()
	}
}

// insert puts the batch's rows into the table.
func (in *inserter) insert(b *batch.Batch) error {
	if err := in.load(b); err != nil {
		return err
	}
	if in.key != nil && in.keys.repeats(b, in.key) {
		return in.upsertOneByOne(b)
	}
	in.pending, in.bytes = in.pending[:0], 0
	for row := range b.Rows {
		n, ok := in.bind(in.many, len(in.pending)*len(in.columns), b, row)
		if !ok {
			continue
		}
		in.pending = append(in.pending, row)
		in.bytes += n
		if len(in.pending) == in.perMany {
			if err := in.flush(b); err != nil {
				return err
			}
		}
	}
	return in.oneByOne(b)
}

// load copies the batch's data to where SQLite can read it.
func (in *inserter) load(b *batch.Batch) error {
	if len(b.Columns) != len(in.columns) {
		return fmt.Errorf("a batch of %d columns for %d of table %s", len(b.Columns), len(in.columns), in.table)
	}
	n := 0
	for i := range b.Columns {
		data := b.Columns[i].Data
		if i > 0 && sameData(data, b.Columns[i-1].Data) {
			in.bases[i] = in.bases[i-1]
			continue
		}
		if n == len(in.memories) {
			in.memories = append(in.memories, native.Memory{})
		}
		var err error
		if in.bases[i], err = in.memories[n].Copy(data); err != nil {
			return err
		}
		n++
	}
	return nil
}

func sameData(a, b []byte) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// bind binds a row from a parameter on, and returns its size. A row that a
// column cannot hold is rejected.
func (in *inserter) bind(s *native.Stmt, at int, b *batch.Batch, row int) (size int64, ok bool) {
	for i, encode := range in.encoders {
		col := &b.Columns[i]
		span := col.Spans[col.First+row*col.Stride]
		if span.Len < 0 {
			s.BindNull(at + i)
			continue
		}
		cell := col.Data[span.Off : span.Off+uint32(span.Len)]
		if err := encode(s, at+i, cell, in.bases[i]+uintptr(span.Off)); err != nil {
			in.reject(b, row, in.columns[i].name, batch.CauseConversion, err.Error())
			return 0, false
		}
		size += int64(span.Len)
	}
	for _, k := range in.key {
		if b.Columns[k].IsNull(row) {
			in.reject(b, row, in.columns[k].name, batch.CauseNull, "NULL in the key by which upsert finds a row")
			return 0, false
		}
	}
	return size, true
}

// flush runs the statement of many rows.
func (in *inserter) flush(b *batch.Batch) error {
	if in.guarded {
		return in.oneByOne(b)
	}
	if _, err := in.many.Step(); err != nil {
		if native.ReasonOf(err) != native.Constraint || !in.conn.InTransaction() {
			return err
		}
		return in.oneByOne(b)
	}
	err := in.count(int64(len(in.pending)), in.bytes)
	in.pending, in.bytes = in.pending[:0], 0
	return err
}

// oneByOne inserts the pending rows each for itself.
func (in *inserter) oneByOne(b *batch.Batch) error {
	for _, row := range in.pending {
		if _, err := in.insertOne(b, row); err != nil {
			return err
		}
	}
	in.pending, in.bytes = in.pending[:0], 0
	return nil
}

// insertOne inserts one row, or rejects it; ok says that it is in.
func (in *inserter) insertOne(b *batch.Batch, row int) (ok bool, err error) {
	size, ok := in.bind(in.one, 0, b, row)
	if !ok {
		return false, nil
	}
	if in.guarded {
		if err := in.conn.Exec("SAVEPOINT leat_row"); err != nil {
			return false, err
		}
	}
	_, err = in.one.Step()
	switch {
	case err == nil:
		if err := in.count(1, size); err != nil {
			return false, err
		}
	case !in.conn.InTransaction():
		return false, fmt.Errorf("a trigger of table %s rolled back the whole transaction: %w", in.table, err)
	case native.ReasonOf(err) != native.Constraint:
		return false, err
	}
	refused := err
	if in.guarded {
		statement := "RELEASE leat_row"
		if refused != nil {
			statement = "ROLLBACK TO leat_row; RELEASE leat_row"
		}
		if err := in.conn.Exec(statement); err != nil {
			return false, err
		}
	}
	if refused != nil {
		in.reject(b, row, "", causeOf(refused), message(refused))
	}
	return refused == nil, nil
}

// causeOf is of which kind a refusal of SQLite's is.
func causeOf(err error) batch.Cause {
	switch native.ConstraintOf(err) {
	case native.NotNull:
		return batch.CauseNull
	case native.Unique:
		return batch.CauseDuplicate
	case native.Datatype:
		return batch.CauseConversion
	}
	return batch.CauseOther
}

// message is what SQLite says, without its code.
func message(err error) string {
	if e, ok := errors.AsType[*native.Error](err); ok {
		return e.Message
	}
	return err.Error()
}

// count takes the number of rows that SQLite says it inserted or changed
// (exactness rule 14).
func (in *inserter) count(sent, bytes int64) error {
	took := in.conn.Changes()
	in.counts.Written += took
	in.counts.Refused += sent - took
	in.counts.BytesWritten += bytes
	if took != sent && !in.allowRefused {
		return fmt.Errorf("table %s took %d of %d rows without an error: a trigger skips rows (allow_refused lets it)", in.table, took, sent)
	}
	return nil
}

// upsertOneByOne is for a batch in which keys repeat: the last row of a key
// that the table takes wins, and those it replaces are merged (exactness rule 8).
func (in *inserter) upsertOneByOne(b *batch.Batch) error {
	in.keys.reset(b, in.key)
	for row := range b.Rows {
		before := in.counts
		ok, err := in.insertOne(b, row)
		if err != nil {
			return err
		}
		if ok && in.counts.Written > before.Written && in.keys.add(row) >= 0 {
			in.counts.Written = before.Written
			in.counts.Merged++
		}
	}
	return nil
}
