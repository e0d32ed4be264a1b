package ingest_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/reports"
	"github.com/mailhelm/mailhelm/core/suppression"
	"github.com/mailhelm/mailhelm/rest/ingest"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// figures replaces the scene's handler of events by one that also counts events and lists
// undeliverable addresses. The function fault wraps the recorder that stores events, so
// that a test can make it fail.
func (s *scene) figures(fault func(ingest.Recorder) ingest.Recorder) *suppression.Suppression {
	clock := func() time.Time { return now }
	judged := suppression.New(suppression.Config{
		Store: s.db.Suppression(), RuleStore: s.db.SuppressionRules(), Transactor: s.db, Orgs: s.db.Orgs().OrgIDs, Clock: clock, Log: slog.New(slog.DiscardHandler),
	})
	cfg := s.events
	cfg.Metrics = nil
	cfg.Events = fault(messages.NewBatch(messages.New(messages.Config{
		Store: s.db.Messages(), Transactor: s.db, Clock: clock,
		Recorders: []messages.Recorder{reports.New(reports.Config{Store: s.db.Reports(), Clock: clock}), judged},
	})))
	s.handler = ingest.New(cfg)
	return judged
}

type recorder func(ctx context.Context, orgID string, events []messages.Event) (messages.Recorded, error)

func (r recorder) Record(ctx context.Context, orgID string, events []messages.Event) (messages.Recorded, error) {
	return r(ctx, orgID, events)
}

func eventJSON(kind, member, more string) string {
	return `{"eventType":"` + kind + `","mail":{"timestamp":"2026-03-02T11:59:00.000Z","messageId":"crash","source":"a@b.example","destination":["c@d.example"]},"` +
		member + `":{"timestamp":"2026-03-02T11:59:01.000Z"` + more + `}}`
}

// crashes has one event of each type that TestCrashBetweenCommitAndAnswer sends. For each,
// the test panics after the commit, which simulates a crash of the server before it
// acknowledges the event.
var crashes = []string{
	eventJSON("Send", "send", ""), eventJSON("Delivery", "delivery", `,"recipients":["c@d.example"]`),
	eventJSON("Bounce", "bounce", `,"bounceType":"Permanent","bounceSubType":"General","bouncedRecipients":[{"emailAddress":"c@d.example"}]`),
	eventJSON("Complaint", "complaint", `,"complainedRecipients":[{"emailAddress":"c@d.example"}]`),
	eventJSON("Open", "open", ""), eventJSON("Click", "click", `,"link":"https://x.example/"`),
}

// TestCrashBetweenCommitAndAnswer checks an event that its source sends again because the
// process crashed after the commit. The event must be counted once. The test checks the
// counts, the unique counts and the undeliverable address.
func TestCrashBetweenCommitAndAnswer(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	var crashing atomic.Bool
	judged := s.figures(func(real ingest.Recorder) ingest.Recorder {
		return recorder(func(ctx context.Context, orgID string, events []messages.Event) (messages.Recorded, error) {
			done, err := real.Record(ctx, orgID, events)
			if crashing.Load() {
				panic(http.ErrAbortHandler)
			}
			return done, err
		})
	})
	send := func(event string) *httptest.ResponseRecorder {
		return s.post("path-ses", map[string]string{"X-Api-Key": eventKey}, []byte(event))
	}
	crashing.Store(true)
	for _, event := range crashes {
		if w := send(event); w.Code == http.StatusAccepted {
			t.Error("acknowledged")
		}
	}
	crashing.Store(false)
	for range 3 {
		for _, event := range crashes {
			wantAccepted(t, send(event))
		}
	}
	days, err := s.db.Reports().DayCounts(t.Context(), "org-ses", reports.Filter{Window: core.Window{From: now.AddDate(0, 0, -2), To: now.AddDate(0, 0, 2)}})
	want := reports.Counts{Sent: 1, Delivered: 1, Bounced: 1, Complained: 1, Opens: 1, UniqueOpens: 1, Clicks: 1, UniqueClicks: 1}
	if err != nil || len(days) != 1 || cmp.Diff(want, days[0].Counts) != "" {
		t.Errorf("counted %+v, %v", days, err)
	}
	listed, err := judged.Undeliverable(t.Context(), "org-ses", "c@d.example")
	if err != nil || listed == nil || listed.EventCount != 2 {
		t.Errorf("listed %+v, %v", listed, err)
	}
	if got := s.countStored("org-ses", "crash"); got != len(crashes) {
		t.Errorf("%d events", got)
	}
}

