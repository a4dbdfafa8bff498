package hatest

import (
	"bytes"
	"errors"
	"testing"

	"github.com/leatdata/leat/ha"
)

func blobs() map[string]func(*testing.T, *World) {
	return map[string]func(*testing.T, *World){
		"blobs are put, got, listed, deleted": blobLife,
	}
}

func blobLife(t *testing.T, w *World) {
	n := w.open(t, "a")
	defer n.close()
	b := n.Blobs()
	if _, err := b.Get(within(t), "x/none"); !errors.Is(err, ha.ErrNotFound) {
		t.Errorf("got nothing: %v", err)
	}
	data := bytes.Repeat([]byte("blob"), 1000)
	if err := errors.Join(
		b.Put(within(t), "x/b/2", []byte("old")), b.Put(within(t), "x/b/2", data),
		b.Put(within(t), "x/a", nil), b.Put(within(t), "xy/c", nil),
	); err != nil {
		t.Fatal(err)
	}
	if got, err := b.Get(within(t), "x/b/2"); err != nil || !bytes.Equal(got, data) {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
	all, err := b.List(within(t), "x")
	if err != nil || len(all) != 2 || all[0].Key != "x/a" || all[1].Key != "x/b/2" || all[1].Size != int64(len(data)) {
		t.Errorf("listed %+v, %v", all, err)
	}
	if err := errors.Join(b.Delete(within(t), "x/b/2"), b.Delete(within(t), "x/b/2")); err != nil {
		t.Error(err)
	}
	if all, err := b.List(within(t), "x/b"); err != nil || len(all) != 0 {
		t.Errorf("listed %+v, %v", all, err)
	}
}
