package files

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"time"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/storage"
)

// probeSize is how much of a file's head and tail its identity holds a hash of.
const probeSize = 16 << 10

// Identity is what a file was when its splits were made.
type Identity struct {
	Path string `json:"path"`
	Size int64  `json:"size"`
	// Modified is the time of the last change in nanoseconds since 1970.
	Modified int64 `json:"modified"`
	// Head and Tail are hashes of the first and last 16 KiB.
	Head string `json:"head"`
	Tail string `json:"tail"`
}

// IdentifyFile tells what an open file is.
func IdentifyFile(f storage.File, path string) (Identity, error) {
	info, err := f.Stat()
	if err != nil {
		return Identity{}, err
	}
	id := Identity{Path: path, Size: info.Size(), Modified: info.ModTime().UnixNano()}
	if id.Head, err = hashAt(f, 0, id.Size); err != nil {
		return Identity{}, err
	}
	id.Tail, err = hashAt(f, max(0, id.Size-probeSize), id.Size)
	return id, err
}

func hashAt(f storage.File, offset, size int64) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(f, offset, min(probeSize, size-offset))); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}

// Check compares an open file with what it was. Another one is a Permanent error.
func (id Identity) Check(f storage.File) error {
	now, err := IdentifyFile(f, id.Path)
	if err != nil {
		return err
	}
	if now == id {
		return nil
	}
	what := "its content is another"
	switch {
	case now.Size != id.Size:
		what = id.otherSize(now.Size)
	case now.Head == id.Head && now.Tail == id.Tail:
		what = id.otherTime(now.Modified)
	}
	return id.Changed(what)
}

func (id Identity) otherSize(now int64) string {
	return fmt.Sprintf("it had %d bytes and has %d", id.Size, now)
}

// otherTime tells two times apart that may differ by less than a second.
func (id Identity) otherTime(now int64) string {
	return fmt.Sprintf("its time of change was %s and is %s", timeText(id.Modified), timeText(now))
}

// timeText is a time as touch -d takes it.
func timeText(nanoseconds int64) string {
	return time.Unix(0, nanoseconds).UTC().Format(time.RFC3339Nano)
}

// Changed is the error of a file that is no longer what it was.
func (id Identity) Changed(what string) error {
	return connector.Errorf(connector.Permanent,
		"%s has changed since the run began: %s; put the file back as it was, with its time of change too (cp -p, or touch -d '%s'), or begin anew with --restart",
		id.Path, what, timeText(id.Modified))
}

// ProveEnd returns io.EOF when the file is still the one it was.
func (id Identity) ProveEnd(f storage.File) error {
	info, err := f.Stat()
	switch {
	case err != nil:
		return connector.E(connector.Retryable, err)
	case info.Size() != id.Size:
		return id.Changed(id.otherSize(info.Size()))
	case info.ModTime().UnixNano() != id.Modified:
		return id.Changed(id.otherTime(info.ModTime().UnixNano()))
	}
	return io.EOF
}
