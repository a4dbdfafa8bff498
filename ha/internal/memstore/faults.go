package memstore

import (
	"maps"

	"github.com/leatdata/leat/ha/internal/coord"
)

// Wipe removes everything, as somebody with the store's own tools would. Sessions
// live on.
func (s *Server) Wipe() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replace(map[coord.Key]record{})
}

// Copy is what a server held at some time.
type Copy struct{ records map[coord.Key]record }

// Copy copies all records.
func (s *Server) Copy() Copy {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Copy{records: maps.Clone(s.records)}
}

// Restore brings an old copy back, and ends all sessions: what they owned in the
// copy is gone too.
func (s *Server) Restore(c Copy) {
	s.mu.Lock()
	defer s.mu.Unlock()
	restored := map[coord.Key]record{}
	for key, r := range c.records {
		if r.owner == 0 {
			restored[key] = r
		}
	}
	s.replace(restored)
	for id := range s.sessions {
		s.endLocked(id)
	}
}

// Tamper lets somebody else set a record, or remove it (nil).
func (s *Server) Tamper(key coord.Key, value []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := maps.Clone(s.records)
	delete(changed, key)
	if value != nil {
		s.version++
		changed[key] = record{value: value, version: s.version}
	}
	s.replace(changed)
}

func (s *Server) replace(records map[coord.Key]record) {
	old := s.records
	s.records = records
	if s.disk != nil {
		if err := s.disk.Save(encode(records, s.version)); err != nil {
			s.loaded = false
		}
	}
	for key := range old {
		s.notify(key)
	}
	for key := range records {
		s.notify(key)
	}
}

// Stats counts what a server holds, for tests of leaks.
func (s *Server) Stats() (records, sessions, watches int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, session := range s.sessions {
		watches += len(session.watches)
	}
	return len(s.records), len(s.sessions), watches
}
