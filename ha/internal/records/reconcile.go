package records

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
)

// The cluster's uuid, in the store and beside the blobs.
const uuidBlob = coord.Cluster + "/uuid"

func uuidKey() coord.Key { return coord.Key{Folder: coord.Cluster, Name: "uuid"} }

// copyOf is where a result's copy is kept.
func copyOf(key coord.Key, term ha.Term) string {
	return fmt.Sprintf("%s/%020d-%013d-copy", key, 1, term.Epoch)
}

func (b *Base) forgetCopies(ctx context.Context, key coord.Key, term ha.Term) error {
	blobs, err := b.blobs.List(ctx, key.String())
	for _, blob := range blobs {
		if _, epoch, ok := parseBlob(blob.Key); err == nil && ok && epoch <= term.Epoch {
			err = b.blobs.Delete(ctx, blob.Key)
		}
	}
	return err
}

// Reconcile is run by each take-over before anybody leads: it compares the store
// with the shared storage. A store that is empty, or older than the number of
// the epoch says, has been deleted or restored: what the storage has more is
// brought back. A store of another cluster is refused. It can be cut off at any
// point and run again.
func (b *Base) Reconcile(ctx context.Context, s coord.Session, term ha.Term, stored ha.Epoch) error {
	r := reconciler{b: b, s: s, term: term}
	same, err := r.identify(ctx)
	if err != nil {
		return fmt.Errorf("compare store and storage: %w", err)
	}
	if same && term.Epoch == stored+1 {
		b.sweepLater(term)
		return nil
	}
	b.logger.Warn("store was deleted or restored: bringing back what the storage has", "epoch", term.Epoch)
	if err := r.bringBack(ctx); err != nil {
		return fmt.Errorf("bring back from storage: %w", err)
	}
	if err := r.setUUID(ctx); err != nil {
		return err
	}
	b.sweepLater(term)
	return nil
}

type reconciler struct {
	b    *Base
	s    coord.Session
	term ha.Term
	uuid []byte // to be stored, unless nil
}

// identify compares the uuids; true: the store has one already.
func (r *reconciler) identify(ctx context.Context) (bool, error) {
	inStorage, errStorage := r.b.blobs.Get(ctx, uuidBlob)
	if errStorage != nil && !errors.Is(errStorage, ha.ErrNotFound) {
		return false, errStorage
	}
	record, errStore := r.s.Get(ctx, uuidKey())
	if errStore != nil && !errors.Is(errStore, ha.ErrNotFound) {
		return false, errStore
	}
	switch {
	case errStore != nil && errStorage != nil:
		inStorage = []byte(uuid.NewString())
		if err := r.b.blobs.Put(ctx, uuidBlob, inStorage); err != nil {
			return false, err
		}
		r.uuid = inStorage
		return false, nil
	case errStore != nil:
		r.uuid = inStorage
		return false, nil
	case errStorage != nil:
		return false, fmt.Errorf("the storage is empty, but the store belongs to cluster %.60s: "+
			"check high-availability.storageDir, or remove the cluster from the store: %w", record.Value, ha.ErrConfig)
	case string(inStorage) != string(record.Value):
		return false, fmt.Errorf("the storage belongs to cluster %.60s and the store to cluster %.60s: "+
			"check high-availability.storageDir and high-availability.cluster-id: %w", inStorage, record.Value, ha.ErrConfig)
	}
	return true, nil
}

// setUUID comes last: until then the store counts as empty.
func (r *reconciler) setUUID(ctx context.Context) error {
	if r.uuid == nil {
		return nil
	}
	return r.create(ctx, uuidKey(), r.uuid)
}

func (r *reconciler) create(ctx context.Context, key coord.Key, value []byte) error {
	err := r.s.Write(ctx, r.term, coord.Op{Kind: coord.Create, Key: key, Value: value})
	if errors.Is(err, ha.ErrExists) {
		return nil
	}
	return err
}

