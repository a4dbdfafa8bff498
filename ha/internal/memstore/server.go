package memstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
)

// Server is the store. All its methods may be called concurrently.
type Server struct {
	timeout, margin time.Duration
	disk            Disk

	mu       sync.Mutex
	records  map[coord.Key]record
	sessions map[uint64]*serverSession
	next     uint64 // the last session's number
	version  int64  // the last write's number
	unlock   func() // nil: the disk is not locked
	loaded   bool
}

// record is a record as the server keeps it.
type record struct {
	value   []byte
	version int64
	owner   uint64 // session; 0: none
}

// The keys that only an election writes.
func epochKey() coord.Key { return coord.Key{Folder: "epoch"} }
func lockKey() coord.Key  { return coord.Key{Folder: "leaderlatch", Name: "lock"} }

// errElsewhere says that another process has the disk.
var errElsewhere = errors.New("another process has it")

// Disk is where a server's records outlive it.
type Disk interface {
	// Lock keeps other processes away until unlock. ErrUnavailable: another has it.
	Lock() (unlock func(), err error)
	// Load returns what was saved last; nil: nothing was.
	Load() ([]byte, error)
	// Save makes data what is loaded next, durably and whole.
	Save(data []byte) error
}

// New returns a server whose sessions last for a timeout without a renewal. disk
// may be nil: then all is in memory.
func New(timeout, margin time.Duration, disk Disk) *Server {
	return &Server{
		timeout: timeout, margin: margin, disk: disk,
		records: map[coord.Key]record{}, sessions: map[uint64]*serverSession{},
	}
}

// serverSession is a session as the server knows it.
type serverSession struct {
	id      uint64
	client  *session
	expires *time.Timer
	watches map[*watch]bool
}

type watch struct {
	key    coord.Key
	signal chan struct{} // capacity 1
}

// open starts a session.
func (s *Server) open(c *session) (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.load(); err != nil {
		return 0, err
	}
	s.next++
	id := s.next
	s.sessions[id] = &serverSession{
		id: id, client: c, watches: map[*watch]bool{},
		expires: time.AfterFunc(s.timeout, func() { s.end(id) }),
	}
	return id, nil
}

// load makes the records those on the disk, if there is one and they are not.
func (s *Server) load() error {
	if s.disk == nil || s.loaded {
		return nil
	}
	if s.unlock == nil {
		unlock, err := s.disk.Lock()
		if err != nil {
			return err
		}
		s.unlock = unlock
	}
	text, err := s.disk.Load()
	if err != nil {
		return err
	}
	saved, version, err := decode(text)
	if err != nil {
		return err
	}
	for key, r := range s.records {
		if r.owner != 0 {
			saved[key] = r // sessions are of the process
		}
	}
	s.records, s.version, s.loaded = saved, max(s.version, version), true
	return nil
}

// Elsewhere reads the last take-over while another process has the disk; false:
// none has.
func (s *Server) Elsewhere() (last coord.EpochRecord, elsewhere bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.disk == nil || s.unlock != nil {
		return last, false, nil
	}
	unlock, err := s.disk.Lock()
	if err == nil {
		unlock()
		return last, false, nil
	}
	if !errors.Is(err, errElsewhere) {
		return last, false, err
	}
	text, err := s.disk.Load()
	if err != nil {
		return last, true, err
	}
	saved, _, err := decode(text)
	if err != nil {
		return last, true, err
	}
	if r, ok := saved[epochKey()]; ok {
		last, err = coord.DecodeEpoch(r.value)
	}
	return last, true, err
}

// end ends a session, and what it owns goes.
func (s *Server) end(id uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endLocked(id)
}

func (s *Server) endLocked(id uint64) {
	session := s.sessions[id]
	if session == nil {
		return
	}
	session.expires.Stop()
	delete(s.sessions, id)
	for key, r := range s.records {
		if r.owner == id {
			delete(s.records, key)
			s.notify(key)
		}
	}
	session.client.ended()
	if len(s.sessions) == 0 && s.unlock != nil {
		s.unlock()
		s.unlock, s.loaded = nil, false
	}
}

