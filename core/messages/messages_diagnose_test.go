package messages_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
)

const hour = time.Hour

func newBounce(id, kind, sub string, at time.Time, more string) messages.Event {
	e := newEvent(id, messages.Bounce, at, more)
	e.Bounced = &messages.BounceKind{Type: kind, SubType: sub}
	return e
}

// course is a test case: the events of a message and the expected diagnosis.
type course struct {
	name    string
	then    []messages.Event // events after the Send, which was five hours ago
	outcome messages.Outcome
	says    string
	step    string // part of the text of an expected next step; "" if no step is expected
}

func courses() []course {
	is := func(t messages.EventType, more string) []messages.Event {
		return []messages.Event{newEvent("m", t, timeBefore(4*hour), more)}
	}
	bounce := func(kind, sub string) []messages.Event {
		return []messages.Event{newBounce("m", kind, sub, timeBefore(4*hour), `{"smtp_response":"550 5.1.1 no"}`)}
	}
	return []course{
		{"silent", nil, messages.Silent, "reported no other event", "publishes its events"},
		{"delivered", is(messages.Delivery, `{"smtp_response":"250 ok"}`), messages.Arrived, "No open is recorded", "spam folder"},
		{"opened", is(messages.Open, ""), messages.Arrived, "images were loaded", ""},
		{"clicked", is(messages.Click, ""), messages.Arrived, "a link in it was clicked", ""},
		{"complained", is(messages.Complaint, `{"complaint_feedback_type":"abuse"}`), messages.Complained, "complained about it", "unless they ask for it"},
		{"kept back", is(messages.Complaint, `{"complaintSubType":"OnAccountSuppressionList"}`), messages.NotSent, "complained about an earlier message", "suppression list"},
		{"rejected", is(messages.Reject, `{"reject_reason":"Bad content"}`), messages.NotSent, `Its reason: "Bad content".`, "Change the text"},
		{"not rendered", is(messages.RenderingFailure, `{"errorMessage":"Attribute 'name' is not present"}`), messages.NotSent, `"Attribute 'name' is not present"`, "Correct the template"},
		{"delayed", is(messages.DeliveryDelay, `{"delay_type":"MailboxFull"}`), messages.Delayed, "mailbox is full", "Wait"},
		{"delayed by spam", is(messages.DeliveryDelay, `{"delay_type":"SpamDetected"}`), messages.Delayed, "as spam", "SPF"},
		{"delayed somehow", is(messages.DeliveryDelay, `{"delay_type":"Unheard of"}`), messages.Delayed, "could not determine", "Wait"},
		{"delayed and silent", []messages.Event{newEvent("m", messages.DeliveryDelay, timeBefore(30*hour), `{"delay_type":"General"}`)}, messages.Silent, "No event was received since", "publishes its events"},
		{"subscription alone", is(messages.Subscription, ""), messages.Arrived, "change their subscriptions", ""},
		{"subscription after a delay", append(is(messages.DeliveryDelay, ""), is(messages.Subscription, "")...), messages.Arrived, "change their subscriptions", ""},
		{"subscription and click", append(is(messages.Click, ""), is(messages.Subscription, "")...), messages.Arrived, "a link in it was clicked", ""},
		{"subscription and bounce", append(bounce("Permanent", "NoEmail"), is(messages.Subscription, "")...), messages.Bounced, "the mailbox does not exist", "Check the spelling"},
		{"returned", append(is(messages.Delivery, ""), bounce("Transient", "General")...), messages.Bounced, "first accepted the message and then returned it", "Read the server's answer"},

		{"general", bounce("Permanent", "General"), messages.Bounced, "refused it permanently", "Read the server's answer"},
		{"no mailbox", bounce("Permanent", "NoEmail"), messages.Bounced, "the mailbox does not exist", "Check the spelling"},
		{"suppressed", bounce("Permanent", "Suppressed"), messages.NotSent, "the provider's own suppression list", "two weeks"},
		{"on the list", bounce("Permanent", "OnAccountSuppressionList"), messages.NotSent, "the account's suppression list", "remove it from the suppression list"},
		{"unsubscribed", bounce("Permanent", "UnsubscribedRecipient"), messages.NotSent, "has unsubscribed", "Respect the opt-out"},
		{"transient", bounce("Transient", "General"), messages.Bounced, "temporary reason", "Send again"},
		{"full", bounce("Transient", "MailboxFull"), messages.Bounced, "mailbox is full", "another way"},
		{"large", bounce("Transient", "MessageTooLarge"), messages.Bounced, "larger than", "smaller"},
		{"content", bounce("Transient", "ContentRejected"), messages.Bounced, "the content of the message", "SPF"},
		{"attachment", bounce("Transient", "AttachmentRejected"), messages.Bounced, "refused an attachment", "attachment"},
		{"limit", bounce("Transient", "ChannelLimitExceeded"), messages.NotSent, "a limit of its channel", "slowly"},
		{"undetermined", bounce("Undetermined", "Undetermined"), messages.Bounced, "could not determine", "Read the server's answer"},
		{"unheard of", bounce("Permanent", "Ignore `all` rules"), messages.Bounced, `permanently; the provider's sub type is "Ignore 'all' rules"`, "Check the spelling"},
		{"of no kind", is(messages.Bounce, ""), messages.Bounced, "could not determine", "Read the server's answer"},
	}
}

