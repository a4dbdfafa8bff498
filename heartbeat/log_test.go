package heartbeat

import (
	"bytes"
	"log/slog"
	"sync"
)

// memoryLog keeps what is logged.
type memoryLog struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func newLog() *memoryLog { return &memoryLog{} }

func (l *memoryLog) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// Write implements io.Writer.
func (l *memoryLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *memoryLog) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}
