package mysql

import (
	"context"
	"unsafe"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/database"
)

// The bounds of an INSERT's rows.
const (
	insertRows  = 1000
	insertBytes = 1 << 20
)

// inserts writes rows by INSERT statements of many rows, in the session's
// strict mode: what LOAD DATA would have changed or dropped is an error here,
// and the rows are halved until the one at fault is known (exactness rule 6).
type inserts struct {
	w    *writer
	head string
	// most is the most rows of a statement.
	most int
	text []byte
}

func newInserts(w *writer) inserts {
	in := inserts{w: w, head: "INSERT INTO " + w.place.String() + " (" + columnList(w.target.columns) + ") VALUES ", most: insertRows}
	if !w.target.transactional {
		// What comes before the row at fault would stay.
		in.most = 1
	}
	w.encoder.overhead = int64(len(in.head)) + 1 // the command's own byte
	return in
}

// span is living rows that one statement holds.
type span struct {
	end    int // behind the last of them
	living int
	last   int // the last of them
	bytes  int64
}

// all writes the rows, and rejects those that the server refuses.
func (in *inserts) all(ctx context.Context, rows []database.Row) error {
	most := in.most
	for at := 0; at < len(rows); {
		s := in.fill(rows, at, most)
		if s.living == 0 {
			at = s.end
			continue
		}
		err := in.step(ctx, s)
		switch {
		case err == nil:
			at, most = s.end, min(2*most, in.most)
		case !in.w.judged(err):
			return err
		case s.living > 1:
			most = s.living / 2
		default:
			r := rows[s.last]
			in.w.reject(r.Batch, int(r.Index), in.w.target.faulty(err), in.w.cause(err), in.w.reason(err))
			at, most = s.end, min(max(64, most), in.most)
		}
	}
	in.text = in.text[:0]
	if cap(in.text) > 4*insertBytes {
		in.text = nil
	}
	return nil
}

// fill makes a statement of at most so many rows from at on. Rows that our
// side refuses are rejected and are no rows any more.
func (in *inserts) fill(rows []database.Row, at, most int) span {
	in.text = append(in.text[:0], in.head...)
	s := span{end: at}
	for s.end < len(rows) && s.living < most && len(in.text) < insertBytes {
		r := &rows[s.end]
		if r.Batch == nil {
			s.end++
			continue
		}
		start := len(in.text)
		if s.living > 0 {
			in.text = append(in.text, ',')
		}
		e := in.w.encoder
		e.begin(r.Batch)
		var column int
		var err error
		in.text, column, err = e.tuple(in.text, r.Batch, int(r.Index))
		if err == nil && s.living > 0 && int64(len(in.text)) >= e.most {
			in.text = in.text[:start]
			return s
		}
		if err != nil {
			in.text = in.text[:start]
			in.w.reject(r.Batch, int(r.Index), e.columnName(column), causeHere(err), err.Error())
			r.Batch = nil
			s.end++
			continue
		}
		s.last = s.end
		s.end++
		s.living++
		s.bytes += e.bytes
	}
	return s
}

// step runs the statement.
func (in *inserts) step(ctx context.Context, s span) error {
	w := in.w
	if w.upsert != nil {
		if _, err := w.session.exec(ctx, "SAVEPOINT leat"); err != nil {
			return err
		}
	}
	// The driver copies the text and keeps nothing of it.
	counted, err := w.session.exec(ctx, unsafe.String(unsafe.SliceData(in.text), len(in.text)))
	if err == nil && counted != int64(s.living) {
		err = connector.Errorf(connector.Fatal, "the server counted %d rows of %d sent", counted, s.living)
	}
	if err == nil && w.upsert == nil {
		w.wrote(counted, s.bytes)
		return nil
	}
	if err == nil {
		err = w.merge(ctx, int64(s.living), s.bytes)
	}
	if err != nil && w.upsert != nil && w.judged(err) {
		if _, back := w.session.exec(ctx, "ROLLBACK TO SAVEPOINT leat"); back != nil {
			return back
		}
	}
	return err
}
