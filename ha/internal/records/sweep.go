package records

import (
	"context"
	"errors"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
)

// sweepLater removes, once per grant, what leaders before us have left over:
// blobs that nothing points to. No write of theirs can be carried out any more,
// so what is not pointed to now never will be.
func (b *Base) sweepLater(term ha.Term) {
	b.background("sweep storage", func(ctx context.Context) error {
		if err := NewMarks(b.blobs).Prune(ctx, term.Epoch); err != nil {
			return err
		}
		for _, folder := range []string{coord.Results, coord.JobGraphs, coord.Checkpoints} {
			blobs, err := b.blobs.List(ctx, folder)
			if err != nil {
				return err
			}
			for key, of := range byRecord(folder, blobs) {
				if err := b.sweepOne(ctx, term, key, of); err != nil {
					return err
				}
			}
		}
		return nil
	})
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
	exists = err == nil
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