// alive returns a session that has not ended.
func (s *Server) alive(id uint64) (*serverSession, error) {
	session := s.sessions[id]
	if session == nil {
		return nil, coord.ErrSessionOver
	}
	return session, s.load()
}

// notify signals those who watch a key or its folder.
func (s *Server) notify(key coord.Key) {
	for _, session := range s.sessions {
		if key == lockKey() || key == epochKey() {
			session.client.signal(session.client.changed)
		}
		for w := range session.watches {
			if w.key == key || w.key == (coord.Key{Folder: key.Folder}) {
				session.client.signal(w.signal)
			}
		}
	}
}

// epoch reads the last take-over.
func (s *Server) epoch() (coord.EpochRecord, error) {
	r, ok := s.records[epochKey()]
	if !ok {
		return coord.EpochRecord{}, nil
	}
	return coord.DecodeEpoch(r.value)
}

// fenced checks that a term is the present one. The zero term always is.
func (s *Server) fenced(term ha.Term) error {
	if term.IsZero() {
		return nil
	}
	last, err := s.epoch()
	if err != nil {
		return err
	}
	lock, held := s.records[lockKey()]
	if !held || string(lock.value) != string(term.Grant) || s.records[epochKey()].version != term.Guard {
		return coord.Refusal(term, last.Number)
	}
	return nil
}

// admit says whether a session may write under a term.
func (s *Server) admit(id uint64, term ha.Term) error {
	if _, err := s.alive(id); err != nil {
		return err
	}
	return s.fenced(term)
}

func (s *Server) renew(id uint64, fence ha.Term) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	session, err := s.alive(id)
	if err != nil {
		return err
	}
	session.expires.Reset(s.timeout)
	return s.fenced(fence)
}

func (s *Server) look(id uint64) (coord.Holder, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.alive(id); err != nil {
		return coord.Holder{}, err
	}
	last, err := s.epoch()
	if err != nil {
		return coord.Holder{}, err
	}
	lock, held := s.records[lockKey()]
	return coord.Holder{
		Held: held, Mine: held && lock.owner == id, Last: last,
		Term: ha.Term{Epoch: last.Number, Grant: ha.GrantID(lock.value), Guard: s.records[epochKey()].version},
	}, nil
}

// stored is what a take-over has read.
func (s *Server) stored(id uint64) (ha.Epoch, int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.alive(id); err != nil {
		return 0, 0, err
	}
	if _, held := s.records[lockKey()]; held {
		return 0, 0, coord.ErrHeld
	}
	last, err := s.epoch()
	return last.Number, s.records[epochKey()].version, err
}

func (s *Server) takeOver(id uint64, claim coord.Claim, number ha.Epoch, version int64) (ha.Term, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.alive(id); err != nil {
		return ha.Term{}, err
	}
	if _, held := s.records[lockKey()]; held {
		return ha.Term{}, coord.ErrHeld
	}
	if s.records[epochKey()].version != version {
		return ha.Term{}, ha.ErrConflict
	}
	err := s.commit(func(w *writer) {
		w.put(epochKey(), claim.Record(number).Encode(), 0)
		w.put(lockKey(), []byte(claim.Grant), id)
	})
	return ha.Term{Epoch: number, Grant: claim.Grant, Guard: s.records[epochKey()].version}, err
}

func (s *Server) release(id uint64, term ha.Term) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.admit(id, term); err != nil {
		return err
	}
	return s.commit(func(w *writer) {
		w.remove(lockKey())
		for key, r := range s.records {
			if r.owner == id && key.Folder == coord.Leader {
				w.remove(key)
			}
		}
	})
}

func (s *Server) publish(id uint64, term ha.Term, key coord.Key, value []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.admit(id, term); err != nil {
		return err
	}
	return s.commit(func(w *writer) { w.put(key, value, id) })
}

