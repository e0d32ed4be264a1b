package monitoring

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/installation"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestTheStoredLogLevelApplies checks that the stored level replaces that of the settings until
// its end, and that the level stays if the stored one is invalid or cannot be read.
func TestTheStoredLogLevelApplies(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		var log bytes.Buffer
		now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
		level := new(slog.LevelVar)
		level.Set(slog.LevelWarn)
		l := LogLevels{
			Facts: db.Installation(), Level: level, Own: slog.LevelWarn, Clock: func() time.Time { return now },
			Log: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: level})),
		}
		expect := func(when string, want slog.Level) {
			t.Helper()
			l.apply(t.Context())
			if got := level.Level(); got != want {
				t.Errorf("%s: %s, want %s", when, got, want)
			}
		}
		set := func(value string) {
			t.Helper()
			if err := db.Installation().SetFact(t.Context(), installation.LogLevelFact, value, now); err != nil {
				t.Fatal(err)
			}
		}
		expect("at first", slog.LevelWarn)
		until := now.Add(time.Hour)
		set(installation.LogLevel{Level: slog.LevelDebug, Until: &until}.Value())
		expect("for an hour", slog.LevelDebug)
		if !strings.Contains(log.String(), `"from":"WARN","to":"DEBUG"`) {
			t.Errorf("logged %s", log.String())
		}
		set("{")
		expect("with an invalid value", slog.LevelDebug)
		set(installation.LogLevel{Level: slog.LevelDebug, Until: &until}.Value())
		now = until
		expect("after an hour", slog.LevelWarn)
		set(installation.LogLevel{Level: slog.LevelError}.Value())
		now = now.Add(1000 * time.Hour)
		expect("without an end", slog.LevelError)
		set("")
		expect("without a stored level", slog.LevelWarn)
		set(installation.LogLevel{Level: slog.LevelInfo}.Value())
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		expect("without a database", slog.LevelWarn)
	})
}
