package broadcasts_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/handover"
)

// evidence is an event that names the message of a recipient.
func evidence(send, key string) []handover.Evidence {
	return []handover.Evidence{{SendID: send, Key: key, MessageID: "late"}}
}

// TestDefinitions checks which definitions are refused, and the fields that the refusals
// name.
func TestDefinitions(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for members, want := range map[string]string{
			template:                              "",
			`"html": "<p>x</p>", "subject": "Hi"`: "",
			`"html": "<p>x</p>", "text": "x", "subject": "Hi {{first_name}}", "preview_text": "p", "from_identity": "Ada <ada@acme.example>"`: "",
			`"subject": "Hi"`: "template_id",
			`"html": "<p>x</p>", "subject": "Hi", "template_id": "welcome"`:          "html",
			`"text": "x", "template_id": "welcome"`:                                  "html",
			`"html": "<p>x</p>"`:                                                     "subject",
			`"html": "no tag", "subject": "Hi"`:                                      "html",
			`"html": "<p>{{#if x}}</p>", "subject": "Hi"`:                            "html",
			`"html": "<p>x</p>", "subject": "Hi", "template_version": 1`:             "template_version",
			`"template_id": "unknown"`:                                               "template_id",
			`"template_id": "welcome", "template_version": 9`:                        "template_version",
			`"template_id": "welcome", "topic_id": "unknown"`:                        "topic_id",
			`"template_id": "welcome", "from_identity": "a@other.example"`:           "from_identity",
			`"template_id": "welcome", "from_identity": "nonsense"`:                  "from_identity",
			`"template_id": "welcome", "subject": "two\nlines"`:                      "subject",
			`"template_id": "welcome", "name": " "`:                                  "name",
			`"template_id": "welcome", "audience_id": "unknown"`:                     "audience_id",
			`"html": "<p>` + strings.Repeat("ä", 250_000) + `</p>", "subject": "Hi"`: "html",
		} {
			all := map[string]string{"name": `"News"`, "audience_kind": `"list"`, "audience_id": `"all"`}
			arguments := "{"
			for name, value := range all {
				if !strings.Contains(members, `"`+name+`"`) {
					arguments += `"` + name + `": ` + value + `, `
				}
			}
			_, err := w.call(t, "broadcasts_create", arguments+members+"}")
			if got := faultyField(err); got != want {
				t.Errorf("%.90s: refused for %q, want %q: %v", members, got, want, err)
			}
		}
	})
}

// faultyField returns the field that a refusal names, "" for no refusal.
func faultyField(err error) string {
	if err == nil {
		return ""
	}
	if e := core.AsError(err); len(e.Fields) > 0 {
		return e.Fields[0].Field
	}
	return string(core.AsError(err).Code)
}

// TestRulesOfSending checks the acknowledgement of a broadcast without a topic, the time of a
// schedule, and what can be done in which state.
func TestRulesOfSending(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.add(t, person{email: "ada@x.example"})
		bare := w.draft(t, `"html": "<p>x</p>", "subject": "Hi"`)
		_, err := w.call(t, "broadcasts_send", `{"id": "`+bare+`"}`)
		e := core.AsError(err)
		if e == nil || e.Code != core.CodeNoTopicAcknowledgementNeeded || asJSON(t, e.Extra["warnings"]) == "null" {
			t.Errorf("without a topic: %v", err)
		}
		_, err = w.call(t, "broadcasts_send", `{"id": "`+bare+`", "acknowledge_no_topic": true, "scheduled_at": "`+start.Format(time.RFC3339)+`"}`)
		if faultyField(err) != "scheduled_at" {
			t.Errorf("in the past: %v", err)
		}
		w.send(t, bare)
		if _, err := w.call(t, "broadcasts_delete", `{"id": "`+bare+`"}`); faultyField(err) != "id" {
			t.Errorf("deleted while it sends: %v", err)
		}
		if _, err := w.Cancel(t.Context(), w.org, bare); !core.IsConflict(err) {
			t.Errorf("cancelled while it sends: %v", err)
		}
		w.dispatch(t, "one")
		if _, err := w.call(t, "broadcasts_delete", `{"id": "`+bare+`"}`); err != nil {
			t.Errorf("deleted after it was sent: %v", err)
		}
		if _, err := w.call(t, "broadcasts_results", `{"id": "`+bare+`"}`); !core.IsNotFound(err) {
			t.Errorf("results of a deleted one: %v", err)
		}
		id := w.draft(t, template)
		_, err = w.call(t, "broadcasts_send", `{"id": "`+id+`", "scheduled_at": "`+start.Add(time.Hour).Format(time.RFC3339)+`"}`)
		must(t, err)
		if _, err := w.Cancel(t.Context(), w.org, id); err != nil || w.read(t, id).State != broadcasts.Cancelled {
			t.Errorf("cancelled: %v", err)
		}
	})
}

