package records

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
)

// pointer is what the coordination store holds of a blob.
type pointer struct {
	// ID orders the pointers of one list.
	ID     uint64 `json:"id"`
	Blob   string `json:"blob"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// pointers is the value of a record that points to blobs, oldest first.
type pointers struct {
	Kept []pointer `json:"kept"`
}

func decodePointers(r coord.Record) (pointers, error) {
	var p pointers
	if err := json.Unmarshal(r.Value, &p); err != nil || len(p.Kept) == 0 {
		return pointers{}, fmt.Errorf("pointer %s holds %.60q: %w", r.Key, r.Value, ha.ErrCorrupt)
	}
	return p, nil
}

func (p pointers) encode() []byte {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // numbers and strings
	}
	return text
}

// find returns the pointer with an id.
func (p pointers) find(id uint64) (pointer, bool) {
	for _, k := range p.Kept {
		if k.ID == id {
			return k, true
		}
	}
	return pointer{}, false
}

func (p pointers) has(blob string) bool {
	for _, k := range p.Kept {
		if k.Blob == blob {
			return true
		}
	}
	return false
}

// newPointer names a blob for data. The name tells its order and who wrote it,
// and is never used twice.
func newPointer(key coord.Key, id uint64, term ha.Term, data []byte) pointer {
	name := fmt.Sprintf("%020d-%013d-%s", id, term.Epoch, uuid.NewString()[:8])
	return pointer{ID: id, Blob: key.String() + "/" + name, Size: int64(len(data)), SHA256: sumOf(data)}
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// parseBlob reads what newPointer has put into a name.
func parseBlob(key string) (id uint64, epoch ha.Epoch, ok bool) {
	parts := strings.Split(key[strings.LastIndexByte(key, '/')+1:], "-")
	if len(parts) != 3 {
		return 0, 0, false
	}
	id, err := strconv.ParseUint(parts[0], 10, 64)
	e, err2 := strconv.ParseUint(parts[1], 10, 64)
	return id, ha.Epoch(e), err == nil && err2 == nil
}

// load reads the blob of a pointer, and judges it.
func load(ctx context.Context, blobs ha.Blobs, p pointer) ([]byte, error) {
	data, err := blobs.Get(ctx, p.Blob)
	if errors.Is(err, ha.ErrNotFound) {
		return nil, fmt.Errorf("blob %s, which is pointed to, is missing: %w", p.Blob, ha.ErrCorrupt)
	}
	if err != nil {
		return nil, fmt.Errorf("read blob %s: %w", p.Blob, err)
	}
	if int64(len(data)) != p.Size || sumOf(data) != p.SHA256 {
		return nil, fmt.Errorf("blob %s has %d bytes with sum %.8s, its pointer says %d bytes with sum %.8s: %w",
			p.Blob, len(data), sumOf(data), p.Size, p.SHA256, ha.ErrCorrupt)
	}
	return data, nil
}
