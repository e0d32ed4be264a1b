package processing_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inbound/processing"
	"github.com/mailhelm/mailhelm/core/objects"
)

func TestMessageIsParsedStoredAndDelivered(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		const head = "Date: Sun, 1 Mar 2026 12:00:00 +0100\r\nFrom: Anna <anna@example.com>\r\nTo: r@x.test\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\nMessage-ID: <1@example.com>\r\nMIME-Version: 1.0\r\n" +
			"Content-Type: multipart/mixed; boundary=b\r\n\r\n"
		long := strings.Repeat("<p>long</p>\n", 30_000)
		raw := head + "--b\r\nContent-Type: text/plain\r\n\r\nHello\r\n--b\r\nContent-Type: text/html\r\n\r\n" + strings.ReplaceAll(long, "\n", "\r\n") +
			"--b\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; filename=a.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\nUERG\r\n--b--\r\n"
		id := w.accept(t, raw, "inbox")
		w.look(t)
		if len(w.delivered) != 1 || len(w.committed) != 1 || w.waiting(t) != 0 {
			t.Fatalf("delivered %d, committed %d, waiting %d; log %s", len(w.delivered), len(w.committed), w.waiting(t), w.log.String())
		}
		m := w.delivered[0]
		if m.ID != id || m.Subject != "Grüße" || m.From == nil || *m.From != (inbound.Address{Address: "anna@example.com", Name: "Anna"}) || m.Text != "Hello" ||
			m.HTML != "" || m.Date != "Sun, 1 Mar 2026 12:00:00 +0100" || m.HeaderID != "1@example.com" || m.Verdicts.SPF != inbound.Pass || len(m.Headers) != 7 || m.Size != int64(len(raw)) {
			t.Errorf("delivered %+v", m)
		}
		want := inbound.File{Filename: "a.pdf", ContentType: "application/pdf", Size: 3, Key: m.Attachments[0].Key}
		if len(m.Attachments) != 1 || m.Attachments[0] != want {
			t.Errorf("attachments %+v", m.Attachments)
		}
		stored := w.objects(t, m)
		if !reflect.DeepEqual(stored, map[string]string{m.RawKey: raw, m.HTMLKey: strings.TrimSuffix(long, "\n"), want.Key: "PDF"}) {
			for key, content := range stored {
				t.Errorf("object %s has %d bytes: %.40q", key, len(content), content)
			}
		}
	})
}

// TestEachTargetHasItsOwnCopy delivers a message to an inbox, a domain and a target that does not
// keep it. Its copy is deleted, and the other copies stay.
func TestEachTargetHasItsOwnCopy(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		for _, targets := range [][]string{{"inbox", "drop", "domain", "inbox"}, {"drop", "domain", "inbox"}} {
			w.delivered = nil
			w.accept(t, mail("copies"), targets...)
			w.look(t)
			if len(w.delivered) != 3 || w.waiting(t) != 0 {
				t.Fatalf("delivered %+v, waiting %d; log %s", w.delivered, w.waiting(t), w.log.String())
			}
			keys, kept := map[string]bool{}, 0
			for _, m := range w.delivered {
				keys[m.RawKey] = true
				kept += len(w.objects(t, m))
			}
			if len(keys) != 3 || kept != 2 {
				t.Errorf("to %v: keys %v, of which %d have objects, want 2", targets, keys, kept)
			}
		}
	})
}

func TestFailuresArePutOff(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.fails = func(subject string) error {
			switch subject {
			case "refused":
				return errBroken
			case "panics":
				panic("no destination")
			}
			return nil
		}
		for _, subject := range []string{"fine", "refused", "also fine", "panics"} {
			w.accept(t, mail(subject), "inbox")
		}
		w.look(t)
		if got := subjects(w.committed); !slices.Equal(got, []string{"also fine", "fine"}) || w.waiting(t) != 2 {
			t.Fatalf("committed %q, waiting %d", got, w.waiting(t))
		}
		w.fails = nil
		w.look(t)
		if w.waiting(t) != 2 {
			t.Fatal("a failed message was tried again at once")
		}
		w.advance(time.Second)
		w.look(t)
		if got := subjects(w.committed); len(got) != 4 || w.waiting(t) != 0 {
			t.Errorf("committed %q, waiting %d; log %s", got, w.waiting(t), w.log.String())
		}
		if want := map[processing.Outcome]int{processing.Processed: 4, processing.Failed: 2}; !maps.Equal(w.observed, want) || slices.Max(w.ages) != time.Second {
			t.Errorf("observed %v with the ages %v, want %v and a second at most", w.observed, w.ages, want)
		}
	})
}

