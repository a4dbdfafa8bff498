package cli

import (
	"context"
	"log/slog"
)

// quieter makes a logger for what works behind something that says itself what
// matters: all that it logs counts as debug.
func quieter(log *slog.Logger) *slog.Logger { return slog.New(debugHandler{log.Handler()}) }

type debugHandler struct{ slog.Handler }

// Enabled implements slog.Handler.
func (h debugHandler) Enabled(ctx context.Context, _ slog.Level) bool {
	return h.Handler.Enabled(ctx, slog.LevelDebug)
}

// Handle implements slog.Handler.
func (h debugHandler) Handle(ctx context.Context, r slog.Record) error {
	r.Level = slog.LevelDebug
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h debugHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return debugHandler{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h debugHandler) WithGroup(name string) slog.Handler {
	return debugHandler{h.Handler.WithGroup(name)}
}
