package cli

import (
	"io"
	"log/slog"
	"slices"

	"github.com/spf13/pflag"
)

// logging says how a command logs.
type logging struct{ format, level string }

func (l *logging) flags(flags *pflag.FlagSet) {
	flags.StringVar(&l.format, "log-format", "text", "`form` of the log on standard error: text or json")
	flags.StringVar(&l.level, "log-level", "info", "least `level` that is logged: debug, info, warn or error")
}

// logger makes a logger to w whose lines hold no secrets.
func (l *logging) logger(w io.Writer, redact func(string) string) (*slog.Logger, error) {
	var level slog.Level
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, l.level) {
		return nil, usagef("--log-level is debug, info, warn or error, not %q", l.level)
	}
	if err := level.UnmarshalText([]byte(l.level)); err != nil {
		return nil, usagef("--log-level: %w", err)
	}
	out := &redactingWriter{to: w, redact: redact}
	opts := &slog.HandlerOptions{Level: level}
	switch l.format {
	case "text":
		return slog.New(slog.NewTextHandler(out, opts)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(out, opts)), nil
	}
	return nil, usagef("--log-format is text or json, not %q", l.format)
}

// redactingWriter takes secrets out of each line; a log handler writes a line
// by one Write.
type redactingWriter struct {
	to     io.Writer
	redact func(string) string
}

// Write implements io.Writer.
func (w *redactingWriter) Write(line []byte) (int, error) {
	if _, err := io.WriteString(w.to, w.redact(string(line))); err != nil {
		return 0, err
	}
	return len(line), nil
}
