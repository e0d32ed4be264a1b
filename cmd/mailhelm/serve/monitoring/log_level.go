package monitoring

import (
	"context"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/installation"
)

// LogLevelEvery is the interval at which a process reads the log level from the database.
const LogLevelEvery = time.Second

// logLevelTimeout limits one read of the log level.
const logLevelTimeout = 3 * time.Second

// LogLevels sets the log level of this process to that of the installation, which `mailhelm
// admin log-level` changes.
type LogLevels struct {
	Facts installation.Store
	// Level is the level of the log of this process.
	Level *slog.LevelVar
	// Own is the level of the settings, which applies if the installation has none.
	Own   slog.Level
	Clock core.Clock
	Log   *slog.Logger
}

// Follow applies the stored level whenever tick receives a value, until ctx ends.
func (l LogLevels) Follow(ctx context.Context, tick <-chan time.Time) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick:
			l.apply(ctx)
		}
	}
}

// apply reads the stored level and applies it. If it cannot be read, the level stays.
func (l LogLevels) apply(ctx context.Context) {
	ctx, cancel := context.WithTimeout(core.WithLane(ctx, core.Vital), logLevelTimeout)
	defer cancel()
	value, err := l.Facts.Fact(ctx, installation.LogLevelFact)
	if err != nil {
		l.Log.DebugContext(ctx, "log level not read", "error", err)
		return
	}
	stored, err := installation.ParseLogLevel(value)
	if err != nil {
		l.Log.WarnContext(ctx, "log level not changed", "error", err)
		return
	}
	level := l.Own
	if stored.Applies(l.Clock()) {
		level = stored.Level
	}
	if before := l.Level.Level(); before != level {
		l.Level.Set(min(before, level)) // so that the line is logged if one of the levels allows it
		l.Log.InfoContext(ctx, "log level changed", "from", before.String(), "to", level.String())
		l.Level.Set(level)
	}
}
