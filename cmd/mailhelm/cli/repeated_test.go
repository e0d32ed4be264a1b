package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// logLines returns "LEVEL message repeated" of each line of a log in JSON.
func logLines(t *testing.T, log *bytes.Buffer) []string {
	t.Helper()
	var lines []string
	for text := range strings.Lines(log.String()) {
		var line struct {
			Level, Msg string
			Repeated   int
		}
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fmt.Sprint(line.Level, " ", line.Msg, " ", line.Repeated))
	}
	log.Reset()
	return lines
}

func TestRepeatedWarningsAreLoggedOnceAndCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		handler, flush := newWithoutRepeats(slog.NewJSONHandler(&log, nil))
		l := slog.New(handler)
		sync := func(org string, port int) {
			l.With("room", "topics").Warn("the account does not answer", "org_id", org, "took", time.Duration(port),
				"error", fmt.Errorf("read tcp 127.0.0.1:%d: %w", port, errors.New("refused")))
		}
		expect := func(step string, want ...string) {
			t.Helper()
			synctest.Wait()
			if got := logLines(t, &log); strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("%s: got\n%s\nwant\n%s", step, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		const first = "WARN the account does not answer "
		sync("a", 4001)
		sync("a", 4002)
		sync("a", 4003)
		expect("three times", first+"0")
		sync("b", 4004)
		expect("of another organization", first+"0")
		time.Sleep(repeatWindow) //nolint:forbidigo // advances the clock of synctest
		expect("the window ends", first+"2")
		sync("a", 4005)
		time.Sleep(repeatWindow) //nolint:forbidigo // advances the clock of synctest
		expect("the next window", first+"1")
		time.Sleep(repeatWindow) //nolint:forbidigo // advances the clock of synctest
		expect("recovery", "INFO ceased: the account does not answer 3")
		sync("a", 4006)
		expect("again", first+"0")
		for range 3 {
			l.Info("call", "outcome", "ok")
		}
		expect("information", "INFO call 0", "INFO call 0", "INFO call 0")
		for i := range 3 {
			l.Error("call", "request_id", fmt.Sprint("r", i))
		}
		expect("calls", "ERROR call 0", "ERROR call 0", "ERROR call 0")
		sync("a", 4007)
		flush()
		expect("the end", first+"1")
		sync("a", 4008)
		expect("after the end", first+"0")
		flush()
	})
}

func TestRememberedWarningsAreBounded(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	handler, flush := newWithoutRepeats(slog.NewJSONHandler(&log, nil))
	for i := range maxRepeats + 10 {
		slog.New(handler).Warn("w", "id", fmt.Sprint("x", i))
	}
	if len(handler.seen.byID) != maxRepeats || len(logLines(t, &log)) != maxRepeats+10 {
		t.Errorf("%d warnings are remembered", len(handler.seen.byID))
	}
	flush()
	if len(handler.seen.byID) != 0 {
		t.Error("warnings are still remembered")
	}
}

// TestDurationsHaveAUnit checks that every duration in the log is a number of milliseconds,
// whose name says so, also in groups and in attributes of the logger.
func TestDurationsHaveAUnit(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	p := &Program{Stderr: &log}
	l, level, err := p.LeveledLogger("info")
	if err != nil {
		t.Fatal(err)
	}
	l.With("limit", time.Minute).Info("a call", "took", 1234567*time.Nanosecond, slog.Group("wait", "longest", 2*time.Second))
	l.Debug("hidden")
	level.Set(slog.LevelDebug)
	l.Debug("shown")
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], `"limit_ms":60000,"took_ms":1.234,"wait":{"longest_ms":2000}`) || !strings.Contains(lines[1], "shown") {
		t.Errorf("logged %s", log.String())
	}
}

// TestMessagesWithNumbersAreRepeats checks that messages of net/http, which contain the address
// of the client, are logged once.
func TestMessagesWithNumbersAreRepeats(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	handler, flush := newWithoutRepeats(slog.NewJSONHandler(&log, nil))
	l := slog.NewLogLogger(handler, slog.LevelWarn)
	for port := range 3 {
		l.Printf("http: Accept error: accept tcp 127.0.0.1:%d: too many open files; retrying in %dms", 4000+port, 5*port)
	}
	flush()
	if lines := logLines(t, &log); len(lines) != 2 || !strings.HasSuffix(lines[1], " 2") {
		t.Errorf("logged %q", lines)
	}
}

// TestMessagesOfTheJobLibraryAreRepeats checks that messages of River are logged once while the
// database is away, although each names another port and another time until the next attempt.
func TestMessagesOfTheJobLibraryAreRepeats(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	handler, flush := newWithoutRepeats(slog.NewJSONHandler(&log, nil))
	for attempt, sleep := range []string{"853ms", "2s", "4.1s", "1m3s"} {
		slog.New(handler).Error("leadership.Elector: Error attempting to elect", slog.Int("attempt", attempt), slog.String("client_id", "host-1"),
			slog.String("err", fmt.Sprintf("read tcp 127.0.0.1:%d: connection refused", 4000+attempt)), slog.String("sleep_duration", sleep))
	}
	flush()
	if lines := logLines(t, &log); len(lines) != 2 || !strings.HasSuffix(lines[1], " 3") {
		t.Errorf("logged %q", lines)
	}
}
