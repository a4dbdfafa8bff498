package storage

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
)

// disk counts syncs; the one whose number is bad fails.
type disk struct{ syncs, bad int }

var errLost = errors.New("pages are lost")

func (d *disk) sync() error {
	d.syncs++
	if d.syncs == d.bad {
		return errLost
	}
	return nil
}

func TestEarlySyncs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d disk
		e := earlySync{sync: d.sync}
		wrote := func(n int64, want int) {
			t.Helper()
			e.wrote(n)
			synctest.Wait()
			if d.syncs != want {
				t.Errorf("%d syncs, want %d", d.syncs, want)
			}
		}
		wrote(earlySyncSize-1, 0)
		wrote(1, 1)
		wrote(earlySyncSize-1, 1)
		wrote(1, 2)
		if err := e.now(); err != nil || d.syncs != 3 {
			t.Errorf("%d syncs, %v", d.syncs, err)
		}
		wrote(earlySyncSize-1, 3)
	})
}

// Exactness rule 11: the system tells an error of a sync once, and may have
// given up what it was about; no later sync counts.
func TestRule11AnEarlySyncThatFailed(t *testing.T) {
	for what, step := range map[string]func(e *earlySync) error{
		"in the background": func(e *earlySync) error {
			e.wrote(earlySyncSize)
			synctest.Wait()
			return e.now()
		},
		"in the background, and written on": func(e *earlySync) error {
			for range 3 {
				e.wrote(earlySyncSize)
				synctest.Wait()
			}
			return e.now()
		},
		"by itself": func(e *earlySync) error { return e.now() },
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := disk{bad: 1}
				e := earlySync{sync: d.sync}
				if err := step(&e); !errors.Is(err, errLost) {
					t.Errorf("the sync: %v", err)
				}
				if err := e.now(); !errors.Is(err, errLost) || d.syncs != 1 {
					t.Errorf("the next: %v after %d", err, d.syncs)
				}
			})
		})
	}
}

// A sync comes after the one under way, which may not have seen all.
func TestSyncWaitsForTheEarlyOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release, syncs := make(chan struct{}), 0
		e := earlySync{sync: func() error {
			if syncs++; syncs == 1 {
				<-release
			}
			return nil
		}}
		e.wrote(earlySyncSize)
		e.wrote(earlySyncSize) // no second one beside it
		ended := make(chan error)
		go func() { ended <- e.now() }()
		synctest.Wait()
		select {
		case <-ended:
			t.Fatal("it did not wait")
		default:
		}
		close(release)
		if err := <-ended; err != nil || syncs != 2 {
			t.Errorf("%d syncs, %v", syncs, err)
		}
	})
}

func TestALocalFileSyncsEarly(t *testing.T) {
	f, err := Local{}.OpenFile(filepath.Join(t.TempDir(), "f"), os.O_WRONLY|os.O_CREATE)
	if err != nil {
		t.Fatal(err)
	}
	piece := make([]byte, earlySyncSize)
	for i := range int64(3) {
		if _, err := f.Write(piece); err != nil {
			t.Fatal(err)
		}
		f.(WritebackStarter).StartWriteback(i*earlySyncSize, earlySyncSize)
	}
	if running := f.(*localFile).early.running; running == nil {
		t.Error("no sync was begun")
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		t.Error(err)
	}
	if err := f.Sync(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a sync of a closed file: %v", err)
	}
}
