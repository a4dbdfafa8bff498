package records

import (
	"cmp"
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

// forgetCopies removes those that leaders up to an epoch have written.
func (b *Base) forgetCopies(ctx context.Context, key coord.Key, upTo ha.Epoch) error {
	blobs, err := b.blobs.List(ctx, key.String())
	for _, blob := range blobs {
		if _, epoch, ok := parseBlob(blob.Key); err == nil && ok && epoch <= upTo {
			err = b.blobs.Delete(ctx, blob.Key)
		}
	}
	return err
}

// Reconcile is run by each take-over before anybody leads: it compares the store
// with the shared storage. What was acknowledged and is not there is brought back. In
// a store in which the last epoch was not the one before this, and which may have been
// restored, what is older than in the storage is too. A store of another cluster is
// refused. It can be cut off at any point and run again, by anybody.
func (b *Base) Reconcile(ctx context.Context, s coord.Session, term ha.Term) error {
	r := reconciler{b: b, s: s, term: term}
	if err := r.identify(ctx); err != nil {
		return fmt.Errorf("compare store and storage: %w", err)
	}
	if r.whole = r.identity.Epoch+1 == term.Epoch; !r.whole {
		b.logger.Info("the store may be an old copy: comparing all of it with the storage",
			"epoch", term.Epoch, "last_seen_whole", r.identity.Epoch)
	}
	if err := r.bringBack(ctx); err != nil {
		return fmt.Errorf("bring back from storage: %w", err)
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
	whole    bool     // the epoch before this was the last that was seen
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
	copies, err := r.b.blobs.List(ctx, coord.Results)
	if err != nil {
		return err
	}
	there := map[coord.Key]*coord.Record{}
	if len(copies) > 0 {
		if there, err = r.list(ctx, coord.Results); err != nil {
			return err
		}
	}
	for key, of := range byRecord(coord.Results, copies) {
		if there[key] != nil {
			continue
		}
		if err := r.result(ctx, key, of); err != nil {
			return err
		}
	}
	for _, folder := range []string{coord.JobGraphs, coord.Checkpoints} {
		if err := r.bringBackPointers(ctx, folder); err != nil {
			return err
		}
	}
	return nil
}

func (r *reconciler) bringBackPointers(ctx context.Context, folder string) error {
	all, err := r.b.mirrorsOf(ctx, folder)
	if err != nil || len(all) == 0 {
		return err
	}
	there, err := r.list(ctx, folder)
	if err != nil {
		return err
	}
	graphs := there
	if folder == coord.Checkpoints {
		if graphs, err = r.list(ctx, coord.JobGraphs); err != nil {
			return err
		}
	}
	for key, of := range all {
		graph := graphs[coord.Key{Folder: coord.JobGraphs, Name: key.Name}]
		switch {
		case r.whole && there[key] != nil:
		case folder == coord.Checkpoints && (graph == nil || isTombstone(graph.Value)):
			// They are of use only with the job's graph.
		default:
			if err := r.pointers(ctx, key, of, there[key]); err != nil {
				return err
			}
		}
	}
	return nil
}

// list reads a folder's records by their keys.
func (r *reconciler) list(ctx context.Context, folder string) (map[coord.Key]*coord.Record, error) {
	records, err := r.s.List(ctx, folder)
	there := map[coord.Key]*coord.Record{}
	for i := range records {
		there[records[i].Key] = &records[i]
	}
	return there, err
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

func (r *reconciler) result(ctx context.Context, key coord.Key, copies []ha.BlobInfo) error {
	data, err := r.b.blobs.Get(ctx, copies[len(copies)-1].Key)
	if err != nil {
		return err
	}
	return r.create(ctx, key, entry{Data: data}.encode())
}

// pointers makes a record (nil: there is none) what its newest mirror says, if that is
// newer.
func (r *reconciler) pointers(ctx context.Context, key coord.Key, of []ha.BlobInfo, record *coord.Record) error {
	mirror, epoch, err := r.b.readMirror(ctx, key, of)
	if errors.Is(err, ha.ErrCorrupt) {
		r.b.logger.Warn("mirror cannot be read", "record", key.String(), "error", err)
		return nil
	}
	if err != nil {
		return err
	}
	op := coord.Op{Kind: coord.Create, Key: key, Value: mirror.encode()}
	if record != nil {
		newer, err := r.isNewer(ctx, mirror, epoch, record)
		if err != nil || !newer {
			return err
		}
		op.Kind, op.Version = coord.Update, record.Version
	}
	return r.s.Write(ctx, r.term, op)
}

// isNewer says that a mirror was written after what its record holds, so that the
// record is an old copy's.
func (r *reconciler) isNewer(ctx context.Context, mirror pointers, epoch ha.Epoch, record *coord.Record) (bool, error) {
	if isTombstone(record.Value) {
		return epoch > tombstoneEpoch(record.Value), nil
	}
	have, err := decodePointers(*record)
	if err != nil {
		return false, nil // it stays, and whoever reads it is told
	}
	ours, _ := newest(mirror)
	theirs, _ := newest(have)
	switch order := compareAge(ours, theirs); {
	case order > 0:
		return true, nil
	case order == 0:
		return false, nil
	}
	// A leader died before it wrote the mirror; or numbers began anew, when the record
	// was removed and made again, and then what it points to is gone.
	blobs, err := r.b.blobs.List(ctx, record.Key.String())
	if err != nil {
		return false, err
	}
	has := func(p pointer) bool {
		return slices.ContainsFunc(blobs, func(b ha.BlobInfo) bool { return b.Key == p.Blob })
	}
	return has(ours) && !has(theirs), nil
}

// compareAge orders pointers by when they were written.
func compareAge(a, b pointer) int {
	_, epochA, _ := parseBlob(a.Blob)
	_, epochB, _ := parseBlob(b.Blob)
	return cmp.Or(cmp.Compare(epochA, epochB), cmp.Compare(a.ID, b.ID))
}