// TestPauseAndResume checks that a paused broadcast claims no recipient, that an edit needs the
// revision that the person saw, and that a draft can be split.
func TestPauseAndResume(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.add(t, person{email: "ada@x.example"})
		id := w.draft(t, template)
		w.send(t, id)
		_, err := w.Pause(t.Context(), w.org, id)
		must(t, err)
		w.dispatch(t, "one")
		if len(w.mails()) > 0 {
			t.Fatal("a paused broadcast was sent")
		}
		_, err = w.Resume(t.Context(), w.org, id)
		must(t, err)
		w.dispatch(t, "one")
		if b := w.read(t, id); b.State != broadcasts.Sent || b.Paused != nil {
			t.Errorf("resumed: %+v", b)
		}
		draft := w.draft(t, template)
		d := broadcasts.Definition{Name: "Other", TemplateID: "welcome", AudienceKind: broadcasts.List, AudienceID: "all"}
		if _, err := w.Edit(t.Context(), w.org, draft, 7, d); !core.IsConflict(err) {
			t.Errorf("edit of another revision: %v", err)
		}
		edited, err := w.Edit(t.Context(), w.org, draft, 1, d)
		if err != nil || edited.Name != "Other" || edited.Topic != "" || edited.Revision != 2 {
			t.Errorf("edited: %+v, %v", edited, err)
		}
	})
}

// TestSplit checks that the two parts of a split draft reach each member once.
func TestSplit(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		var people []person
		for i := range 60 {
			people = append(people, person{email: fmt.Sprintf("p%d@x.example", i)})
		}
		w.add(t, people...)
		id := w.draft(t, template)
		c := &core.Call{Principal: core.Principal{Credential: core.Credential{Kind: core.Person, ID: "ada"}}}
		first, err := w.Split(t.Context(), c, w.org, id, 50)
		must(t, err)
		w.send(t, first.ID)
		w.dispatch(t, "one")
		tried := len(w.sent)
		if tried == 0 || tried == len(people) {
			t.Errorf("%d of %d tried", tried, len(people))
		}
		w.send(t, id)
		w.dispatch(t, "one")
		if len(w.sent) != len(people) || len(w.mails()) != len(people) {
			t.Errorf("%d messages to %d people", len(w.sent), len(w.mails()))
		}
	})
}

// TestLimits checks that a cap and a stop pause a broadcast and filter no recipient.
func TestLimits(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		var people []person
		for i := range 25 {
			people = append(people, person{email: fmt.Sprintf("p%d@x.example", i)})
		}
		w.add(t, people...)
		ten, limits := 10, w.db.HandoverLimits()
		must(t, limits.SetCap(t.Context(), w.org, "assistant", &ten))
		id := w.draft(t, template)
		_, err := w.callAs(t, core.Credential{Kind: core.OAuthClient, ID: "assistant"}, "broadcasts_send", `{"id": "`+id+`"}`)
		must(t, err)
		for day, want := range []int{10, 20, 25} {
			w.dispatch(t, "one")
			b := w.read(t, id)
			if b.Sent != want || b.Filtered != 0 || want < 25 && (b.Paused == nil || b.Paused.Reason != broadcasts.PausedByCap || !b.Paused.ResumesAt.Equal(start.Truncate(24*time.Hour).AddDate(0, 0, day+1))) {
				t.Errorf("day %d: %d sent, %+v", day, b.Sent, b.Paused)
			}
			w.advance(24 * time.Hour)
		}
		must(t, limits.SetStop(t.Context(), w.org, &handover.Stop{At: start, By: "ada"}))
		stopped := w.draft(t, template)
		w.send(t, stopped)
		w.dispatch(t, "one")
		if b := w.read(t, stopped); b.Sent != 0 || b.Paused == nil || b.Paused.Reason != broadcasts.PausedByStop {
			t.Errorf("stopped: %+v", b)
		}
		must(t, limits.SetStop(t.Context(), w.org, nil))
		w.dispatch(t, "one")
		if b := w.read(t, stopped); b.Sent != 25 || b.State != broadcasts.Sent || b.Paused != nil {
			t.Errorf("allowed again: %+v", b)
		}
	})
}

