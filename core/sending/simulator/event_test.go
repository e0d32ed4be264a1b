package simulator_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/goldentest"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// everything has probabilities that are high enough for every type of event to occur with
// the seeds of the tests.
var everything = simulator.Behaviour{Delay: 0.2, Bounce: 0.1, Complaint: 0.2, Open: 0.8, Click: 0.8, Unsubscribe: 0.8}

func sendEverything(t testing.TB, s *stage) {
	t.Helper()
	m := message("reader@example.net", "Ben <ben@example.net>", "bounced@example.net")
	m.CC, m.ReplyTo = []string{"copy@example.net"}, []string{"help@example.com"}
	m.Tags = map[string]string{"campaign": "spring", "area": "north"}
	m.Headers = []sending.Header{{Name: "X-Order", Value: "7 <&>"}}
	m.ConfigurationSet, m.Content.Subject = "both", "Grüße <&> \u2028"
	bad := message("ann@example.org")
	bad.Content.Text = "EICAR-STANDARD-ANTIVIRUS-TEST-FILE"
	incomplete := message("ann@example.org")
	incomplete.Content = sending.Content{Template: "welcome", TemplateData: `{"name":"Ann"}`}
	for range 10 {
		for _, one := range []sending.Message{m, bad, incomplete} {
			_, err := s.Send(t.Context(), "org", one)
			must(t, err)
		}
		s.now = s.now.Add(1e9)
	}
}

func eventsOf(t testing.TB, s *stage) []simulator.Event {
	t.Helper()
	due, err := s.Outbox().Due(t.Context(), "org", s.now.AddDate(1, 0, 0), 100_000)
	must(t, err)
	return due
}

// TestGoldenEventRecords compares the first event record of each type with its golden file.
func TestGoldenEventRecords(t *testing.T) {
	t.Parallel()
	s := newStage(t, simulator.Options{Seed: 1, Behaviour: everything}, setup())
	sendEverything(t, s)
	seen := map[string]bool{}
	for _, e := range eventsOf(t, s) {
		var r record
		must(t, json.Unmarshal(e.JSON, &r))
		if seen[r.EventType] {
			continue
		}
		seen[r.EventType] = true
		var got bytes.Buffer
		must(t, json.Indent(&got, e.JSON, "", "  "))
		got.WriteByte('\n')
		golden := filepath.Join("testdata", "events", strings.ReplaceAll(r.EventType, " ", "")+".json")
		if *update {
			must(t, os.MkdirAll(filepath.Dir(golden), 0o700))
			must(t, goldentest.Write(golden, got.Bytes(), 0o600))
		}
		want, err := os.ReadFile(golden)
		must(t, err)
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", r.EventType, diff)
		}
	}
	if len(seen) != 10 {
		t.Errorf("the types of events are %v, want all ten", seen)
	}
}

// TestSameSeedSameEvents checks that the same calls with the same seed give equal event
// records in two files. Another seed must give other records.
func TestSameSeedSameEvents(t *testing.T) {
	t.Parallel()
	run := func(seed uint64, with simulator.Setup) []simulator.Event {
		s := newStage(t, simulator.Options{Seed: seed, Behaviour: everything}, with)
		sendEverything(t, s)
		return eventsOf(t, s)
	}
	first := run(5, setup())
	if diff := cmp.Diff(first, run(5, setup())); diff != "" {
		t.Errorf("the same calls gave other events:\n%s", diff)
	}
	// not cmp.Equal, which takes a minute to compare two different lists
	if reflect.DeepEqual(first, run(6, setup())) {
		t.Error("another seed gave the same events")
	}
}

// TestRestartsChangeNoEvents checks that the random events of a message depend on the seed
// and the number of the message, not on restarts.
func TestRestartsChangeNoEvents(t *testing.T) {
	t.Parallel()
	run := func(restart bool) []simulator.Event {
		path, opts := filepath.Join(t.TempDir(), "account.db"), simulator.Options{Seed: 5, Behaviour: everything}
		s := &stage{now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
		opts.Clock = s.clock
		s.Simulator = open(t, path, opts)
		must(t, s.Seed(t.Context(), "org", setup()))
		for range 3 {
			sendEverything(t, s)
			if restart {
				must(t, s.Close())
				s.Simulator = open(t, path, opts)
			}
		}
		return eventsOf(t, s)
	}
	without := run(false)
	if len(without) < 100 {
		t.Fatalf("only %d events", len(without))
	}
	if diff := cmp.Diff(without, run(true)); diff != "" {
		t.Errorf("restarts changed events:\n%s", diff)
	}
}

func TestOutboxHandsOutAtLeastOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t, simulator.Options{Seed: 3}, setup())
	for range 20 {
		_, err := s.Send(t.Context(), "org", message("ben@example.net"))
		must(t, err)
	}
	box := s.Outbox()
	due := func(limit int) []simulator.Event {
		t.Helper()
		events, err := box.Due(t.Context(), "org", s.now, limit)
		must(t, err)
		return events
	}
	if now := due(100); len(now) != 20 {
		t.Errorf("%d events are due at once, want the 20 sends", len(now))
	}
	next, waits, err := box.Next(t.Context(), "org")
	if err != nil || !waits || !next.Equal(s.now) {
		t.Errorf("the next event is at %v, %v, %v", next, waits, err)
	}
	s.now = s.now.Add(5e9)
	if orgs, err := box.WaitingOrgs(t.Context(), s.now); err != nil || len(orgs) != 1 || orgs[0] != "org" {
		t.Errorf("%v wait, %v", orgs, err)
	}
	all := due(100)
	if len(all) != 40 || len(due(7)) != 7 {
		t.Errorf("%d events are due later, want 40", len(all))
	}
	for i := 1; i < len(all); i++ {
		if all[i].At.Before(all[i-1].At) {
			t.Error("the events are not in the order of their times")
		}
	}
	box.SetDisorder(simulator.Disorder{Late: 1e10})
	if late := due(100); len(late) != 0 {
		t.Errorf("%d events come although all are late", len(late))
	}
	box.SetDisorder(simulator.Disorder{Duplicates: 0.5, Shuffled: true})
	mixed := due(100)
	counts, sorted := map[int64]int{}, true
	for i, e := range mixed {
		counts[e.ID]++
		sorted = sorted && (i == 0 || !e.At.Before(mixed[i-1].At))
	}
	if len(counts) != 40 || len(mixed) < 45 || len(mixed) > 75 || sorted {
		t.Errorf("%d events of %d in disorder, sorted: %v", len(mixed), len(counts), sorted)
	}
	if diff := cmp.Diff(mixed, due(100)); diff != "" {
		t.Errorf("the disorder is not repeatable:\n%s", diff)
	}
	box.SetDisorder(simulator.Disorder{})
	must(t, box.RemoveDelivered(t.Context(), "org", all[0].ID, all[1].ID, all[0].ID))
	if remaining := due(100); len(remaining) != 38 || remaining[0].ID != all[2].ID {
		t.Errorf("%d events are left after two are done", len(remaining))
	}
	_, err = box.Due(t.Context(), "nobody", s.now, 1)
	wantFailure(t, err, sending.NotConnected)
}

