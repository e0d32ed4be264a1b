package broadcasts_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/sending"
)

const template = `"template_id": "welcome", "topic_id": "news", "template_data": {"offer": "here is <b>news</b>"}`

// audience has a contact for each reason why a message is or is not sent.
var audience = []person{
	{email: "ada@x.example", attributes: map[string]any{"first_name": "Ada", "offer": "yours"}},
	{email: "in@x.example", news: sending.OptIn},
	{email: "topic@x.example", news: sending.OptOut},
	{email: "out@x.example", out: true},
	{email: "suppressed@x.example", suppressed: true, news: sending.OptOut},
	{email: "stub@x.example", stub: true},
}

// TestSend sends a broadcast to contacts with each kind of consent.
func TestSend(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ids := w.add(t, audience...)
		id := w.draft(t, template)
		w.send(t, id)
		w.dispatch(t, "one")
		want := map[string]string{
			"ada@x.example": "sent", "in@x.example": "sent", "topic@x.example": "filtered topic",
			"out@x.example": "filtered account", "suppressed@x.example": "filtered account", "stub@x.example": "filtered account",
		}
		if diff := cmp.Diff(want, w.results(t, id)); diff != "" {
			t.Errorf("results (-want +got):\n%s", diff)
		}
		out, err := w.call(t, "broadcasts_get", `{"id": "`+id+`"}`)
		must(t, err)
		r := out.(broadcasts.Record)
		if got := asJSON(t, []any{r.State, r.RecipientCount, r.SentCount, r.FailedCount, r.Summary}); got != `["sent",6,2,0,{"audience_size":6,"mailable":2,"sent":2,"failed":0,"filtered":4}]` {
			t.Errorf("counts: %s", got)
		}
		mail := w.mails()["ada@x.example"]
		if mail.Content.Subject != "Hi Ada" || !strings.Contains(mail.Content.HTML, "Dear Ada, yours") || mail.From != "Acme <no-reply@acme.example>" ||
			mail.ConfigurationSet != "marketing" || mail.Tags[core.TemplateTag] != "acme--welcome" || mail.Tags[core.SendTag] != id || mail.Tags[core.RecipientTag] != ids[0] {
			t.Errorf("message: %+v", mail)
		}
		if link := "https://acme.example/u/" + ids[0] + "news"; !strings.Contains(mail.Content.HTML, link) || mail.Headers[0].Value != "<"+link+">" {
			t.Errorf("links: %+v", mail)
		}
		if html := w.mails()["in@x.example"].Content.HTML; !strings.Contains(html, "Dear , here is &lt;b&gt;news&lt;/b&gt;") {
			t.Errorf("data of the broadcast: %s", html)
		}
	})
}

// TestAudienceIsFrozen checks that the audience and the content are those of the start, and
// the consent that of the moment before a message is passed.
func TestAudienceIsFrozen(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ids := w.add(t, person{email: "stays@x.example"}, person{email: "leaves@x.example"}, person{email: "ends@x.example"})
		id := w.draft(t, template)
		w.send(t, id)
		w.add(t, person{email: "late@x.example"})
		_, _, err := w.db.ListMembers().ReplaceMembership(t.Context(), w.org, ids[1], nil, start)
		must(t, err)
		c, err := w.db.Contacts().ContactByID(t.Context(), w.org, ids[2])
		must(t, err)
		c.UnsubscribeAll = true
		must(t, w.db.Contacts().UpdateContact(t.Context(), w.org, c))
		w.dispatch(t, "one")
		want := map[string]string{"stays@x.example": "sent", "leaves@x.example": "sent", "ends@x.example": "filtered account"}
		if diff := cmp.Diff(want, w.results(t, id)); diff != "" {
			t.Errorf("results (-want +got):\n%s", diff)
		}
	})
}

// TestSchedule checks that a scheduled broadcast starts at its time, with the audience of
// that time, and that it waits for a person if it cannot start.
func TestSchedule(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.add(t, person{email: "first@x.example"})
		id, broken := w.draft(t, template), w.draft(t, template)
		at := start.Add(time.Hour).Format(time.RFC3339)
		for _, b := range []string{id, broken} {
			out, err := w.call(t, "broadcasts_send", `{"id": "`+b+`", "scheduled_at": "`+at+`"}`)
			must(t, err)
			if got := asJSON(t, out.(broadcasts.Started).RESTView()); got != `{"id":"`+b+`","status":"scheduled"}` {
				t.Error(got)
			}
		}
		w.dispatch(t, "one")
		if b := w.read(t, id); b.State != broadcasts.Scheduled || len(w.mails()) > 0 {
			t.Fatalf("before its time: %+v", b)
		}
		w.add(t, person{email: "second@x.example"})
		gone := w.read(t, broken)
		gone.Topic = "gone"
		must(t, w.db.Broadcasts().Update(t.Context(), w.org, gone))
		w.advance(time.Hour)
		w.dispatch(t, "one")
		if b := w.read(t, id); b.State != broadcasts.Sent || b.Sent != 2 {
			t.Errorf("after its time: %+v", b)
		}
		if b := w.read(t, broken); b.State != broadcasts.Scheduled || b.Paused == nil || b.Paused.Reason != broadcasts.PausedByFault {
			t.Errorf("without its topic: %+v", b)
		}
		if _, err := w.Reschedule(t.Context(), w.org, broken, gone.Revision, nil); err != nil || w.read(t, broken).State != broadcasts.Draft {
			t.Errorf("unscheduled: %v", err)
		}
	})
}