// TestFailedAttemptsLeaveNoObjects counts the objects of a message with an attachment after
// attempts that fail before and after its parts are stored, and one whose task is claimed again.
func TestFailedAttemptsLeaveNoObjects(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		raw := "Subject: parts\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nHello\r\n" +
			"--b\r\nContent-Disposition: attachment; filename=a.txt\r\n\r\nPART\r\n--b--\r\n"
		var id string
		check := func(what string, want int) {
			t.Helper()
			keys, _, err := w.stores.Files.Of(w.org).List(t.Context(), w.org, time.Now().Add(time.Hour), "", 100)
			if err != nil || len(keys) != want {
				t.Errorf("%s: objects %v, %v, want %d", what, keys, err, want)
			}
		}
		for what, fails := range map[string]func(subject string) error{
			"refused": func(string) error { return errBroken },
			"claimed again": func(string) error {
				_, err := w.PutOff(t.Context(), inbound.Task{OrgID: w.org, Envelope: inbound.Envelope{ID: id}, Attempts: 1}, w.clock())
				if err == nil {
					_, err = w.Claim(t.Context(), w.clock(), w.clock().Add(time.Minute), 10)
				}
				return err
			},
		} {
			w.fails = nil
			id = w.accept(t, raw, "inbox")
			if what == "claimed again" {
				w.judge = func(context.Context, string) inbound.Verdicts {
					if err := fails(""); err != nil {
						t.Error(err)
					}
					return inbound.Verdicts{}
				}
			} else {
				w.fails = fails
			}
			w.look(t)
			check(what, 1) // the message itself
			w.fails, w.judge = nil, nil
			w.advance(time.Hour)
			w.look(t)
			check(what+", then delivered", 2)
			if w.waiting(t) != 0 {
				t.Errorf("%s: %d wait", what, w.waiting(t))
			}
			store := w.stores.Files.Of(w.org)
			if err := store.Delete(t.Context(), w.delivered[len(w.delivered)-1].Keys()...); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestGroupWithFailures delivers messages at the same time: one whose delivery fails, one whose task
// another process has claimed, and some that no destination keeps. They change nothing for the
// others, whatever groups they are committed in.
func TestGroupWithFailures(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.fails = func(subject string) error {
			if subject == "broken" {
				return errBroken
			}
			return nil
		}
		targets := map[string]string{"one": "inbox", "two": "domain", "broken": "inbox", "stolen": "inbox", "dropped": "drop", "three": "inbox"}
		ids := map[string]string{}
		for subject, target := range targets {
			ids[subject] = w.accept(t, mail(subject), target)
		}
		var together sync.WaitGroup
		together.Add(len(targets))
		var stolen []inbound.Task
		w.judge = func(_ context.Context, raw string) inbound.Verdicts {
			if strings.Contains(raw, "stolen") {
				own := inbound.Task{OrgID: w.org, Envelope: inbound.Envelope{ID: ids["stolen"]}, Attempts: 1}
				_, err := w.PutOff(t.Context(), own, start)
				if err == nil {
					stolen, err = w.Claim(t.Context(), start, start.Add(time.Hour), 10)
				}
				if err != nil {
					t.Error(err)
				}
			}
			together.Done()
			together.Wait()
			return inbound.Verdicts{}
		}
		w.look(t)
		if got := subjects(w.committed); !slices.Equal(got, []string{"dropped", "one", "three", "two"}) || w.waiting(t) != 2 {
			t.Errorf("committed %q, waiting %d; log %s", got, w.waiting(t), w.log.String())
		}
		if want := map[processing.Outcome]int{processing.Processed: 4, processing.Failed: 1}; !maps.Equal(w.observed, want) {
			t.Errorf("observed %v, want %v", w.observed, want)
		}
		for _, m := range w.delivered {
			if n := len(w.objects(t, m)); (n == 0) != (m.Subject == "dropped") {
				t.Errorf("%s has %d objects", m.Subject, n)
			}
		}
		if len(stolen) != 1 || stolen[0].Envelope.ID != ids["stolen"] {
			t.Fatalf("claimed %+v", stolen)
		}
		if again, err := w.Settle(t.Context(), stolen); err != nil || len(again) != 0 {
			t.Errorf("the other process cannot end its task: %v, %v", again, err)
		}
	})
}

