package engine

import (
	"context"
	"errors"
	"log/slog"
)

// riverLogger returns the logger for River, the library of the job queue. It passes on
// warnings and errors only. It drops reports of cancelled jobs, which River logs as errors
// at each stop.
func (db *DB) riverLogger() *slog.Logger {
	return slog.New(warnings{db.logger.Handler()})
}

// warnings is a log handler that passes on warnings and errors, except those about
// cancelled contexts.
type warnings struct{ slog.Handler }

func (h warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && h.Handler.Enabled(ctx, level)
}

// Handle drops the record if one of its attributes is the error context.Canceled or a text
// equal to that error's message.
func (h warnings) Handle(ctx context.Context, r slog.Record) error {
	cancelled := false
	r.Attrs(func(a slog.Attr) bool {
		err, _ := a.Value.Any().(error)
		cancelled = cancelled || errors.Is(err, context.Canceled) || a.Value.String() == context.Canceled.Error()
		return !cancelled
	})
	if cancelled {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

func (h warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnings{h.Handler.WithAttrs(attrs)}
}

func (h warnings) WithGroup(name string) slog.Handler {
	return warnings{h.Handler.WithGroup(name)}
}
