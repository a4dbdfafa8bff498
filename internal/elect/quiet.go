package elect

import (
	"log/slog"
	"strings"
	"sync"
	"time"
)

// quietFor is how long an error that comes again and again is not repeated.
const quietFor = time.Minute

// quiet logs errors of something that is tried for ever: each once, and from time
// to time again.
type quiet struct {
	log *slog.Logger

	mu   sync.Mutex
	last map[string]time.Time
}

func (q *quiet) say(err error) {
	text := err.Error()
	// What differs from one try to the next is not the error.
	key := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, text)
	q.mu.Lock()
	now := time.Now()
	again := now.Sub(q.last[key]) < quietFor
	if !again {
		if q.last == nil || len(q.last) > 100 {
			q.last = map[string]time.Time{}
		}
		q.last[key] = now
	}
	q.mu.Unlock()
	if !again {
		q.log.Warn("not as it should be; it is tried again", "error", text)
	}
}
