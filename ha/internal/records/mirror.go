package records

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
)

// mirrors is the folder of what the storage knows of records of pointers: one blob
// per record and epoch, with the record's value. It is written when the store has
// acknowledged the record, and before anybody hears of that: so what was acknowledged
// can be brought back to a store that has lost it, and what was refused cannot.
const mirrors = "mirrors"

func mirrorKey(key coord.Key, epoch ha.Epoch) string {
	return fmt.Sprintf("%s/%s/%013d", mirrors, key, epoch)
}

// mirrorsOf lists the mirrors below a folder's name by their records, oldest first.
func (b *Base) mirrorsOf(ctx context.Context, folder string) (map[coord.Key][]ha.BlobInfo, error) {
	blobs, err := b.blobs.List(ctx, mirrors+"/"+folder)
	if err != nil {
		return nil, err
	}
	all := map[coord.Key][]ha.BlobInfo{}
	for _, blob := range blobs {
		parts := strings.Split(blob.Key, "/")
		if _, ok := mirrorEpoch(blob.Key); ok && len(parts) == 4 {
			key := coord.Key{Folder: parts[1], Name: parts[2]}
			all[key] = append(all[key], blob)
		}
	}
	return all, nil
}

func mirrorEpoch(blob string) (ha.Epoch, bool) {
	n, err := strconv.ParseUint(blob[strings.LastIndexByte(blob, '/')+1:], 10, 64)
	return ha.Epoch(n), err == nil
}

// readMirror reads the newest of a record's mirrors.
func (b *Base) readMirror(ctx context.Context, key coord.Key, of []ha.BlobInfo) (pointers, ha.Epoch, error) {
	newest := of[len(of)-1].Key
	value, err := b.blobs.Get(ctx, newest)
	if err != nil {
		return pointers{}, 0, err
	}
	epoch, _ := mirrorEpoch(newest)
	mirror, err := decodePointers(coord.Record{Key: key, Value: value})
	return mirror, epoch, err
}

// mirror makes it durable in the storage what the record holds under a term; written
// says that it was just written under that.
func (l *list) mirror(ctx context.Context, term ha.Term, stands pointers, written bool) error {
	return l.b.secure(ctx, term, mirrorKey(l.key, term.Epoch), stands.encode(), written)
}

// secure writes what a store's loss is made good from, and takes it back if the term
// is over by then: whoever leads now may have removed the record, and all of this that
// there was. An error leaves the record as it is.
func (b *Base) secure(ctx context.Context, term ha.Term, blob string, value []byte, written bool) error {
	var err error
	if !written {
		err = b.leads(ctx, term)
	}
	if err == nil {
		err = b.blobs.Put(ctx, blob, value)
	}
	if err == nil {
		if err = b.leads(ctx, term); errors.Is(err, ha.ErrFenced) {
			err = errors.Join(err, b.blobs.Delete(ctx, blob))
		}
	}
	if err != nil {
		return fmt.Errorf("%w: it is stored, and not secured against the store's loss: %w", ha.ErrAmbiguous, err)
	}
	return nil
}

// leads asks the store whether a term is the present one.
func (b *Base) leads(ctx context.Context, term ha.Term) error {
	link, err := b.links.Link(ctx)
	if err != nil {
		return err
	}
	err = link.Session.Renew(ctx, term)
	if refusal, ok := errors.AsType[*ha.FencedError](err); ok {
		b.links.Refused(refusal)
	}
	return unavailable(err)
}

// forgetMirrors removes those that leaders up to an epoch have written.
func (b *Base) forgetMirrors(ctx context.Context, key coord.Key, upTo ha.Epoch) error {
	of, err := b.mirrorsOf(ctx, key.String())
	if err != nil {
		return err
	}
	for _, blob := range of[key] {
		if epoch, _ := mirrorEpoch(blob.Key); epoch <= upTo {
			if err := b.blobs.Delete(ctx, blob.Key); err != nil {
				return err
			}
		}
	}
	return nil
}

// tidyMirrors makes the newest mirror one of what the record holds, and removes the
// others: a leader may have died between the two.
func (l *list) tidyMirrors(ctx context.Context, term ha.Term) error {
	if err := l.turn.take(ctx); err != nil {
		return err
	}
	defer l.turn.done()
	record, exists, err := l.b.proven(ctx, term, l.key)
	if err != nil {
		return err
	}
	if !exists {
		return l.b.forgetMirrors(ctx, l.key, term.Epoch-1)
	}
	now, err := decodePointers(record)
	if err != nil {
		return nil // whoever reads it is told
	}
	all, err := l.b.mirrorsOf(ctx, l.key.String())
	if err != nil {
		return err
	}
	if of := all[l.key]; len(of) > 0 {
		mirror, epoch, err := l.b.readMirror(ctx, l.key, of)
		if err == nil && string(mirror.encode()) == string(now.encode()) {
			return l.b.forgetMirrors(ctx, l.key, epoch-1)
		}
	}
	if err := l.b.blobs.Put(ctx, mirrorKey(l.key, term.Epoch), now.encode()); err != nil {
		return err
	}
	return l.b.forgetMirrors(ctx, l.key, term.Epoch-1)
}
