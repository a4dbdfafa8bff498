package records

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
)

// list is a record that points to blobs in a folder of its own, named alike: the
// newest few of them. A blob is written before its pointer and removed after it,
// so that a pointer never points to nothing; what that leaves over when a
// process dies is swept.
type list struct {
	b    *Base
	key  coord.Key
	keep int

	// turn lets one add, sweep or discard run at a time.
	turn turn
	// swept, of whose turn it is, is the term under which left-over blobs were last
	// removed; doubtful says that there may be new ones since.
	swept    ha.Term
	doubtful atomic.Bool
}

func (b *Base) listOf(folder, name string, keep int) *list {
	return b.listAt(coord.Key{Folder: folder, Name: coord.Escape(name)}, keep)
}

func (b *Base) listAt(key coord.Key, keep int) *list {
	b.mu.Lock()
	defer b.mu.Unlock()
	l, ok := b.lists[key]
	if !ok {
		l = &list{b: b, key: key, keep: keep, turn: newTurn()}
		b.lists[key] = l
	}
	return l
}

// read returns the pointers; ErrNotFound: there is no record.
func (l *list) read(ctx context.Context) (pointers, error) {
	record, err := l.b.get(ctx, l.key)
	if err != nil {
		return pointers{}, fmt.Errorf("read %s: %w", l.key, err)
	}
	return decodePointers(record)
}

// add stores data under an id that is higher than all others; the same id again
// with the same data is no error.
func (l *list) add(ctx context.Context, term ha.Term, id uint64, data []byte) error {
	if err := l.turn.take(ctx); err != nil {
		return fmt.Errorf("store %s: %w", l.key, err)
	}
	defer l.turn.done()
	if err := l.extend(ctx, term, newPointer(l.key, id, term, data), data); err != nil {
		return fmt.Errorf("store %s: %w", l.key, err)
	}
	return nil
}

// put replaces what the list points to; the same data again is no error.
func (l *list) put(ctx context.Context, term ha.Term, data []byte) error {
	if err := l.turn.take(ctx); err != nil {
		return fmt.Errorf("store %s: %w", l.key, err)
	}
	defer l.turn.done()
	now, err := l.read(ctx)
	if err != nil && !errors.Is(err, ha.ErrNotFound) {
		return err
	}
	id := uint64(1)
	if err == nil {
		last, _ := newest(now)
		if last.SHA256 == sumOf(data) {
			return l.mirror(ctx, term, now, false)
		}
		id = last.ID + 1
	}
	if err := l.extend(ctx, term, newPointer(l.key, id, term, data), data); err != nil {
		return fmt.Errorf("store %s: %w", l.key, err)
	}
	return nil
}

// extend stores a blob, then the pointer to it. It is the caller's turn.
func (l *list) extend(ctx context.Context, term ha.Term, added pointer, data []byte) error {
	if err := l.b.blobs.Put(ctx, added.Blob, data); err != nil {
		return err
	}
	var stands pointers
	var dropped []pointer
	doubtful, err := l.b.change(ctx, term, l.key, func(old []byte) (_ []byte, err error) {
		if stands, err = l.decode(old); err != nil {
			return nil, err
		}
		if same, ok := stands.find(added.ID); ok {
			if same.SHA256 != added.SHA256 {
				return nil, fmt.Errorf("%d is there already, with other data: %w", added.ID, ha.ErrConflict)
			}
			return nil, errUnchanged
		}
		if n := len(stands.Kept); n > 0 && stands.Kept[n-1].ID > added.ID {
			return nil, fmt.Errorf("%d is not above the newest, %d: %w", added.ID, stands.Kept[n-1].ID, ha.ErrConflict)
		}
		kept := append(stands.Kept, added)
		cut := max(0, len(kept)-l.keep)
		dropped, stands = kept[:cut], pointers{Kept: kept[cut:]}
		return stands.encode(), nil
	})
	used := err == nil && stands.has(added.Blob)
	switch {
	case doubtful || errors.Is(err, ha.ErrFenced):
		// The pointer may be there or come: the blob stays for a sweep.
		l.doubtful.Store(true)
	case !used:
		l.removeUnused(term, added)
	}
	if err != nil {
		return err
	}
	if err := l.mirror(ctx, term, stands, used); err != nil {
		l.doubtful.Store(true) // what was dropped is left over too
		return err
	}
	l.remove(dropped...)
	l.sweepLater(term)
	return nil
}

// decode reads an old value; a pointer that cannot be read stays as it is.
func (l *list) decode(old []byte) (pointers, error) {
	if old == nil {
		return pointers{}, nil
	}
	return decodePointers(coord.Record{Key: l.key, Value: old})
}