// TestFailures checks the state of a broadcast some of whose messages the account refuses,
// and that a late event corrects an unknown outcome.
func TestFailures(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ids := w.add(t, person{email: "ok@x.example"}, person{email: "refused@x.example"}, person{email: "lost@x.example"})
		w.answer = func(m sending.Message) error {
			switch m.To[0] {
			case "refused@x.example":
				return &sending.Failure{Kind: sending.Rejected}
			case "lost@x.example":
				return &sending.Failure{Kind: sending.TimedOut, Err: errors.New("no answer")}
			}
			return nil
		}
		id := w.draft(t, template)
		w.send(t, id)
		w.dispatch(t, "one")
		if b := w.read(t, id); b.State != broadcasts.Sending || b.Sent != 1 || b.Failed != 1 {
			t.Errorf("with an unknown outcome: %+v", b)
		}
		w.advance(time.Hour)
		if _, err := w.db.Handover().GiveUp(t.Context(), w.org, w.Now(), 10); err != nil {
			t.Fatal(err)
		}
		w.dispatch(t, "one")
		if b := w.read(t, id); b.State != broadcasts.PartiallyFailed || b.Failed != 2 || b.CompletedAt == nil {
			t.Errorf("after the end: %+v", b)
		}
		if got := w.results(t, id)["lost@x.example"]; got != "failed outcome_unknown" {
			t.Error(got)
		}
		_, err := w.db.Handover().Observe(t.Context(), w.org, evidence(id, ids[2]), w.Now())
		must(t, err)
		must(t, w.dispatcher("one").Recount(t.Context(), w.org))
		if b := w.read(t, id); b.State != broadcasts.PartiallyFailed || b.Sent != 2 || b.Failed != 1 {
			t.Errorf("after a late event: %+v", b)
		}
	})
}

// TestCountsThatAreLate checks that numbers which a process read before another one went on do not
// replace newer ones, neither while the broadcast sends nor after its end.
func TestCountsThatAreLate(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.add(t, person{email: "a@x.example"}, person{email: "b@x.example"}, person{email: "c@x.example"})
		id := w.draft(t, template)
		w.send(t, id)
		set := func(sent int) int {
			t.Helper()
			must(t, w.db.Broadcasts().SetCounts(t.Context(), w.org, id, sent, 0, 0))
			return w.read(t, id).Sent
		}
		if now, later := set(2), set(1); now != 2 || later != 2 {
			t.Errorf("%d, and with older numbers %d", now, later)
		}
		w.dispatch(t, "one")
		if got := set(2); got != 3 || w.read(t, id).State != broadcasts.Sent {
			t.Errorf("after the end: %d", got)
		}
	})
}

// TestOneSendOfMany lets many calls send one broadcast at the same time, and several
// processes drive it.
func TestOneSendOfMany(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		var people []person
		for i := range 120 {
			people = append(people, person{email: fmt.Sprintf("p%d@x.example", i)})
		}
		w.add(t, people...)
		id := w.draft(t, template)
		var calls sync.WaitGroup
		var mu sync.Mutex
		codes := map[core.Code]int{}
		for range 20 {
			calls.Go(func() {
				_, err := w.call(t, "broadcasts_send", `{"id": "`+id+`"}`)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					codes[""]++
				} else {
					codes[core.AsError(err).Code]++
				}
			})
		}
		calls.Wait()
		if diff := cmp.Diff(map[core.Code]int{"": 1, core.CodeConflict: 19}, codes); diff != "" {
			t.Errorf("answers (-want +got):\n%s", diff)
		}
		var processes sync.WaitGroup
		for i := range 3 {
			processes.Go(func() { w.dispatch(t, fmt.Sprint("process-", i)) })
		}
		processes.Wait()
		w.dispatch(t, "last")
		if b := w.read(t, id); b.State != broadcasts.Sent || b.Sent != 120 || len(w.sent) != 120 || len(w.mails()) != 120 {
			t.Errorf("%d messages to %d people: %+v", len(w.sent), len(w.mails()), b)
		}
	})
}