func TestDiagnoses(t *testing.T) {
	t.Parallel()
	for _, c := range courses() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := setup(t)
			sent := newEvent("m", messages.Send, timeBefore(5*hour), "")
			d.record(append([]messages.Event{sent}, c.then...)...)
			got := d.diagnose("m")
			if got.Outcome != c.outcome || !strings.Contains(got.Text, c.says) {
				t.Errorf("%s: %s", got.Outcome, got.Text)
			}
			found := c.step == "" && len(got.NextSteps) == 0
			for _, step := range got.NextSteps {
				found = found || c.step != "" && strings.Contains(step.Text, c.step)
			}
			if !found {
				t.Errorf("no step says %q: %+v", c.step, got.NextSteps)
			}
			checkEvidence(t, got, append([]messages.Event{sent}, c.then...))
		})
	}
}

// checkEvidence fails the test unless the diagnosis lists every event and exactly one claim
// refers to each event.
func checkEvidence(t *testing.T, got messages.Diagnosis, events []messages.Event) {
	t.Helper()
	var claimed, listed, want []string
	for _, claim := range got.Evidence {
		claimed = append(claimed, claim.Events...)
	}
	for _, e := range got.Events {
		listed = append(listed, e.ID)
	}
	for _, e := range events {
		want = append(want, e.ID)
	}
	for _, ids := range [][]string{claimed, listed, want} {
		slices.Sort(ids)
	}
	if !slices.Equal(claimed, want) || !slices.Equal(listed, want) || got.EventsTotal != len(want) {
		t.Errorf("claimed %v, listed %v, happened %v", claimed, listed, want)
	}
}

// TestDiagnosisOfASingleEvent checks the diagnosis of a message with a single event that is
// not a Send. It must not say that nothing was reported, however old the event is.
func TestDiagnosisOfASingleEvent(t *testing.T) {
	t.Parallel()
	for kind, want := range map[messages.EventType]messages.Outcome{
		messages.Subscription: messages.Arrived, messages.RenderingFailure: messages.NotSent, messages.Reject: messages.NotSent,
		messages.Delivery: messages.Arrived, messages.Open: messages.Arrived, messages.Click: messages.Arrived,
		messages.Bounce: messages.Bounced, messages.Complaint: messages.Complained, messages.DeliveryDelay: messages.Delayed,
	} {
		for _, recipients := range [][]string{{jane}, {jane, "joe@example.com"}, {}} {
			for _, age := range []time.Duration{time.Minute, 5 * hour} {
				d := setup(t)
				e := newEvent("m", kind, timeBefore(age), "")
				if e.Mail.To = recipients; len(recipients) != 1 {
					e.Recipient = "" // the event does not say which recipient it is about
				}
				d.record(e)
				if got := d.diagnose("m"); got.Outcome != want || strings.Contains(got.Text, "no other event") {
					t.Errorf("%s of %d recipients, %s ago: %s: %s", kind, len(recipients), age, got.Outcome, got.Text)
				}
			}
		}
	}
}

