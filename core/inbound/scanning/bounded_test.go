package scanning_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inbound/scanning"
	"github.com/prometheus/client_golang/prometheus"
)

// scanner is a client whose behavior a test sets.
type scanner struct {
	mu          sync.Mutex
	scan        func(ctx context.Context, raw io.Reader) (inbound.Finding, error)
	ping        func(ctx context.Context) error
	scans       atomic.Int64
	pings       atomic.Int64
	now, atOnce atomic.Int64 // scans that run, and the most at any time
}

var errScanner = errors.New("the scanner is broken")

func (s *scanner) set(scan func(context.Context, io.Reader) (inbound.Finding, error), ping func(context.Context) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scan, s.ping = scan, ping
}

func (s *scanner) Scan(ctx context.Context, _ inbound.Envelope, raw io.Reader, _ int64) (inbound.Finding, error) {
	s.scans.Add(1)
	for now := s.now.Add(1); ; {
		most := s.atOnce.Load()
		if now <= most || s.atOnce.CompareAndSwap(most, now) {
			break
		}
	}
	defer s.now.Add(-1)
	s.mu.Lock()
	scan := s.scan
	s.mu.Unlock()
	return scan(ctx, raw)
}

func (s *scanner) Ping(ctx context.Context) error {
	s.pings.Add(1)
	s.mu.Lock()
	ping := s.ping
	s.mu.Unlock()
	return ping(ctx)
}

// The behaviors of a scanner.
func passes(_ context.Context, raw io.Reader) (inbound.Finding, error) {
	_, err := io.Copy(io.Discard, raw)
	return inbound.Finding{Verdict: inbound.Pass}, err
}
func fails(context.Context, io.Reader) (inbound.Finding, error) { return inbound.Finding{}, errScanner }
func hangs(ctx context.Context, _ io.Reader) (inbound.Finding, error) {
	<-ctx.Done()
	return inbound.Finding{}, errors.New("i/o timeout")
}

