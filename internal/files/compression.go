package files

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Compression is how a file's text is stored.
type Compression string

// The compressions.
const (
	Plain Compression = "none"
	Gzip  Compression = "gzip"
	Zstd  Compression = "zstd"
)

// Suffix returns the ending that the compression adds to a file's name.
func (c Compression) Suffix() string {
	switch c {
	case Gzip:
		return ".gz"
	case Zstd:
		return ".zst"
	default:
		return ""
	}
}

// CompressionOf finds a name's compression by its suffix.
func CompressionOf(name string) Compression {
	for _, c := range []Compression{Gzip, Zstd} {
		if strings.HasSuffix(name, c.Suffix()) {
			return c
		}
	}
	return Plain
}

// Detect finds a file's compression by its first bytes, Plain where they show none.
func Detect(head []byte) Compression {
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return Gzip
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return Zstd
	}
	return Plain
}

// detect finds a file's compression: what the option says, or else what its
// first bytes show, or else what its name says.
func detect(option, name string, head []byte) Compression {
	if option != "" && option != "auto" {
		return Compression(option)
	}
	if c := Detect(head); c != Plain {
		return c
	}
	return CompressionOf(name)
}

// reader returns the text of what r holds. Its io.EOF means that each member
// or frame was whole and its checksum right.
func (c Compression) reader(r io.Reader) (io.Reader, error) {
	switch c {
	case Gzip:
		z, err := gzip.NewReader(r)
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF // an empty file is no gzip file
		}
		return z, err
	case Zstd:
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(1<<30))
		if err != nil {
			return nil, err
		}
		return z.IOReadCloser(), nil
	default:
		return r, nil
	}
}

// compressor writes members or frames. Each is whole once end has returned.
type compressor interface {
	io.Writer
	// Close ends the member.
	Close() error
	// Reset begins the next one.
	Reset(w io.Writer)
}

// writer returns a compressor into w, or nil for Plain.
func (c Compression) writer(w io.Writer) (compressor, error) {
	switch c {
	case Gzip:
		return gzip.NewWriter(w), nil
	case Zstd:
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	case Plain, "":
		return nil, nil
	default:
		return nil, fmt.Errorf("unknown compression %q", c)
	}
}