// TestRateOfABroadcast checks that a broadcast with a rate of its own keeps it.
func TestRateOfABroadcast(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		var people []person
		for i := range 30 {
			people = append(people, person{email: fmt.Sprintf("p%d@x.example", i)})
		}
		w.add(t, people...)
		id := w.draft(t, template+`, "rate_per_minute": 60`)
		w.send(t, id)
		w.dispatch(t, "one")
		if took := w.Now().Sub(start); len(w.sent) != 30 || took < 24*time.Second || took > 31*time.Second {
			t.Errorf("%d messages in %v", len(w.sent), took)
		}
	})
}

// TestPreview checks the counts of variables over the audience, and the sample.
func TestPreview(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ids := w.add(t, append(audience, person{email: "empty@x.example", attributes: map[string]any{"first_name": ""}})...)
		id := w.draft(t, `"html": "<p>{{first_name}} {{offer}} {{plan}} {{typo}} {{email}}</p>", "subject": "Hi", "preview_text": "For {{first_name}}", "template_data": {"offer": "ten", "plan": ""}`)
		out, err := w.call(t, "broadcasts_preview", `{"id": "`+id+`", "contact_id": "`+ids[0]+`", "sample_data": {"typo": "now known"}}`)
		must(t, err)
		got := out.(broadcasts.Previewed)
		want := []broadcasts.PreviewedVariable{
			{Name: "first_name", ByAttribute: 1, Blank: 6}, {Name: "offer", ByDefault: 7}, {Name: "plan", Blank: 7}, {Name: "typo", Blank: 7},
		}
		if diff := cmp.Diff(want, got.Variables); diff != "" || got.AudienceSize != 7 {
			t.Errorf("variables of %d (-want +got):\n%s", got.AudienceSize, diff)
		}
		if s := got.Sample; !strings.Contains(s.HTML, "<p>Ada yours  now known ada@x.example</p>") || s.PreviewText != "For Ada" || !strings.Contains(s.HTML, "For Ada</div>") || strings.Contains(s.Text, "For Ada") {
			t.Errorf("sample: %+v", s)
		}
		if all := strings.Join(got.Warnings, "\n"); !strings.Contains(all, "no topic") || !strings.Contains(all, `"typo"`) {
			t.Errorf("warnings: %s", all)
		}
	})
}

// TestTestSends checks that a test goes to the addresses as they are, is marked, counts apart
// and is limited by the hour.
func TestTestSends(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.add(t, audience...)
		id := w.draft(t, template)
		out, err := w.call(t, "broadcasts_test_send", `{"id": "`+id+`", "recipients": ["out@x.example", "new@x.example"], "sample_data": {"offer": "a test"}}`)
		must(t, err)
		if got := asJSON(t, out); got != `{"results":[{"recipient":"out@x.example","status":"sent","message_id":"message-1"},{"recipient":"new@x.example","status":"sent","message_id":"message-2"}],"sent":2,"total":2}` &&
			got != `{"results":[{"recipient":"out@x.example","status":"sent","message_id":"message-2"},{"recipient":"new@x.example","status":"sent","message_id":"message-1"}],"sent":2,"total":2}` {
			t.Error(got)
		}
		if m := w.mails()["new@x.example"]; m.Content.Subject != "[TEST] Hi" || !m.Test || !strings.Contains(m.Content.HTML, "a test") {
			t.Errorf("message: %+v", m)
		}
		if b := w.read(t, id); b.State != broadcasts.Draft || b.AudienceSize != nil || len(w.results(t, id)) > 0 {
			t.Errorf("the broadcast: %+v", b)
		}
		for _, recipients := range []string{`[]`, `["x"]`, `["a@x.example", "A@x.example"]`, `["` + strings.Repeat(`a@x.example", "`, 10) + `b@x.example"]`} {
			if _, err := w.call(t, "broadcasts_test_send", `{"id": "`+id+`", "recipients": `+recipients+`}`); core.AsError(err).Code != core.CodeValidationFailed {
				t.Errorf("%s: %v", recipients, err)
			}
		}
		for range 9 {
			_, err := w.call(t, "broadcasts_test_send", `{"id": "`+id+`", "recipients": ["a@x.example"]}`)
			must(t, err)
		}
		_, err = w.call(t, "broadcasts_test_send", `{"id": "`+id+`", "recipients": ["a@x.example"]}`)
		if e := core.AsError(err); e == nil || e.Code != core.CodeRateLimited || e.RetryAfter <= 0 || e.RetryAfter > time.Hour+time.Second {
			t.Errorf("the eleventh test: %v", err)
		}
		w.advance(time.Hour + time.Second)
		if _, err := w.call(t, "broadcasts_test_send", `{"id": "`+id+`", "recipients": ["a@x.example"]}`); err != nil {
			t.Errorf("an hour later: %v", err)
		}
	})
}

