package memstore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/leatdata/leat/ha"
)

// Blobs keeps blobs in memory.
type Blobs struct {
	mu    sync.Mutex
	blobs map[string]blob
}

type blob struct {
	data     []byte
	modified time.Time
}

var _ ha.Blobs = (*Blobs)(nil)

// NewBlobs returns an empty one.
func NewBlobs() *Blobs { return &Blobs{blobs: map[string]blob{}} }

// Put implements ha.Blobs.
func (b *Blobs) Put(ctx context.Context, key string, data []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("write blob %s: %w", key, err)
	}
	b.blobs[key] = blob{data: slices.Clone(data), modified: time.Now()}
	return nil
}

// Get implements ha.Blobs.
func (b *Blobs) Get(_ context.Context, key string) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	found, ok := b.blobs[key]
	if !ok {
		return nil, fmt.Errorf("read blob %s: %w", key, ha.ErrNotFound)
	}
	return slices.Clone(found.data), nil
}

// Delete implements ha.Blobs.
func (b *Blobs) Delete(_ context.Context, key string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.blobs, key)
	return nil
}

// List implements ha.Blobs.
func (b *Blobs) List(_ context.Context, folder string) ([]ha.BlobInfo, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []ha.BlobInfo
	for _, key := range slices.Sorted(maps.Keys(b.blobs)) {
		if strings.HasPrefix(key, folder+"/") {
			all = append(all, ha.BlobInfo{Key: key, Size: int64(len(b.blobs[key].data)), Modified: b.blobs[key].modified})
		}
	}
	return all, nil
}
