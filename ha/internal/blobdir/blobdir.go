// Package blobdir keeps blobs as files below one folder, local or shared: it
// implements ha.Blobs. A blob is written under a temporary name, synced, renamed,
// and its folder synced, so that a crash leaves it whole or not at all.
package blobdir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/internal/storage"
)

const (
	tempPrefix = ".tmp-"
	// tempAge is when a temporary file is left over rather than being written.
	tempAge = time.Hour
	// dirTries bounds how often a folder may be removed under our hands.
	dirTries = 10
)

// Blobs is a folder of blobs.
type Blobs struct {
	fs  storage.FS
	dir string
}

var _ ha.Blobs = (*Blobs)(nil)

// New returns the blobs below a folder, which is made when it is first needed.
func New(fsys storage.FS, dir string) *Blobs { return &Blobs{fs: fsys, dir: dir} }

// path checks a key and returns its file.
func (b *Blobs) path(key string) (string, error) {
	for name := range strings.SplitSeq(key, "/") {
		if name == "" || name == "." || name == ".." || strings.HasPrefix(name, tempPrefix) || strings.IndexFunc(name, odd) >= 0 {
			return "", fmt.Errorf("%.100q is no blob's key: %w", key, ha.ErrConfig)
		}
	}
	return filepath.Join(b.dir, filepath.FromSlash(key)), nil
}

func odd(r rune) bool {
	letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	return !letter && !strings.ContainsRune("._%-", r)
}

// Put implements ha.Blobs.
func (b *Blobs) Put(ctx context.Context, key string, data []byte) error {
	name, err := b.path(key)
	if err != nil {
		return err
	}
	for try := 1; ; try++ {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("write blob %s: %w", key, err)
		}
		err := b.put(name, data)
		// Who removes the last blob of a folder removes the folder.
		if errors.Is(err, fs.ErrNotExist) && try < dirTries {
			continue
		}
		if err != nil {
			return fmt.Errorf("write blob %s: %w", key, err)
		}
		return nil
	}
}

func (b *Blobs) put(name string, data []byte) error {
	dir := filepath.Dir(name)
	if err := storage.MakeDir(b.fs, dir); err != nil {
		return err
	}
	temp := filepath.Join(dir, tempPrefix+uuid.NewString())
	err := b.write(temp, data)
	if err == nil {
		err = b.fs.Rename(temp, name)
	}
	if err != nil {
		_ = b.fs.Remove(temp)
		return err
	}
	return b.fs.SyncDir(dir)
}

func (b *Blobs) write(name string, data []byte) error {
	f, err := b.fs.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	if len(data) > 0 {
		if _, err = f.Write(data); err == nil {
			err = f.Sync()
		}
	}
	return errors.Join(err, f.Close())
}

// Get implements ha.Blobs.
func (b *Blobs) Get(ctx context.Context, key string) ([]byte, error) {
	name, err := b.path(key)
	if err == nil {
		err = ctx.Err()
	}
	var data []byte
	if err == nil {
		data, err = storage.ReadFile(b.fs, name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = ha.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read blob %s: %w", key, err)
	}
	return data, nil
}

// Delete implements ha.Blobs.
func (b *Blobs) Delete(ctx context.Context, key string) error {
	name, err := b.path(key)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = b.fs.Remove(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("delete blob %s: %w", key, err)
	}
	b.removeEmpty(filepath.Dir(name))
	return nil
}

// removeEmpty removes a folder and those above it that hold nothing. One that
// holds something refuses, which is what ends it.
func (b *Blobs) removeEmpty(dir string) {
	for len(dir) > len(b.dir) && b.fs.Remove(dir) == nil {
		dir = filepath.Dir(dir)
	}
}

// List implements ha.Blobs.
func (b *Blobs) List(ctx context.Context, folder string) ([]ha.BlobInfo, error) {
	name, err := b.path(folder)
	if err != nil {
		return nil, err
	}
	blobs, err := b.list(ctx, name, folder, nil)
	if err != nil {
		return nil, fmt.Errorf("list blobs of %s: %w", folder, err)
	}
	slices.SortFunc(blobs, func(x, y ha.BlobInfo) int { return strings.Compare(x.Key, y.Key) })
	return blobs, nil
}

func (b *Blobs) list(ctx context.Context, dir, key string, blobs []ha.BlobInfo) ([]ha.BlobInfo, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	entries, err := b.fs.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return blobs, nil
	}
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		name, inner := filepath.Join(dir, entry.Name()), key+"/"+entry.Name()
		if entry.IsDir() {
			if blobs, err = b.list(ctx, name, inner, blobs); err != nil {
				return nil, err
			}
			continue
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		}
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(entry.Name(), tempPrefix) {
			if time.Since(info.ModTime()) > tempAge {
				_ = b.fs.Remove(name)
			}
			continue
		}
		blobs = append(blobs, ha.BlobInfo{Key: inner, Size: info.Size(), Modified: info.ModTime()})
	}
	return blobs, nil
}