// TestStoreThatIsGone lets each kind of call of the store fail once.
func TestStoreThatIsGone(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.accept(t, mail("first"), "inbox", "domain", "drop")
		for _, call := range []string{"open", "put", "delete"} {
			w.stores.Fail = func(failed, _ string) error {
				if failed == call {
					return fmt.Errorf("%w: %s", objects.ErrUnavailable, call)
				}
				return nil
			}
			w.look(t)
			if w.waiting(t) != 1 {
				t.Errorf("the message is lost after a failed %s", call)
			}
			w.advance(time.Hour)
		}
		if len(w.committed) != 3 {
			t.Errorf("%d were committed before the copy was deleted, want 3", len(w.committed))
		}
		w.stores.Fail = nil
		w.look(t)
		if w.waiting(t) != 0 || len(w.delivered) != 3 {
			t.Errorf("waiting %d, delivered %d times", w.waiting(t), len(w.delivered))
		}
		for _, m := range w.delivered {
			if n := len(w.objects(t, m)); n != 1 && m.Keys()[0] != "" && n != 0 {
				t.Errorf("%d objects of %s", n, m.RawKey)
			}
		}
	})
}

func TestMessageWithoutItsObjectEnds(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		id := w.accept(t, mail("gone"), "inbox")
		found, err := w.Claim(t.Context(), start, start, 1)
		if err != nil || len(found) != 1 || found[0].Envelope.ID != id {
			t.Fatal(found, err)
		}
		store, _ := w.stores.Of(t.Context(), w.org)
		if err := store.Delete(t.Context(), found[0].RawKey); err != nil {
			t.Fatal(err)
		}
		w.look(t)
		if w.observed[processing.Lost] != 1 || w.waiting(t) != 0 || len(w.delivered) != 0 || !strings.Contains(w.log.String(), "has no message in the store") {
			t.Errorf("waiting %d, delivered %d, log %s", w.waiting(t), len(w.delivered), w.log.String())
		}
	})
}

// TestVerdictsOfTheProviderCount checks that a message which a provider has judged is not judged
// again.
func TestVerdictsOfTheProviderCount(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		judged := inbound.Verdicts{Spam: inbound.Fail}
		e := inbound.Envelope{ID: "m", ReceivedAt: start, Judged: &judged, Routes: []inbound.Route{{Kind: inbound.ToInbox, OrgID: w.org, TargetID: "t"}}}
		if err := w.spool.Accept(t.Context(), e, strings.NewReader(mail("x"))); err != nil {
			t.Fatal(err)
		}
		w.judge = func(context.Context, string) inbound.Verdicts { t.Error("judged again"); return inbound.Verdicts{} }
		w.look(t)
		if len(w.delivered) != 1 || w.delivered[0].Verdicts != judged {
			t.Errorf("delivered %+v", w.delivered)
		}
	})
}

// TestManyMessagesInTwoProcesses processes many messages in two processes at once: each is
// delivered once.
func TestManyMessagesInTwoProcesses(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		const n = 300
		var clients sync.WaitGroup
		for c := range 4 {
			clients.Go(func() {
				for i := range n / 4 {
					w.accept(t, mail(fmt.Sprintf("%d-%d", c, i)), "inbox")
				}
			})
		}
		clients.Wait()
		second := w.newProcessor(slog.New(slog.DiscardHandler))
		var processes sync.WaitGroup
		for _, p := range []*processing.Processor{w.Processor, second} {
			processes.Go(func() {
				for range n { // each look takes at least one message
					if err := p.Look(t.Context()); err != nil {
						t.Error(err)
					}
					p.Join()
				}
			})
		}
		processes.Wait()
		got := subjects(w.committed)
		if len(got) != n || len(slices.Compact(got)) != n {
			t.Errorf("%d committed, %d different", len(got), len(slices.Compact(got)))
		}
	})
}

// TestStopGivesClaimsBack stops a process while it works on messages. Another one must be able to
// process them at once.
func TestStopGivesClaimsBack(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		ctx, stop := context.WithCancel(t.Context())
		begun := make(chan struct{})
		w.judge = func(judging context.Context, _ string) inbound.Verdicts {
			begun <- struct{}{}
			<-judging.Done() // ctx ends before the contexts that are made of it
			return inbound.Verdicts{}
		}
		const messages = 3
		for range messages {
			w.accept(t, mail("interrupted"), "inbox")
		}
		if err := w.Look(ctx); err != nil {
			t.Fatal(err)
		}
		for range messages {
			<-begun
		}
		stop()
		w.Join()
		if len(w.delivered) != 0 || w.waiting(t) != messages || w.log.Len() != 0 {
			t.Fatalf("delivered %d, waiting %d; log %s", len(w.delivered), w.waiting(t), w.log.String())
		}
		w.judge = nil
		other := w.newProcessor(slog.New(slog.DiscardHandler))
		if err := other.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
		other.Join()
		if len(w.committed) != messages || w.waiting(t) != 0 {
			t.Errorf("committed %d, waiting %d", len(w.committed), w.waiting(t))
		}
	})
}