func tooLarge(context.Context, io.Reader) (inbound.Finding, error) {
	return inbound.Finding{}, inbound.ErrTooLarge
}
func answers(context.Context) error  { return nil }
func isSilent(context.Context) error { return errScanner }
func isHung(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// bound returns a bounded scanner with the default limits, and its metrics and log.
func bound(s *scanner) (*scanning.Bounded, *prometheus.Registry, *bytes.Buffer) {
	registry, log := prometheus.NewRegistry(), &bytes.Buffer{}
	return scanning.Bound(s, scanning.Config{
		Name: "rspamd", Clock: time.Now, Metrics: scanning.NewMetrics(registry), Log: slog.New(slog.NewTextHandler(log, nil)),
	}), registry, log
}

func scan(ctx context.Context, b *scanning.Bounded) error {
	const message = "Subject: Hello\r\n\r\n"
	_, err := b.Scan(ctx, inbound.Envelope{}, strings.NewReader(message), int64(len(message)))
	return err
}

// outcomes returns the number of scans by outcome, without those that have none. It checks that the duration of each was
// observed.
func outcomes(t *testing.T, registry *prometheus.Registry) map[string]int {
	t.Helper()
	families, err := registry.Gather()
	if err != nil || len(families) != 2 {
		t.Fatalf("%d metrics, %v", len(families), err)
	}
	counted, total := map[string]int{}, 0
	for _, m := range families[1].GetMetric() { // sorted by name: mailhelm_scans_total
		if labels := m.GetLabel(); len(labels) != 2 || labels[1].GetValue() != "rspamd" {
			t.Errorf("labels %v", labels)
		}
		n := int(m.GetCounter().GetValue())
		if n > 0 {
			counted[m.GetLabel()[0].GetValue()] = n
		}
		total += n
	}
	if observed := families[0].GetMetric()[0].GetHistogram().GetSampleCount(); int(observed) != total {
		t.Errorf("the duration of %d scans was observed, %d were counted", observed, total)
	}
	return counted
}

// TestDeadScanner checks that a scanner that hangs delays few messages, and that it is used
// again soon after it answers.
func TestDeadScanner(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &scanner{scan: hangs, ping: isHung}
		b, _, log := bound(s)
		began := time.Now()
		for range 3 {
			if err := scan(t.Context(), b); !errors.Is(err, scanning.ErrTimeout) {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took != 3*scanning.DefaultTimeout {
			t.Errorf("three scans took %v", took)
		}
		began = time.Now()
		for range 1000 {
			if err := scan(t.Context(), b); !errors.Is(err, scanning.ErrPaused) {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took != 2*time.Second || s.pings.Load() != 1 || s.scans.Load() != 3 {
			t.Errorf("a thousand scans took %v, with %d pings", took, s.pings.Load())
		}
		time.Sleep(5 * time.Second) //nolint:forbidigo // the clock of the bubble; nothing pauses
		var wait sync.WaitGroup
		began = time.Now()
		var delayed atomic.Int64
		for range 100 {
			wait.Go(func() {
				if err := scan(t.Context(), b); !errors.Is(err, scanning.ErrPaused) {
					t.Error(err)
				}
				if time.Since(began) > 0 {
					delayed.Add(1)
				}
			})
		}
		wait.Wait()
		if s.pings.Load() != 2 || delayed.Load() != 1 {
			t.Errorf("%d pings, %d messages were delayed, want one of a hundred", s.pings.Load(), delayed.Load())
		}
		s.set(passes, answers)
		time.Sleep(5 * time.Second) //nolint:forbidigo // the clock of the bubble; nothing pauses
		for range 10 {
			if err := scan(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
		if s.pings.Load() != 3 {
			t.Errorf("%d pings, want one more", s.pings.Load())
		}
		if n := strings.Count(log.String(), "\n"); n != 3 || !strings.Contains(log.String(), "scanned again") || strings.Contains(log.String(), "Hello") {
			t.Errorf("%d lines in the log:\n%s", n, log)
		}
	})
}

// TestMessagesDoNotPauseScanner checks that messages that a scanner cannot judge do not keep
// it from judging others, whatever their number.
func TestMessagesDoNotPauseScanner(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &scanner{ping: answers}
		b, _, _ := bound(s)
		for range 20 {
			s.set(hangs, answers)
			var wait sync.WaitGroup
			for range 3 {
				wait.Go(func() {
					if err := scan(t.Context(), b); !errors.Is(err, scanning.ErrTimeout) {
						t.Error(err)
					}
				})
			}
			wait.Wait()
			s.set(passes, func(context.Context) error {
				// All scans wait for the ping.
				time.Sleep(time.Second) //nolint:forbidigo // the clock of the bubble; nothing pauses
				return nil
			})
			for range 5 {
				wait.Go(func() {
					if err := scan(t.Context(), b); err != nil {
						t.Error(err)
					}
				})
			}
			wait.Wait()
		}
		if s.pings.Load() != 20 {
			t.Errorf("%d pings, want one after each three failures", s.pings.Load())
		}
	})
}

// TestWhatIsNoFailure checks that the scanner is not asked by a ping when scans end for
// other reasons: the caller has gone, or the message is too large or unreadable.
func TestWhatIsNoFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &scanner{scan: hangs, ping: isSilent}
		b, _, log := bound(s)
		for range 10 {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			if err := scan(ctx, b); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		}
		s.set(tooLarge, isSilent)
		for range 10 {
			if err := scan(t.Context(), b); !errors.Is(err, inbound.ErrTooLarge) {
				t.Fatal(err)
			}
		}
		s.set(passes, isSilent)
		for range 10 {
			for size, raw := range map[int64]io.Reader{
				5: strings.NewReader("1234"), 3: strings.NewReader("1234"), 0: strings.NewReader("1"), 1: strings.NewReader(""),
			} {
				if got, err := b.Scan(t.Context(), inbound.Envelope{}, raw, size); !errors.Is(err, scanning.ErrSize) || got.Verdict != "" {
					t.Fatalf("%d: %+v, %v", size, got, err)
				}
			}
			for _, fault := range []error{io.ErrUnexpectedEOF, io.ErrNoProgress} {
				if _, err := b.Scan(t.Context(), inbound.Envelope{}, iotest.ErrReader(fault), 5); !errors.Is(err, fault) {
					t.Fatal(err)
				}
			}
		}
		if err := scan(t.Context(), b); err != nil || s.pings.Load() != 0 || log.Len() != 0 {
			t.Errorf("%v after %d pings, the log:\n%s", err, s.pings.Load(), log)
		}
	})
}

