package ha

import (
	"context"
	"time"
)

// Blobs keeps large things by key, on storage that all masters share: the
// coordination store holds only pointers. A key is a path of names separated
// by slashes, each of letters, digits, '.', '_', '%' and '-', none of them "." or
// "..". All methods may be called concurrently. Object stores can implement it:
// it asks for nothing but whole objects.
type Blobs interface {
	// Put stores data under a key, replacing what was there: whole and durable
	// when it returns nil, and never half. It keeps no reference to data.
	Put(ctx context.Context, key string, data []byte) error
	// Get returns the data, the caller's own; ErrNotFound: there is none.
	Get(ctx context.Context, key string) ([]byte, error)
	// Delete removes a key; that there is none is no error.
	Delete(ctx context.Context, key string) error
	// List returns all keys that begin with a folder's name and a slash, in their
	// order. No such folder: none.
	List(ctx context.Context, folder string) ([]BlobInfo, error)
}

// BlobInfo is a key and what is known of it without reading.
type BlobInfo struct {
	Key      string
	Size     int64
	Modified time.Time
}
