package records

import (
	"context"
	"encoding/json"
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

func identityKey() coord.Key { return coord.Key{Folder: coord.Cluster, Name: "identity"} }

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
// with the shared storage. A store that is empty, or in which the last epoch was
// not the one before this, may have been deleted or restored: what the storage
// has more is brought back. A store of another cluster is refused. It can be cut
// off at any point and run again, by anybody.
func (b *Base) Reconcile(ctx context.Context, s coord.Session, term ha.Term) error {
	r := reconciler{b: b, s: s, term: term}
	if err := r.identify(ctx); err != nil {
		return fmt.Errorf("compare store and storage: %w", err)
	}
	if r.identity.Epoch+1 != term.Epoch {
		b.logger.Info("bringing back what the storage has and the store may have lost",
			"epoch", term.Epoch, "last_seen_whole", r.identity.Epoch)
		if err := r.bringBack(ctx); err != nil {
			return fmt.Errorf("bring back from storage: %w", err)
		}
	}
	if err := r.settle(ctx); err != nil {
		return err
	}
	b.sweepLater(term)
	return nil
}

// identity says which cluster a store belongs to, and under which epoch it was
// last seen to be whole.
type identity struct {
	UUID  string   `json:"uuid"`
	Epoch ha.Epoch `json:"epoch"`
}

type reconciler struct {
	b        *Base
	s        coord.Session
	term     ha.Term
	identity identity
	stored   coord.Op // what replaces the store's identity
}

// identify compares the uuids.
func (r *reconciler) identify(ctx context.Context) error {
	inStorage, errStorage := r.b.blobs.Get(ctx, uuidBlob)
	if errStorage != nil && !errors.Is(errStorage, ha.ErrNotFound) {
		return errStorage
	}
	record, errStore := r.s.Get(ctx, identityKey())
	if errStore != nil && !errors.Is(errStore, ha.ErrNotFound) {
		return errStore
	}
	r.stored = coord.Op{Kind: coord.Create, Key: identityKey()}
	if errStore == nil {
		r.stored.Kind, r.stored.Version = coord.Update, record.Version
		if err := json.Unmarshal(record.Value, &r.identity); err != nil {
			return fmt.Errorf("%s holds %.60q: %w", record.Key, record.Value, ha.ErrCorrupt)
		}
	}
	switch {
	case errStore != nil && errStorage != nil:
		r.identity.UUID = uuid.NewString()
		return r.b.blobs.Put(ctx, uuidBlob, []byte(r.identity.UUID))
	case errStore != nil:
		r.identity.UUID = string(inStorage)
	case errStorage != nil:
		return fmt.Errorf("the storage is empty, but the store belongs to cluster %.60s: "+
			"check high-availability.storageDir, or remove the cluster from the store: %w", r.identity.UUID, ha.ErrConfig)
	case string(inStorage) != r.identity.UUID:
		return fmt.Errorf("the storage belongs to cluster %.60s and the store to cluster %.60s: "+
			"check high-availability.storageDir and high-availability.cluster-id: %w", inStorage, r.identity.UUID, ha.ErrConfig)
	}
	return nil
}

// settle comes last: until then the store does not count as whole.
func (r *reconciler) settle(ctx context.Context) error {
	r.identity.Epoch = r.term.Epoch
	text, err := json.Marshal(r.identity)
	if err != nil {
		panic(err) // a string and a number
	}
	r.stored.Value = text
	return r.s.Write(ctx, r.term, r.stored)
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