// bringBack goes through the storage. Results come first, so that a finished
// job is never seen without its own.
func (r *reconciler) bringBack(ctx context.Context) error {
	steps := []struct {
		folder string
		keep   int
		one    func(ctx context.Context, key coord.Key, blobs []ha.BlobInfo, keep int) error
	}{
		{coord.Results, 1, r.result},
		{coord.JobGraphs, 1, r.pointers},
		{coord.Checkpoints, r.b.keep, r.checkpoints},
	}
	for _, step := range steps {
		blobs, err := r.b.blobs.List(ctx, step.folder)
		if err != nil {
			return err
		}
		for key, of := range byRecord(step.folder, blobs) {
			if err := step.one(ctx, key, of, step.keep); err != nil {
				return err
			}
		}
	}
	return nil
}

// byRecord sorts blobs under the records that they are for, oldest first.
func byRecord(folder string, blobs []ha.BlobInfo) map[coord.Key][]ha.BlobInfo {
	all := map[coord.Key][]ha.BlobInfo{}
	for _, blob := range blobs {
		name, _, _ := strings.Cut(strings.TrimPrefix(blob.Key, folder+"/"), "/")
		if _, _, ok := parseBlob(blob.Key); ok {
			key := coord.Key{Folder: folder, Name: name}
			all[key] = append(all[key], blob)
		}
	}
	return all
}

func (r *reconciler) result(ctx context.Context, key coord.Key, blobs []ha.BlobInfo, _ int) error {
	data, err := r.b.blobs.Get(ctx, blobs[len(blobs)-1].Key)
	if err != nil {
		return err
	}
	return r.create(ctx, key, entry{Data: data}.encode())
}

// checkpoints are of use only with the job's graph.
func (r *reconciler) checkpoints(ctx context.Context, key coord.Key, blobs []ha.BlobInfo, keep int) error {
	_, err := r.s.Get(ctx, coord.Key{Folder: coord.JobGraphs, Name: key.Name})
	if errors.Is(err, ha.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return r.pointers(ctx, key, blobs, keep)
}

// pointers makes a record point to the newest blobs, if it does not do so yet.
func (r *reconciler) pointers(ctx context.Context, key coord.Key, blobs []ha.BlobInfo, keep int) error {
	record, err := r.s.Get(ctx, key)
	if err != nil && !errors.Is(err, ha.ErrNotFound) {
		return err
	}
	exists := err == nil
	have := pointers{}
	if exists {
		if have, err = decodePointers(record); err != nil {
			return nil // it stays, and whoever reads it is told
		}
	}
	merged := pointers{}
	for _, blob := range blobs {
		p, err := r.pointerTo(ctx, blob, have)
		if err != nil {
			return err
		}
		if n := len(merged.Kept); n > 0 && merged.Kept[n-1].ID == p.ID {
			merged.Kept[n-1] = p // written by a later epoch
		} else {
			merged.Kept = append(merged.Kept, p)
		}
	}
	merged.Kept = merged.Kept[max(0, len(merged.Kept)-keep):]
	if slices.Equal(merged.Kept, have.Kept) {
		return nil
	}
	op := coord.Op{Kind: coord.Create, Key: key, Value: merged.encode()}
	if exists {
		op.Kind, op.Version = coord.Update, record.Version
	}
	return r.s.Write(ctx, r.term, op)
}

// pointerTo makes a pointer anew from its blob.
func (r *reconciler) pointerTo(ctx context.Context, blob ha.BlobInfo, have pointers) (pointer, error) {
	for _, p := range have.Kept {
		if p.Blob == blob.Key {
			return p, nil
		}
	}
	data, err := r.b.blobs.Get(ctx, blob.Key)
	if err != nil {
		return pointer{}, err
	}
	id, _, _ := parseBlob(blob.Key)
	return pointer{ID: id, Blob: blob.Key, Size: int64(len(data)), SHA256: sumOf(data)}, nil
}