func (s *Server) withdraw(id uint64, key coord.Key) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.alive(id); err != nil {
		return err
	}
	if r, ok := s.records[key]; !ok || r.owner != id {
		return nil
	}
	return s.commit(func(w *writer) { w.remove(key) })
}

func (s *Server) get(id uint64, key coord.Key) (coord.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.alive(id); err != nil {
		return coord.Record{}, err
	}
	r, ok := s.records[key]
	if !ok {
		return coord.Record{}, fmt.Errorf("%s: %w", key, ha.ErrNotFound)
	}
	return coord.Record{Key: key, Value: slices.Clone(r.value), Version: r.version}, nil
}

func (s *Server) list(id uint64, folder string) ([]coord.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.alive(id); err != nil {
		return nil, err
	}
	var all []coord.Record
	for key, r := range s.records {
		if key.Folder == folder {
			all = append(all, coord.Record{Key: key, Value: slices.Clone(r.value), Version: r.version})
		}
	}
	slices.SortFunc(all, func(a, b coord.Record) int { return strings.Compare(a.Key.Name, b.Key.Name) })
	return all, nil
}

func (s *Server) write(id uint64, term ha.Term, ops []coord.Op) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.admit(id, term); err != nil {
		return err
	}
	for _, op := range ops {
		if cause := s.judge(op); cause != nil {
			return &coord.OpError{Op: op, Cause: cause}
		}
	}
	return s.commit(func(w *writer) {
		for _, op := range ops {
			if op.Kind == coord.Delete {
				w.remove(op.Key)
			} else {
				w.put(op.Key, op.Value, 0)
			}
		}
	})
}

// judge says whether an op can be carried out.
func (s *Server) judge(op coord.Op) error {
	r, exists := s.records[op.Key]
	switch {
	case op.Kind == coord.Create && exists:
		return ha.ErrExists
	case op.Kind == coord.Create:
		return nil
	case !exists:
		return ha.ErrNotFound
	case op.Version != coord.AnyVersion && op.Version != r.version:
		return ha.ErrConflict
	}
	return nil
}

func (s *Server) watch(ctx context.Context, id uint64, key coord.Key) (*watch, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	session, err := s.alive(id)
	if err != nil {
		return nil, err
	}
	w := &watch{key: key, signal: make(chan struct{}, 1)}
	session.watches[w] = true
	return w, ctx.Err()
}

func (s *Server) unwatch(id uint64, w *watch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if session := s.sessions[id]; session != nil {
		delete(session.watches, w)
	}
}

func (s *Server) clean(id uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.alive(id); err != nil {
		return err
	}
	return s.commit(func(w *writer) {
		for key := range s.records {
			w.remove(key)
		}
	})
}

// writer collects the changes of one transaction.
type writer struct {
	s       *Server
	records map[coord.Key]record
	touched []coord.Key
	durable bool // records without owner are among them
}

func (w *writer) put(key coord.Key, value []byte, owner uint64) {
	w.touch(key, owner)
	w.records[key] = record{value: slices.Clone(value), version: w.s.version, owner: owner}
}

func (w *writer) remove(key coord.Key) {
	w.touch(key, w.records[key].owner)
	delete(w.records, key)
}

func (w *writer) touch(key coord.Key, owner uint64) {
	w.touched = append(w.touched, key)
	w.durable = w.durable || owner == 0
}

// commit carries out changes: on disk first, then here.
func (s *Server) commit(change func(*writer)) error {
	s.version++
	w := &writer{s: s, records: maps.Clone(s.records)}
	change(w)
	if s.disk != nil && w.durable {
		if err := s.disk.Save(encode(w.records, s.version)); err != nil {
			s.loaded = false // whether it was saved is seen by loading again
			return errors.Join(ha.ErrAmbiguous, err)
		}
	}
	s.records = w.records
	for _, key := range w.touched {
		s.notify(key)
	}
	return nil
}