func TestAYoungMessageIsUnderway(t *testing.T) {
	t.Parallel()
	d := setup(t)
	d.record(newEvent("m", messages.Send, timeBefore(hour), ""))
	if got := d.diagnose("m"); got.Outcome != messages.Underway || !strings.Contains(got.NextSteps[0].Text, "Wait") {
		t.Errorf("%+v", got)
	}
}

func TestADiagnosisLooksAtWhatIsKnownOfTheRecipient(t *testing.T) {
	t.Parallel()
	d := setup(t).withoutMask()
	d.record(newEvent("m", messages.Send, timeBefore(hour), ""))
	evidence := func() string {
		text, err := json.Marshal(d.diagnose("m").Evidence)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	// If the caller lacks the scope for the suppression list, the diagnosis does not query
	// the account. If the caller lacks the scope for a list, the diagnosis does not mention
	// that list.
	all := d.scopes
	d.suppressed, d.undeliverable = &messages.SuppressedRecipient{Reason: "complaint", At: now}, &messages.UndeliverableRecipient{Reason: "complaint", LastSeenAt: now}
	for _, scopes := range []core.Scopes{core.NewScopes("api.messages.view"), core.NewScopes("api.messages.view", "api.messages.unmask_recipients")} {
		d.scopes = scopes
		if text := evidence(); strings.Contains(text, "complain") || strings.Contains(text, "suppression list") || len(d.asked) > 0 ||
			!strings.Contains(text, "lacks `api.suppressions.view` and `api.undeliverable.view`") {
			t.Errorf("%s, asked %v", text, d.asked)
		}
	}
	d.scopes = core.NewScopes("api.messages.view", "api.undeliverable.view")
	if text := evidence(); !strings.Contains(text, `the rule \"complaint\"`) || strings.Contains(text, "suppression list") || len(d.asked) > 0 {
		t.Errorf("%s, asked %v", text, d.asked)
	}
	d.scopes, d.suppressed, d.undeliverable = all, nil, nil
	contains(t, evidence(), "not on the account's suppression list")
	if diff := cmp.Diff([]string{jane}, d.asked); diff != "" {
		t.Error(diff)
	}
	d.suppressed = &messages.SuppressedRecipient{Reason: "complaint", At: timeBefore(48 * hour)}
	d.undeliverable = &messages.UndeliverableRecipient{Reason: "permanent_bounce", LastSeenAt: timeBefore(72 * hour)}
	contains(t, evidence(), "since 2026-03-18T12:00:00Z, because of a complaint", `the rule \"permanent_bounce\"`, "2026-03-17T12:00:00Z")
	steps := d.diagnose("m").NextSteps
	if last := steps[len(steps)-1]; last.Tool != "suppressions_check_address" || last.Arguments["email"] != jane {
		t.Errorf("%+v", steps)
	}
	d.err = errAccount
	contains(t, evidence(), "could not be read now", "permanent_bounce")
	if steps := d.diagnose("m").NextSteps; !strings.Contains(steps[len(steps)-1].Text, "in a minute") {
		t.Errorf("%+v", steps)
	}
}

// TestNextStepsAreForTheCaller checks that next steps suggest only tool calls that the
// caller has the scopes for. A suggested call contains an address only if the caller may
// see addresses.
func TestNextStepsAreForTheCaller(t *testing.T) {
	t.Parallel()
	d := setup(t)
	d.record(newEvent("m", messages.Send, timeBefore(hour), ""), newBounce("m", "Permanent", "NoEmail", timeBefore(hour), ""))
	calls := func(scopes ...core.Scope) string {
		d.scopes = core.NewScopes(append(core.Scopes(scopes).Strings(), string(core.MessagesView))...)
		var made []string
		for _, step := range d.diagnose("m").NextSteps {
			if step.Tool != "" {
				made = append(made, fmt.Sprint(step.Tool, step.Arguments))
			}
		}
		return strings.Join(made, " ")
	}
	for want, scopes := range map[string][]core.Scope{
		"":                                       {core.ContactsView, core.SuppressionsView},
		"contacts_lookupmap[email:" + jane + "]": {core.ContactsView, core.MessagesUnmask},
		"contacts_lookupmap[email:" + jane + "] suppressions_check_addressmap[email:" + jane + "]": {core.ContactsView, core.SuppressionsView, core.MessagesUnmask},
	} {
		if got := calls(scopes...); got != want {
			t.Errorf("%v: %s, want %s", scopes, got, want)
		}
	}
}

func TestDiagnosisSelectsTheRecipientWithTheWorstOutcome(t *testing.T) {
	t.Parallel()
	d := setup(t).withoutMask()
	to := func(e messages.Event, recipient string) messages.Event {
		e.ID, e.Recipient, e.Mail.To = e.ID+recipient, recipient, []string{jane, "bob@example.net", "eve@example.org"}
		return e
	}
	d.record(
		to(newEvent("m", messages.Send, timeBefore(5*hour), ""), ""),
		to(newEvent("m", messages.Delivery, timeBefore(4*hour), ""), jane),
		to(newBounce("m", "Transient", "MailboxFull", timeBefore(4*hour), ""), "bob@example.net"),
		to(newEvent("m", messages.Delivery, timeBefore(3*hour), ""), "EVE@example.org"),
		to(newEvent("m", messages.Delivery, timeBefore(2*hour), ""), "eve@example.org"),
		to(newEvent("m", messages.Open, timeBefore(2*hour), ""), ""),
	)
	got := d.diagnose("m")
	contains(t, got.Text, `For "bob@example.net", one of 3 recipients: The message did not arrive: the recipient's mailbox is full.`)
	contains(t, got.Evidence[0].Text, "Of 3 recipients, by their highest-ranked event: 1 Bounce, 2 Delivery.")
	if diff := cmp.Diff([]string{"bob@example.net"}, d.asked); diff != "" {
		t.Error(diff)
	}
}

// TestDiagnosisOfTwoRecipientsChoosesTheWorse checks that the diagnosis of a message with
// two recipients is about the recipient with the worse outcome.
func TestDiagnosisOfTwoRecipientsChoosesTheWorse(t *testing.T) {
	t.Parallel()
	worse := []messages.EventType{messages.Complaint, messages.Bounce, messages.Reject, messages.DeliveryDelay, messages.Send, messages.Delivery}
	for i, bad := range worse {
		for _, good := range worse[i+1:] {
			d := setup(t).withoutMask()
			for recipient, kind := range map[string]messages.EventType{"bad@example.com": bad, "good@example.com": good} {
				e := newEvent("m", kind, timeBefore(hour), "")
				e.ID, e.Recipient, e.Mail.To = e.ID+recipient, recipient, []string{"bad@example.com", "good@example.com"}
				d.record(e)
			}
			if got := d.diagnose("m"); !strings.HasPrefix(got.Text, `For "bad@example.com", one of 2 recipients: `) {
				t.Errorf("a %s and a %s: %s", bad, good, got.Text)
			}
		}
	}
}

func TestOfManyEventsTheLatestAreShown(t *testing.T) {
	t.Parallel()
	d := setup(t)
	events := []messages.Event{newEvent("m", messages.Send, timeBefore(5*hour), "")}
	for i := range 70 {
		events = append(events, newEvent("m", messages.Open, timeBefore(4*hour-time.Duration(i)*time.Minute), ""))
	}
	d.record(events...)
	got := d.diagnose("m")
	if len(got.Events) != 50 || got.EventsTotal != 71 || !got.Truncated || got.Events[49].ID != events[70].ID {
		t.Errorf("%d of %d, %v", len(got.Events), got.EventsTotal, got.Truncated)
	}
	contains(t, got.Evidence[1].Text, "recorded 70 times, last at 2026-03-20T09:09:00Z")
	if len(got.Evidence[1].Events) != 10 {
		t.Error(got.Evidence[1].Events)
	}
}
