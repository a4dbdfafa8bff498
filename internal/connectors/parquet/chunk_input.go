package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/internal/connectors/parquet/format"
)

// chunkInput reads a column's part of a row group from its start to its end.
type chunkInput struct {
	file     io.ReaderAt
	at, end  int64 // in the file, of what is not in buf
	buf      []byte
	pos      int
	readSize int
}

func (in *chunkInput) reset(file io.ReaderAt, start, end int64, readSize int) {
	in.file, in.at, in.end, in.readSize = file, start, end, readSize
	in.buf, in.pos = in.buf[:0], 0
}

// left is how many bytes are not taken.
func (in *chunkInput) left() int64 { return in.end - in.at + int64(len(in.buf)-in.pos) }

// peek returns the next n bytes, or all that are left. They stay valid until
// the next call.
func (in *chunkInput) peek(n int) ([]byte, error) {
	n = int(min(int64(n), in.left()))
	have := len(in.buf) - in.pos
	if have >= n {
		return in.buf[in.pos : in.pos+n], nil
	}
	want := int(min(int64(max(n, in.readSize)), in.left()))
	if cap(in.buf) < want {
		in.buf = batch.Grow(in.buf[in.pos:len(in.buf):len(in.buf)], want)
	} else {
		copy(in.buf, in.buf[in.pos:])
		in.buf = in.buf[:have]
	}
	in.pos = 0
	m, err := in.file.ReadAt(in.buf[have:want], in.at)
	in.buf = in.buf[:have+m]
	in.at += int64(m)
	if len(in.buf) >= n {
		return in.buf[:n], nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return nil, err
}

// skip takes n bytes, and lets a huge page's memory go.
func (in *chunkInput) skip(n int) {
	in.pos += n
	if n >= batch.Huge {
		in.buf, in.pos = bytes.Clone(in.buf[in.pos:]), 0
	}
}

// header takes a page's header.
func (in *chunkInput) header() (format.PageHeader, error) {
	for n := 256; ; n *= 4 {
		data, err := in.peek(n)
		if err != nil {
			return format.PageHeader{}, err
		}
		h, size, err := format.ParsePageHeader(data)
		if err == nil {
			in.skip(size)
			if int64(h.Compressed) > in.left() {
				return h, fmt.Errorf("a page of %d bytes does not fit into what is left of its column, %d bytes", h.Compressed, in.left())
			}
			return h, nil
		}
		if int64(n) >= in.left() || n >= 1<<20 {
			return h, err
		}
	}
}
