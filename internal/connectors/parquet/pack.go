package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/connectors/parquet/format"
)

// pack is a row group as it stands in a file, and behind it the metadata that
// the footer needs of it, which readers pass over. So the footer can be made
// of the packs that were recorded, wherever they came to stand:
//
//	row group | its metadata | trailer
//
// with offsets as if the row group followed a file's first four bytes.
type pack struct {
	start int
	group format.RowGroup
}

// The trailer: lengths of the row group and of the metadata, a tag of the
// schema, the metadata's checksum, and a mark.
const (
	trailerSize = 8 + 4 + 4 + 4 + 4
	packMark    = "LTrg"
)

var errPack = errors.New("what stands at the end of a row group is not what was written there: begin anew with --restart")

// append appends what follows the row group that dst ends with.
func (p *pack) append(dst []byte, tag uint32) []byte {
	rows := len(dst) - p.start
	at := len(dst)
	dst = format.AppendRowGroup(dst, &p.group)
	meta := dst[at:]
	sum := crc32.ChecksumIEEE(meta)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(rows))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(meta)))
	dst = binary.LittleEndian.AppendUint32(dst, tag)
	dst = binary.LittleEndian.AppendUint32(dst, sum)
	return append(dst, packMark...)
}

// readPacks returns the row groups of a file's segment, in order, with their
// offsets in the file.
func readPacks(file io.ReaderAt, seg connector.Segment, tag uint32) ([]format.RowGroup, error) {
	var groups []format.RowGroup
	for end := seg.Offset + seg.Length; end > seg.Offset; {
		g, start, err := readPack(file, seg.Offset, end, tag)
		if err != nil {
			return nil, fmt.Errorf("the segment at byte %d: %w", seg.Offset, err)
		}
		groups = append(groups, g)
		end = start
	}
	slices.Reverse(groups)
	return groups, nil
}

// readPack reads the pack that ends at a byte and begins at first or after it.
func readPack(file io.ReaderAt, first, end int64, tag uint32) (format.RowGroup, int64, error) {
	var trailer [trailerSize]byte
	if end-first < trailerSize {
		return format.RowGroup{}, 0, errPack
	}
	if err := readFull(file, trailer[:], end-trailerSize); err != nil {
		return format.RowGroup{}, 0, err
	}
	rows := binary.LittleEndian.Uint64(trailer[:])
	size := int64(binary.LittleEndian.Uint32(trailer[8:]))
	left := end - first - trailerSize
	if string(trailer[20:]) != packMark || size > left || rows > uint64(left-size) || binary.LittleEndian.Uint32(trailer[12:]) != tag {
		return format.RowGroup{}, 0, errPack
	}
	meta := make([]byte, size)
	if err := readFull(file, meta, end-trailerSize-size); err != nil {
		return format.RowGroup{}, 0, err
	}
	if crc32.ChecksumIEEE(meta) != binary.LittleEndian.Uint32(trailer[16:]) {
		return format.RowGroup{}, 0, errPack
	}
	g, err := format.ParseRowGroup(meta)
	if err != nil {
		return g, 0, err
	}
	start := end - trailerSize - size - int64(rows)
	g.Move(start - int64(len(format.Magic)))
	return g, start, nil
}

func readFull(r io.ReaderAt, p []byte, at int64) error {
	n, err := r.ReadAt(p, at)
	if n == len(p) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return err
}
