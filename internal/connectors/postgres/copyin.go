package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// pieceHeader is the room before each piece of rows for the message's head: 'd'
// and the length.
const pieceHeader = 5

// copyIn is a COPY … FROM STDIN under way in a session. Its statement and its
// rows are sent without waiting for an answer; finish reads all of them.
type copyIn struct {
	session *session
	binary  bool
}

// start sends the statements, the last of which is the COPY, and the header.
func (c *copyIn) start(ctx context.Context, sql string) error {
	f := c.session.Frontend()
	f.SendQuery(&pgproto3.Query{String: sql})
	if c.binary {
		f.Send(&pgproto3.CopyData{Data: []byte(copyHeader)})
	}
	return c.session.guard(ctx, f.Flush)
}

// send sends a piece: pieceHeader bytes of room, then rows.
func (c *copyIn) send(ctx context.Context, piece []byte) error {
	piece[0] = 'd'
	binary.BigEndian.PutUint32(piece[1:], uint32(len(piece)-1))
	return c.session.guard(ctx, func() error { return c.session.Frontend().SendUnbufferedEncodedCopyData(piece) })
}

// finish ends the COPY and returns the number of rows that the server counted.
// An error of the server is a *pgconn.PgError, and the session still usable.
func (c *copyIn) finish(ctx context.Context) (int64, error) {
	f := c.session.Frontend()
	if c.binary {
		f.Send(&pgproto3.CopyData{Data: []byte(copyTrailer)})
	}
	f.Send(&pgproto3.CopyDone{})
	if err := c.session.guard(ctx, f.Flush); err != nil {
		return 0, err
	}
	var refusal error
	count := int64(-1)
	for {
		msg, err := c.session.ReceiveMessage(ctx)
		if err != nil {
			return 0, err
		}
		switch msg := msg.(type) {
		case *pgproto3.ErrorResponse:
			refusal = pgconn.ErrorResponseToPgError(msg)
		case *pgproto3.CommandComplete:
			if tag := pgconn.NewCommandTag(string(msg.CommandTag)); strings.HasPrefix(tag.String(), "COPY") {
				count = tag.RowsAffected()
			}
		case *pgproto3.ReadyForQuery:
			if refusal != nil {
				return 0, refusal
			}
			if count < 0 {
				return 0, errors.New("COPY ended without its count")
			}
			return count, nil
		}
	}
}

// guard runs f, which writes to the connection, and breaks it off when the
// context ends; the session is then of no use any more.
func (s *session) guard(ctx context.Context, f func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = s.Conn().SetDeadline(time.Unix(1, 0)) })
	err := f()
	if !stop() {
		return ctx.Err()
	}
	return err
}

// lineOf finds the number of the row at fault in an error's Where: the first
// number after the table's name in COPY's own line, in whatever language the
// server speaks (exactness rule 5). 0 when there is none: the last line may be
// that of a function, which has its arguments in parentheses.
func lineOf(where, table string) int {
	line := lastLine(where)
	before, after, ok := strings.Cut(line, table)
	if !ok {
		return 0
	}
	start := strings.IndexFunc(after, isDigit)
	if start < 0 {
		return 0
	}
	if words := before + " " + after[:start]; !strings.Contains(words, "COPY") || strings.Contains(words, "(") {
		return 0
	}
	after = after[start:]
	if end := strings.IndexFunc(after, func(r rune) bool { return !isDigit(r) }); end >= 0 {
		after = after[:end]
	}
	n, err := strconv.Atoi(after)
	if err != nil {
		return 0
	}
	return n
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

// lastLine returns the outermost of the contexts, which is COPY's.
func lastLine(where string) string {
	where = strings.TrimRight(where, "\n")
	return where[strings.LastIndexByte(where, '\n')+1:]
}
