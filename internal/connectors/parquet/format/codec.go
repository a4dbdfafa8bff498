package format

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/leatdata/leat/batch"
)

// Codec is how pages are compressed.
type Codec int32

// The compressions.
const (
	Uncompressed Codec = 0
	Snappy       Codec = 1
	Gzip         Codec = 2
	LZO          Codec = 3
	Brotli       Codec = 4
	LZ4Hadoop    Codec = 5
	Zstd         Codec = 6
	LZ4          Codec = 7
)

// String returns the compression's name.
func (c Codec) String() string {
	names := [...]string{"none", "snappy", "gzip", "lzo", "brotli", "lz4 (as Hadoop frames it)", "zstd", "lz4"}
	if c >= 0 && int(c) < len(names) {
		return names[c]
	}
	return fmt.Sprintf("number %d", int32(c))
}

const (
	// maxPage bounds a page's uncompressed size.
	maxPage = 1 << 30
	// smallPage is what is believed of any page's size.
	smallPage = 1 << 20
)

var errPageSize = errors.New("a page is not as long as it claims")

// Decompressor decompresses pages. It belongs to one goroutine; Close lets go
// what it holds.
type Decompressor struct {
	zstd   *zstd.Decoder
	gzip   *gzip.Reader
	brotli *brotli.Reader
	src    bytes.Reader
}

// Close ends the use of the decompressor.
func (d *Decompressor) Close() {
	if d.zstd != nil {
		d.zstd.Close()
		d.zstd = nil
	}
}

// Decompress returns a page of size bytes, in dst's memory where that is
// enough. It makes no more room than the compression could fill.
func (d *Decompressor) Decompress(c Codec, dst, src []byte, size int) ([]byte, error) {
	if size > maxPage {
		return nil, fmt.Errorf("a page of %d bytes is larger than %d", size, maxPage)
	}
	var err error
	switch c {
	case Uncompressed:
		if size != len(src) {
			return nil, errPageSize
		}
		return append(dst[:0], src...), nil
	case Snappy:
		dst, err = decodeSnappy(dst, src, size)
	case Gzip:
		dst, err = d.gunzip(dst, src, size)
	case Zstd:
		dst, err = d.unzstd(dst, src, size)
	case Brotli:
		dst, err = d.unbrotli(dst, src, size)
	case LZ4:
		dst, err = decodeLZ4(dst, src, size)
	default:
		return nil, fmt.Errorf("the compression %s is not supported: have the file written with zstd, snappy, gzip, brotli, lz4_raw or none", c)
	}
	if err != nil {
		return nil, fmt.Errorf("decompress a page with %s: %w", c, err)
	}
	if len(dst) != size {
		return nil, errPageSize
	}
	return dst, nil
}

// room returns dst, empty, with room for size bytes, where the compressed ones
// are enough for that.
func room(dst []byte, size, compressed, ratio int) ([]byte, error) {
	if size > smallPage && size/ratio > compressed+1 {
		return nil, errPageSize
	}
	switch {
	case cap(dst) > size: // not nil either, for those who take its address
	case size < batch.Huge:
		dst = make([]byte, 0, size+size/8+1)
	default:
		dst = batch.Grow(nil, size+1)
	}
	return dst[:0], nil
}

func decodeSnappy(dst, src []byte, size int) ([]byte, error) {
	if n, err := snappy.DecodedLen(src); err != nil || n != size {
		return nil, errors.Join(err, errPageSize)
	}
	const ratio = 64 / 2 // of a copy, and the bytes that tell of it
	dst, err := room(dst, size, len(src), ratio)
	if err != nil {
		return nil, err
	}
	return snappy.Decode(dst[:size], src)
}

func (d *Decompressor) gunzip(dst, src []byte, size int) ([]byte, error) {
	const ratio = 1032
	dst, err := room(dst, size, len(src), ratio)
	if err != nil {
		return nil, err
	}
	d.src.Reset(src)
	if d.gzip == nil {
		d.gzip, err = gzip.NewReader(&d.src)
	} else {
		err = d.gzip.Reset(&d.src)
	}
	if err != nil {
		return nil, err
	}
	return readPage(dst, d.gzip, size)
}