// TestTestSendsOfTemplates checks the message of a template's test, and that tests of
// templates and of broadcasts share the limit of ten an hour.
func TestTestSendsOfTemplates(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		const ofTemplate = `{"slug": "welcome", "recipients": ["new@x.example"], "data": {"first_name": "Ada", "offer": "<b>"}}`
		id := w.draft(t, template)
		ofBroadcast := `{"id": "` + id + `", "recipients": ["new@x.example"]}`
		out, err := w.call(t, "templates_test_send", ofTemplate)
		must(t, err)
		if got := asJSON(t, out); got != `{"results":[{"recipient":"new@x.example","status":"sent","message_id":"message-1"}],"sent":1,"total":1}` {
			t.Error(got)
		}
		m := w.mails()["new@x.example"]
		if m.Content.Subject != "[TEST] Hi Ada" || !m.Test || !strings.Contains(m.Content.HTML, "Dear Ada, &lt;b&gt;") || m.From != "Acme <no-reply@acme.example>" ||
			m.Tags[core.TemplateTag] != "acme--welcome" || !strings.Contains(m.Content.HTML, "https://acme.example/u/") {
			t.Errorf("message: %+v", m)
		}
		if _, err := w.call(t, "templates_test_send", `{"slug": "none", "recipients": ["new@x.example"]}`); !core.IsNotFound(err) {
			t.Errorf("an unknown template: %v", err)
		}
		for range 4 {
			_, err = w.call(t, "templates_test_send", ofTemplate)
			must(t, err)
			_, err = w.call(t, "broadcasts_test_send", ofBroadcast)
			must(t, err)
		}
		_, err = w.call(t, "broadcasts_test_send", ofBroadcast)
		must(t, err)
		for name, arguments := range map[string]string{"templates_test_send": ofTemplate, "broadcasts_test_send": ofBroadcast} {
			if _, err := w.call(t, name, arguments); core.AsError(err) == nil || core.AsError(err).Code != core.CodeRateLimited {
				t.Errorf("%s as the eleventh test: %v", name, err)
			}
		}
	})
}

// TestConfirmation checks the sentence that a caller confirms.
func TestConfirmation(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.add(t, audience...)
		id := w.draft(t, template)
		for _, op := range w.Operations() {
			if op.Info().Name != "broadcasts_send" {
				continue
			}
			in, err := op.Decode(core.Agent, []byte(`{"broadcast_id": "`+id+`"}`))
			must(t, err)
			c := &core.Call{Surface: core.Agent, Now: w.Now(), Principal: core.Principal{Org: core.Org{ID: w.org}, Scopes: core.AllScopes()}}
			asked, err := op.Confirmation(t.Context(), c, in)
			must(t, err)
			want := `Send "News" now to 2 of the 6 members of the list "All", with the topic "news", from "Acme <no-reply@acme.example>", with the subject "Hi {{first_name}}".` +
				` 3 get nothing because they are suppressed or opted out of all mail. 1 get nothing because they opted out of the topic. Blank in the message: "first_name" for 5.`
			if asked.Message != want {
				t.Errorf("message: %s", asked.Message)
			}
			if p := asked.Preview.(broadcasts.SendPreview); p.Mailable != 2 || p.ByAccount != 3 || p.ByTopic != 1 || p.Content == "" {
				t.Errorf("preview: %+v", p)
			}
		}
	})
}
