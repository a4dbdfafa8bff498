package records

import (
	"context"
	"errors"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
)

// sweepLater removes, once per grant, what leaders before us have left over: blobs
// that nothing points to, tombstones, mirrors of older epochs. No write of theirs can
// be carried out any more, so what is not pointed to now never will be.
func (b *Base) sweepLater(term ha.Term) {
	b.background("sweep storage", func(ctx context.Context) error {
		if err := NewMarks(b.blobs).Prune(ctx, term.Epoch); err != nil {
			return err
		}
		for _, folder := range []string{coord.Results, coord.JobGraphs, coord.Checkpoints, coord.CheckpointCounter, coord.RunningRegistry} {
			if err := b.sweepFolder(ctx, term, folder); err != nil {
				return err
			}
		}
		return nil
	})
}

func (b *Base) sweepFolder(ctx context.Context, term ha.Term, folder string) error {
	records, err := b.sweepRecords(ctx, term, folder)
	if err != nil || folder == coord.CheckpointCounter || folder == coord.RunningRegistry {
		return err
	}
	blobs, err := b.blobs.List(ctx, folder)
	if err != nil {
		return err
	}
	all := byRecord(folder, blobs)
	for key, of := range all {
		if err := b.sweepOne(ctx, term, key, of); err != nil {
			return err
		}
	}
	if folder == coord.Results {
		return b.copyResults(ctx, term, records, all)
	}
	mirrored, err := b.mirrorsOf(ctx, folder)
	if err != nil {
		return err
	}
	for _, record := range records {
		mirrored[record.Key] = nil
	}
	for key := range mirrored {
		if err := b.listAt(key, b.kept(folder)).tidyMirrors(ctx, term); err != nil {
			return err
		}
	}
	return nil
}

// kept is how many pointers a record of a folder keeps.
func (b *Base) kept(folder string) int {
	if folder == coord.Checkpoints {
		return b.keep
	}
	return 1
}

// sweepRecords removes tombstones of leaders before us, and returns the records.
func (b *Base) sweepRecords(ctx context.Context, term ha.Term, folder string) ([]coord.Record, error) {
	link, err := b.links.Link(ctx)
	if err != nil {
		return nil, err
	}
	all, err := link.Session.List(ctx, folder)
	if err != nil {
		return nil, err
	}
	var records []coord.Record
	for _, record := range all {
		if !isTombstone(record.Value) {
			records = append(records, record)
			continue
		}
		if tombstoneEpoch(record.Value) >= term.Epoch {
			continue
		}
		err := b.write(ctx, term, coord.Op{Kind: coord.Delete, Key: record.Key, Version: record.Version})
		if errors.Is(err, ha.ErrAmbiguous) {
			b.doubts.add(term, record.Key)
		}
		if err != nil && !errors.Is(err, ha.ErrNotFound) && !errors.Is(err, ha.ErrConflict) {
			return nil, err
		}
	}
	return records, nil
}

// copyResults makes it one copy for each result: leaders before us may have died before
// they wrote one, or when they had written another.
func (b *Base) copyResults(ctx context.Context, term ha.Term, records []coord.Record, copies map[coord.Key][]ha.BlobInfo) error {
	for _, record := range records {
		if of := copies[record.Key]; len(of) > 0 {
			_, newest, _ := parseBlob(of[len(of)-1].Key)
			if err := b.forgetCopies(ctx, record.Key, newest-1); err != nil {
				return err
			}
			continue
		}
		now, exists, err := b.proven(ctx, term, record.Key)
		if err != nil {
			return err
		}
		if e, err := decodeEntry(record.Key, now.Value); exists && err == nil {
			if err := b.blobs.Put(ctx, copyOf(record.Key, term), e.Data); err != nil {
				return err
			}
		}
	}
	return nil
}

// sweepOne removes what of one record's blobs is not pointed to.
func (b *Base) sweepOne(ctx context.Context, term ha.Term, key coord.Key, blobs []ha.BlobInfo) error {
	record, exists, err := b.proven(ctx, term, key)
	if err != nil {
		return err
	}
	now := pointers{}
	if exists {
		if key.Folder == coord.Results {
			return nil
		}
		if now, err = decodePointers(record); err != nil {
			return nil // a pointer that cannot be read may point to any of them
		}
	}
	for _, blob := range blobs {
		_, epoch, _ := parseBlob(blob.Key)
		if epoch >= term.Epoch || now.has(blob.Key) {
			continue
		}
		if err := b.blobs.Delete(ctx, blob.Key); err != nil {
			return err
		}
	}
	return nil
}

// proven reads a record so that its absence means something: in a store that has
// just been deleted or restored everything is absent, but so is our grant. It is
// asked for after the reading, in the same session.
func (b *Base) proven(ctx context.Context, term ha.Term, key coord.Key) (record coord.Record, exists bool, err error) {
	link, err := b.links.Link(ctx)
	if err != nil {
		return coord.Record{}, false, err
	}
	record, err = link.Session.Get(ctx, key)
	exists = err == nil && !isTombstone(record.Value)
	if err != nil && !errors.Is(err, ha.ErrNotFound) {
		return coord.Record{}, false, err
	}
	if err := link.Session.Renew(ctx, term); err != nil {
		return coord.Record{}, false, err
	}
	if link.Gone.Err() != nil {
		return coord.Record{}, false, ha.ErrUnavailable
	}
	return record, exists, nil
}
