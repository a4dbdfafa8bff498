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

// sweepOne proves what of one record's blobs is not pointed to, and removes it.
func (b *Base) sweepOne(ctx context.Context, term ha.Term, key coord.Key, blobs []ha.BlobInfo) error {
	record, err := b.get(ctx, key)
	exists := err == nil
	if err != nil && !errors.Is(err, ha.ErrNotFound) {
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