func TestLostAnswerOfASend(t *testing.T) {
	t.Parallel()
	s := newStage(t, simulator.Options{}, setup())
	s.Faults().Set(simulator.Fault{Method: simulator.MethodSend, Kind: sending.TimedOut, TookEffect: true})
	_, err := s.Send(t.Context(), "org", message("ben@example.net"))
	wantFailure(t, err, sending.TimedOut)
	if got := names(s.records(t)); got != "Send Delivery" {
		t.Errorf("what happens is %q", got)
	}
}

func TestRender(t *testing.T) {
	t.Parallel()
	for text, test := range map[string]struct{ data, want, missing string }{
		"Hello {{name}}":                             {`{"name":"Ann"}`, "Hello Ann", ""},
		"Hello {{ name }} {{{name}}}!":               {`{"name":"<Ann>"}`, "Hello <Ann> <Ann>!", ""},
		"{{a.b.c}} {{n}} {{t}} {{z}}":                {`{"a":{"b":{"c":"x"}},"n":12.5,"t":true,"z":null}`, "x 12.5 true ", ""},
		"{{a.b}} {{c}}":                              {`{"a":"x"}`, " ", "a.b"},
		"{{#if x}}{{y}}{{else}}no{{/if}}{{z}}":       {`{"z":"end"}`, "noend", ""},
		"{{!a comment}}{{#each l}}{{this}}{{/each}}": {``, "", ""},
		"open {{name":                                {`{}`, "open {{name", ""},
		"}} {{}}":                                    {`{}`, "}} ", ""},
	} {
		got, missing, err := simulator.Render(sending.Template{Subject: text}, test.data)
		if err != nil || got.Subject != test.want || missing != test.missing {
			t.Errorf("%q is rendered as %q, missing %q, %v", text, got.Subject, missing, err)
		}
	}
}

// FuzzRender checks that Render does not panic for any template and data, and that every
// error is Invalid.
func FuzzRender(f *testing.F) {
	f.Add("Hello {{name}}", `{"name":"Ann"}`)
	f.Add("{{{a}}}{{#if}}{{/if}}{{/if}}", `{"a":{}}`)
	f.Fuzz(func(t *testing.T, text, data string) {
		if _, _, err := simulator.Render(sending.Template{HTML: text}, data); err != nil {
			wantFailure(t, err, sending.Invalid)
		}
	})
}

// FuzzSend checks that Send either fails with an expected *sending.Failure or creates event
// records that are valid JSON with the id of the message.
func FuzzSend(f *testing.F) {
	s := newStage(f, simulator.Options{Behaviour: everything}, setup())
	f.Add("Shop <shop@example.com>", "ben@example.net", "Hello", "tag", "value", `{"name":"Ann"}`)
	f.Add("\"a b\"@example.com", "<x@example.net>", "\x00", "ses:x", "", "[]")
	f.Add("=?utf-8?q?=00?= <a@example.com>", "größe@example.net", "\xff", "a", "b", `{"name":{}}`)
	f.Fuzz(func(t *testing.T, from, to, subject, tag, value, data string) {
		s.now = s.now.Add(1e10)
		m := message(to)
		m.From, m.Content.Subject, m.Tags = from, subject, map[string]string{tag: value}
		rendered := m
		rendered.Content = sending.Content{Template: "welcome", TemplateData: data}
		for _, one := range []sending.Message{m, rendered} {
			id, err := s.Send(t.Context(), "org", one)
			if err != nil {
				if failure, ok := errors.AsType[*sending.Failure](err); !ok || failure.Kind == sending.Refused || failure.Kind == sending.TimedOut {
					t.Errorf("refused with %v", err)
				}
				continue
			}
			events := eventsOf(t, s)
			for _, e := range events {
				var r record
				if err := json.Unmarshal(e.JSON, &r); err != nil || r.Mail.MessageID != id || len(r.Mail.Destination) != 1 {
					t.Errorf("an event of %s is %s, %v", id, e.JSON, err)
				}
				must(t, s.Outbox().RemoveDelivered(t.Context(), "org", e.ID))
			}
			if len(events) == 0 {
				t.Errorf("%s was taken and nothing becomes of it", id)
			}
		}
	})
}
