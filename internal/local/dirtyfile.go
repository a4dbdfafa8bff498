package local

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"

	"github.com/leatdata/leat/internal/storage"
)

// dirtyFile is a file of dirty records that the job has written, as the state
// remembers it. Its content tells it from what others have put there since.
type dirtyFile struct {
	Path string   `json:"path"`
	Mark fileMark `json:"mark"`
}

// fileMark tells a file's content.
type fileMark struct {
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// dirtyFilesKept bounds the files that are remembered of a job whose
// errors.dirty changes, with the date for instance.
const dirtyFilesKept = 16

// wroteDirty reports whether the job has written a file of that content there.
func (d *jobState) wroteDirty(path string, mark fileMark) bool {
	return slices.Contains(d.DirtyFiles, dirtyFile{Path: path, Mark: mark})
}

// keepDirty remembers a file, and forgets what stood there before.
func (d *jobState) keepDirty(f dirtyFile) {
	d.DirtyFiles = slices.DeleteFunc(d.DirtyFiles, func(g dirtyFile) bool { return g.Path == f.Path })
	d.DirtyFiles = append(d.DirtyFiles, f)
	d.DirtyFiles = d.DirtyFiles[max(0, len(d.DirtyFiles)-dirtyFilesKept):]
}

// fileSum is a writer that makes the mark of what goes through it.
type fileSum struct {
	w    io.Writer
	size int64
	sum  hash.Hash
}

func newFileSum(w io.Writer) *fileSum { return &fileSum{w: w, sum: sha256.New()} }

// Write implements io.Writer.
func (s *fileSum) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	s.size += int64(n)
	_, _ = s.sum.Write(p[:n])
	return n, err
}

func (s *fileSum) mark() fileMark {
	return fileMark{Size: s.size, SHA256: hex.EncodeToString(s.sum.Sum(nil))}
}

// errNoFile says that a name is a folder, a device or the like.
var errNoFile = errors.New("no file")

// markOf reads the mark of a file.
func markOf(fsys storage.FS, name string) (fileMark, error) {
	info, err := fsys.Stat(name)
	if err != nil {
		return fileMark{}, err
	}
	if !info.Mode().IsRegular() {
		return fileMark{}, errNoFile
	}
	f, err := fsys.Open(name)
	if err != nil {
		return fileMark{}, err
	}
	defer func() { _ = f.Close() }()
	sum := newFileSum(io.Discard)
	if _, err := io.Copy(sum, f); err != nil {
		return fileMark{}, fmt.Errorf("read %s: %w", name, err)
	}
	return sum.mark(), nil
}