// TestAnUnprocessableEventGets500 checks that an event which a recorder cannot process is
// answered with 500, so that its source repeats it. The failure is logged and counted, and
// other events are stored. The event itself is stored once the recorder works.
func TestAnUnprocessableEventGets500(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	var broken atomic.Bool
	broken.Store(true)
	cfg := s.events
	s.metrics = prometheus.NewRegistry()
	cfg.Metrics = s.metrics
	poison := poisonFor(func(e messages.Event) bool { return broken.Load() && e.MessageID == "poison" })
	cfg.Events = messages.NewBatch(messages.New(messages.Config{
		Store: s.db.Messages(), Transactor: s.db, Clock: s.events.Clock, Recorders: []messages.Recorder{poison},
	}))
	s.handler = ingest.New(cfg)
	send := func(id string) *httptest.ResponseRecorder {
		return s.post("path-ses", map[string]string{"X-Api-Key": eventKey}, []byte(deliveryOf(id)))
	}
	for range 3 {
		problem(t, send("poison"), 500, "internal_error")
		wantAccepted(t, send("good"))
	}
	if s.countStored("org-ses", "poison") != 0 || s.countStored("org-ses", "good") != 1 {
		t.Error("half of it is stored")
	}
	if log := s.log.String(); !strings.Contains(log, "level=ERROR") || !strings.Contains(log, "figures cannot digest") || strings.Contains(log, "@") || strings.Contains(log, "path-ses") {
		t.Errorf("log: %s", log)
	}
	broken.Store(false)
	wantAccepted(t, send("poison"))
	// An unknown event type in the body of a request must not become a metric label.
	for _, hostile := range []string{`{"eventType":"x1"}`, `{"eventType":"x2","mail":{}}`, `{"notificationType":"` + strings.Repeat("y", 1000) + `"}`} {
		problem(t, s.post("path-ses", map[string]string{"X-Api-Key": eventKey}, []byte(hostile)), 400, "validation_failed")
	}
	w := httptest.NewRecorder()
	promhttp.HandlerFor(s.metrics, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody))
	var got []string
	for line := range strings.Lines(w.Body.String()) {
		if strings.HasPrefix(line, "mailhelm_ingest_events_total{") && !strings.HasSuffix(line, " 0\n") {
			got = append(got, strings.TrimSpace(strings.TrimPrefix(line, "mailhelm_ingest_events_total")))
		}
	}
	want := []string{
		`{outcome="duplicate",type="Delivery"} 2`, `{outcome="failed",type="Delivery"} 3`,
		`{outcome="malformed",type=""} 3`, `{outcome="recorded",type="Delivery"} 2`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestPanicLogOmitsThePanicText checks that the log of a panic shows where it happened but
// not its text, which may contain personal data of the event.
func TestPanicLogOmitsThePanicText(t *testing.T) {
	t.Parallel()
	for name, put := range map[string]func(*ingest.Config, messages.Config){
		"in the handler": func(cfg *ingest.Config, _ messages.Config) {
			cfg.Events = recorder(func(_ context.Context, _ string, events []messages.Event) (messages.Recorded, error) {
				panic("cannot digest " + events[0].Recipient)
			})
		},
		"in the batch": func(cfg *ingest.Config, figures messages.Config) {
			figures.Recorders = []messages.Recorder{panicking{}}
			cfg.Events = messages.NewBatch(messages.New(figures))
		},
	} {
		s := newScene(t)
		cfg := s.events
		cfg.Metrics = nil
		put(&cfg, messages.Config{Store: s.db.Messages(), Transactor: s.db, Clock: cfg.Clock})
		s.handler = ingest.New(cfg)
		problem(t, s.post("path-ses", map[string]string{"X-Api-Key": eventKey}, []byte(deliveryOf("any"))), 500, "internal_error")
		if log := s.log.String(); strings.Contains(log, "@") || strings.Contains(log, "digest") || !strings.Contains(log, "crash_test.go") {
			t.Errorf("%s: %s", name, log)
		}
	}
}

type panicking struct{}

func (panicking) ObserveEvents(_ context.Context, _ string, events []messages.Event) error {
	panic(errors.New("cannot digest " + events[0].Recipient))
}

type poisonFor func(messages.Event) bool

var errIndigestible = errors.New("figures cannot digest it")

func (p poisonFor) ObserveEvents(_ context.Context, _ string, events []messages.Event) error {
	for _, e := range events {
		if p(e) {
			return errIndigestible
		}
	}
	return nil
}