// remove deletes blobs that nothing points to, later.
func (l *list) remove(unused ...pointer) {
	if len(unused) == 0 {
		return
	}
	l.b.background("remove blobs of "+l.key.String(), func(ctx context.Context) error {
		var errs []error
		for _, p := range unused {
			errs = append(errs, l.b.blobs.Delete(ctx, p.Blob))
		}
		err := errors.Join(errs...)
		if err != nil {
			l.doubtful.Store(true)
		}
		return err
	})
}

// removeUnused deletes a blob that was written for nothing, later, and only if
// nobody has come to point to it.
func (l *list) removeUnused(term ha.Term, unused pointer) {
	l.b.background("remove unused blob of "+l.key.String(), func(ctx context.Context) error {
		record, exists, err := l.b.proven(ctx, term, l.key)
		now := pointers{}
		if err == nil && exists {
			now, err = decodePointers(record)
		}
		if err != nil {
			l.doubtful.Store(true)
			return err
		}
		if now.has(unused.Blob) {
			return nil
		}
		return l.b.blobs.Delete(ctx, unused.Blob)
	})
}

// sweepLater removes what was left over, after a write under the term has
// succeeded: the record has changed since any older write whose outcome was not
// known, so none of those can still be carried out. It is the caller's turn.
func (l *list) sweepLater(term ha.Term) {
	if l.swept == term && !l.doubtful.Load() {
		return
	}
	l.swept = term
	l.doubtful.Store(false)
	l.b.background("sweep "+l.key.String(), func(ctx context.Context) error {
		if err := l.turn.take(ctx); err != nil {
			return err
		}
		defer l.turn.done()
		err := l.sweep(ctx, term)
		if err != nil {
			l.doubtful.Store(true)
		}
		return err
	})
}

// sweep proves of each blob that nothing points to it, and removes it. One of a
// higher epoch is somebody else's. It is the caller's turn.
func (l *list) sweep(ctx context.Context, term ha.Term) error {
	blobs, err := l.b.blobs.List(ctx, l.key.String())
	if err != nil {
		return err
	}
	record, exists, err := l.b.proven(ctx, term, l.key)
	if err != nil || !exists {
		return err // without a record, discard removes them
	}
	now, err := decodePointers(record)
	if err != nil {
		return err
	}
	for _, blob := range blobs {
		_, epoch, ok := parseBlob(blob.Key)
		if !ok || epoch > term.Epoch || now.has(blob.Key) {
			continue
		}
		if err := l.b.blobs.Delete(ctx, blob.Key); err != nil {
			return err
		}
	}
	return nil
}

// load reads one that is pointed to. While it is read it may be replaced: then
// choose is asked again.
func (l *list) load(ctx context.Context, choose func(pointers) (pointer, bool)) (pointer, []byte, error) {
	var last pointer
	for {
		now, err := l.read(ctx)
		if err != nil {
			return pointer{}, nil, err
		}
		p, ok := choose(now)
		if !ok {
			return pointer{}, nil, fmt.Errorf("read %s: %w", l.key, ha.ErrNotFound)
		}
		data, err := load(ctx, l.b.blobs, p)
		if err == nil || p == last {
			return p, data, err
		}
		last = p
	}
}

// discard removes the record, then all its blobs.
func (l *list) discard(ctx context.Context, term ha.Term) error {
	if err := l.turn.take(ctx); err != nil {
		return fmt.Errorf("remove %s: %w", l.key, err)
	}
	defer l.turn.done()
	_, err := l.b.change(ctx, term, l.key, func([]byte) ([]byte, error) { return nil, nil })
	if err != nil {
		return fmt.Errorf("remove %s: %w", l.key, err)
	}
	// First what would bring it back.
	if err := l.b.forgetMirrors(ctx, l.key, term.Epoch); err != nil {
		return fmt.Errorf("remove mirrors of %s: %w", l.key, err)
	}
	blobs, err := l.b.blobs.List(ctx, l.key.String())
	for _, blob := range blobs {
		// A newer leader may have begun to write here.
		if _, epoch, ok := parseBlob(blob.Key); err == nil && ok && epoch <= term.Epoch {
			err = l.b.blobs.Delete(ctx, blob.Key)
		}
	}
	if err != nil {
		return fmt.Errorf("remove blobs of %s: %w", l.key, err)
	}
	return nil
}

// newest is a choice for load.
func newest(p pointers) (pointer, bool) { return p.Kept[len(p.Kept)-1], true }
