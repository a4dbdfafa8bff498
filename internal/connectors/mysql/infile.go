package mysql

import (
	"context"
	"crypto/rand"
	"io"

	driver "github.com/go-sql-driver/mysql"

	"github.com/leatdata/leat/connector"
)

// infile is the file that LOAD DATA LOCAL INFILE reads: rows in memory. The
// driver asks for it by a name that it knows in the whole process.
type infile struct {
	name   string
	loaded chan loaded
	// load is the statement under way, nil between two.
	load *load
}

// loaded is the outcome of a LOAD DATA.
type loaded struct {
	rows int64
	err  error
}

// load is one LOAD DATA under way. Its Read is the driver's, in the statement's
// goroutine; all else is the writer's.
type load struct {
	ctx    context.Context
	cancel context.CancelFunc
	// pieces brings what is to be read, free takes its memory back.
	pieces chan []byte
	free   chan []byte
	// current is what is left of the piece being read, whole all of it.
	current, whole []byte
}

// newInfile registers a file by a name that no other has.
func newInfile() *infile {
	f := &infile{name: "leat-" + rand.Text(), loaded: make(chan loaded, 1)}
	driver.RegisterReaderHandler(f.name, func() io.Reader {
		if f.load == nil {
			return nil
		}
		return f.load
	})
	return f
}

// start runs the statement, which names the file, in a goroutine of its own.
func (f *infile) start(ctx context.Context, s *session, statement string) {
	// The statement outlives the call that began it.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	f.load = &load{ctx: ctx, cancel: cancel, pieces: make(chan []byte), free: make(chan []byte, 2)}
	go func() {
		rows, err := s.exec(ctx, statement)
		f.loaded <- loaded{rows, err}
	}()
}

// send hands a piece over and returns memory for the next, nil when there is
// none to be had again. After an error the load is over.
func (f *infile) send(ctx context.Context, piece []byte) ([]byte, error) {
	select {
	case f.load.pieces <- piece:
	case out := <-f.loaded:
		return nil, f.over(out)
	case <-ctx.Done():
		return nil, f.abort(ctx.Err())
	}
	select {
	case free := <-f.load.free:
		return free[:0], nil
	default:
		return nil, nil
	}
}

// finish ends the file and returns the number of rows that the server took.
func (f *infile) finish(ctx context.Context) (int64, error) {
	close(f.load.pieces)
	select {
	case out := <-f.loaded:
		f.load.cancel()
		f.load = nil
		return out.rows, out.err
	case <-ctx.Done():
		return 0, f.abort(ctx.Err())
	}
}

// over ends a load whose statement ended before its file did.
func (f *infile) over(out loaded) error {
	f.load.cancel()
	f.load = nil
	if out.err == nil {
		return errEarlyEnd
	}
	return out.err
}

// abort ends the statement, and with it the connection.
func (f *infile) abort(cause error) error {
	f.load.cancel()
	<-f.loaded
	f.load = nil
	return cause
}

// close ends what is under way; the file is gone then.
func (f *infile) close() {
	if f.load != nil {
		_ = f.abort(nil)
	}
	driver.DeregisterReaderHandler(f.name)
}

// Read implements io.Reader for the driver.
func (l *load) Read(p []byte) (int, error) {
	for len(l.current) == 0 {
		if l.whole != nil {
			select {
			case l.free <- l.whole:
			default:
			}
			l.whole = nil
		}
		select {
		case piece, more := <-l.pieces:
			if !more {
				return 0, io.EOF
			}
			l.current, l.whole = piece, piece
		case <-l.ctx.Done():
			return 0, l.ctx.Err()
		}
	}
	n := copy(p, l.current)
	l.current = l.current[n:]
	return n, nil
}

// errEarlyEnd is for a LOAD DATA that ends before its file does, with no error.
var errEarlyEnd = connector.Errorf(connector.Retryable, "LOAD DATA ended before its rows")