func decodeLZ4(dst, src []byte, size int) ([]byte, error) {
	const ratio = 255
	dst, err := room(dst, size, len(src), ratio)
	if err != nil {
		return nil, err
	}
	n, err := lz4.UncompressBlock(src, dst[:size])
	if err != nil {
		return nil, err
	}
	return dst[:n], nil
}

func (d *Decompressor) unbrotli(dst, src []byte, size int) ([]byte, error) {
	d.src.Reset(src)
	if d.brotli == nil {
		d.brotli = brotli.NewReader(&d.src)
	} else if err := d.brotli.Reset(&d.src); err != nil {
		return nil, err
	}
	return readPage(dst[:0], d.brotli, size)
}

// readPage reads size bytes, and finds the end behind them.
func readPage(dst []byte, r io.Reader, size int) ([]byte, error) {
	for {
		if len(dst) == cap(dst) {
			dst = append(dst, 0)[:len(dst)]
		}
		n, err := r.Read(dst[len(dst):min(cap(dst), max(size, len(dst))+1)])
		dst = dst[:len(dst)+n]
		switch {
		case errors.Is(err, io.EOF):
			return dst, nil
		case err != nil:
			return nil, err
		case len(dst) > size:
			return nil, errPageSize
		}
	}
}

func (d *Decompressor) unzstd(dst, src []byte, size int) ([]byte, error) {
	if d.zstd == nil {
		var err error
		d.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxPage), zstd.WithDecoderMaxMemory(maxPage))
		if err != nil {
			return nil, err
		}
	}
	var head zstd.Header
	if err := head.Decode(src); err != nil {
		return nil, err
	}
	if head.HasFCS && head.FrameContentSize > uint64(size) {
		return nil, errPageSize
	}
	const ratio = 64 // more is rare, and is read step by step
	if dst2, err := room(dst, size, len(src), ratio); err == nil {
		return d.zstd.DecodeAll(src, dst2)
	}
	d.src.Reset(src)
	if err := d.zstd.Reset(&d.src); err != nil {
		return nil, err
	}
	return readPage(dst[:0], d.zstd, size)
}

// Compressor compresses pages. It belongs to one goroutine.
type Compressor struct {
	codec Codec
	zstd  *zstd.Encoder
	gzip  *gzip.Writer
	out   appender // gzip's, while a page is compressed
}

// Most is the most bytes that Compress appends for a page of so many.
func (c *Compressor) Most(page int) int {
	switch c.codec {
	case Uncompressed:
		return page
	case Snappy:
		return max(page, snappy.MaxEncodedLen(page))
	}
	return page + page/1024 + 64
}

// appender is memory that is written to.
type appender []byte

// Write implements io.Writer.
func (a *appender) Write(p []byte) (int, error) {
	*a = append(*a, p...)
	return len(p), nil
}

// NewCompressor returns a compressor of Uncompressed, Snappy, Gzip or Zstd.
func NewCompressor(c Codec) *Compressor { return &Compressor{codec: c} }

// Compress appends the compressed page.
func (c *Compressor) Compress(dst, page []byte) ([]byte, error) {
	switch c.codec {
	case Uncompressed:
		return append(dst, page...), nil
	case Snappy:
		n := len(dst)
		most := snappy.MaxEncodedLen(len(page))
		if most < 0 {
			return nil, errPageSize
		}
		if cap(dst)-n < most {
			dst = append(dst, make([]byte, most)...)[:n]
		}
		return dst[:n+len(snappy.Encode(dst[n:n+most], page))], nil
	case Gzip:
		c.out = dst
		if c.gzip == nil {
			c.gzip = gzip.NewWriter(&c.out)
		}
		c.gzip.Reset(&c.out)
		if _, err := c.gzip.Write(page); err != nil {
			return nil, err
		}
		if err := c.gzip.Close(); err != nil {
			return nil, err
		}
		dst, c.out = c.out, nil
		return dst, nil
	case Zstd:
		if c.zstd == nil {
			var err error
			c.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20), zstd.WithEncoderCRC(false))
			if err != nil {
				return nil, err
			}
		}
		return c.zstd.EncodeAll(page, dst), nil
	}
	return nil, fmt.Errorf("the compression %s is not supported", c.codec)
}