// TestDeadlineOfCaller checks that a scanner that hangs is noticed if callers have less time.
func TestDeadlineOfCaller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &scanner{scan: hangs, ping: isHung}
		b, _, _ := bound(s)
		short := func() error {
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			return scan(ctx, b)
		}
		for range 3 {
			if err := short(); !errors.Is(err, scanning.ErrTimeout) {
				t.Fatal(err)
			}
		}
		if err := short(); !errors.Is(err, scanning.ErrPaused) {
			t.Error(err)
		}
	})
}

// TestSlots checks that at most eight scans run at once, and that others wait, but no longer
// than a scan may take.
func TestSlots(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &scanner{ping: answers}
		s.set(func(ctx context.Context, raw io.Reader) (inbound.Finding, error) {
			time.Sleep(6 * time.Second) //nolint:forbidigo // the clock of the bubble; nothing pauses
			return passes(ctx, raw)
		}, answers)
		b, registry, _ := bound(s)
		var busy, passed atomic.Int64
		var wait sync.WaitGroup
		began := time.Now()
		for range 30 {
			wait.Go(func() {
				switch err := scan(t.Context(), b); {
				case err == nil:
					passed.Add(1)
				case errors.Is(err, scanning.ErrBusy):
					busy.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		wait.Wait()
		if took := time.Since(began); s.atOnce.Load() != 8 || passed.Load() != 24 || busy.Load() != 6 || took != 18*time.Second {
			t.Errorf("%d at once, %d passed, %d busy, in %v", s.atOnce.Load(), passed.Load(), busy.Load(), took)
		}
		if diff := cmp.Diff(map[string]int{"pass": 24, "busy": 6}, outcomes(t, registry)); diff != "" {
			t.Errorf("metrics (-want +got):\n%s", diff)
		}
	})
}

// TestLateReads checks that a client that reads the message after its Scan gets an error.
func TestLateReads(t *testing.T) {
	t.Parallel()
	s := &scanner{ping: answers}
	var kept io.Reader
	s.set(func(_ context.Context, raw io.Reader) (inbound.Finding, error) {
		kept = raw
		return fails(t.Context(), raw)
	}, answers)
	b, _, _ := bound(s)
	if err := scan(t.Context(), b); !errors.Is(err, errScanner) {
		t.Error(err)
	}
	if n, err := kept.Read(make([]byte, 10)); n != 0 || err == nil || err == io.EOF {
		t.Errorf("%d bytes were read late, %v", n, err)
	}
}

// TestMetrics checks the outcome of each way in which a scan ends.
func TestMetrics(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &scanner{}
		b, registry, _ := bound(s)
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		for _, verdict := range []inbound.Verdict{inbound.Pass, inbound.Fail, inbound.Gray} {
			s.set(func(context.Context, io.Reader) (inbound.Finding, error) {
				return inbound.Finding{Verdict: verdict}, nil
			}, isSilent)
			_ = scan(t.Context(), b) // the outcomes are counted below
		}
		s.set(passes, isSilent)
		if _, err := b.Scan(t.Context(), inbound.Envelope{}, strings.NewReader("x"), 2); err == nil {
			t.Error("a message of another size was judged")
		}
		for _, behavior := range []func(context.Context, io.Reader) (inbound.Finding, error){tooLarge, hangs, fails, fails, fails} {
			s.set(behavior, isSilent)
			_ = scan(t.Context(), b)
		}
		_ = scan(gone, b)
		want := map[string]int{
			"caller_gone": 1, "fail": 1, "failed": 2, "gray": 1, "pass": 1, "paused": 1, "timeout": 1, "too_large": 1, "unreadable": 1,
		}
		if diff := cmp.Diff(want, outcomes(t, registry)); diff != "" {
			t.Errorf("metrics (-want +got):\n%s", diff)
		}
	})
}

// TestPrintable checks that texts from a scanner have no control characters and are cut.
func TestPrintable(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "a\x00b\r\n\x1b[0m\u0085é\xff": "ab[0mé?", strings.Repeat("é", 201): strings.Repeat("é", 200),
	} {
		if diff := cmp.Diff(want, scanning.Printable(text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}
