package messages_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
)

// idsOf returns the ids of the messages in an operation's result, in order.
func idsOf(t *testing.T, answer string) []string {
	t.Helper()
	var page struct{ Data, Items []struct{ ID string } }
	if err := json.Unmarshal([]byte(answer), &page); err != nil {
		t.Fatal(err)
	}
	ids := []string{}
	for _, m := range append(page.Data, page.Items...) {
		ids = append(ids, m.ID)
	}
	return ids
}

// other returns the Send event of a message without a template. The event has another
// sender, recipient and channel than the events of newEvent.
func other(id string, at time.Time) messages.Event {
	return messages.Event{
		ID: id + "-Send", MessageID: id, Type: messages.Send, OccurredAt: at, Recipient: "bob@example.net",
		Mail: messages.Mail{From: "news@other.example.com", To: []string{"bob@example.net"}, SentAt: at, Channel: "default"},
	}
}

func TestMessagesAreListedWithFilters(t *testing.T) {
	t.Parallel()
	d := setup(t).withoutMask()
	d.record(newEvent("m1", messages.Send, timeBefore(3*time.Hour), ""), newEvent("m1", messages.Bounce, timeBefore(2*time.Hour), ""))
	d.record(other("m2", timeBefore(time.Hour)))
	d.record(newEvent("m3", messages.Send, timeBefore(time.Minute), ""))
	for arguments, want := range map[string][]string{
		`{}`:                                                 {"m3", "m2", "m1"},
		`{"status":"Bounce"}`:                                {"m1"},
		`{"template":"welcome"}`:                             {"m3", "m1"},
		`{"template":"Welcome"}`:                             {},
		`{"identity":"anyone@MAIL.example.com"}`:             {"m3", "m1"},
		`{"identity":"other.example.com"}`:                   {"m2"},
		`{"channel":"` + strings.ToUpper(channel) + `"}`:     {"m3", "m1"},
		`{"channel":"6d1f3c1e-8f0a-4c53-9d5a-0f1e2d3c4b5b"}`: {},
		`{"recipient":"` + jane + `"}`:                       {"m3", "m1"},
		`{"recipient":"jane.doe@example.com"}`:               {},
		`{"recipient":"` + jane + `","status":"Send","template":"welcome"}`:       {"m3"},
		`{"from":"2026-03-20T10:30:00Z"}`:                                         {"m3", "m2"},
		`{"from":"2026-03-20T08:00:00Z","to":"2026-03-20T11:00:00Z","limit":200}`: {"m1"},
		`{"from":"2026-03-20T10:00:00+01:00","to":"2026-03-20T12:01:00.5+01:00"}`: {"m2", "m1"},
	} {
		if diff := cmp.Diff(want, idsOf(t, d.must("messages_list", arguments))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", arguments, diff)
		}
	}
	if diff := cmp.Diff([]string{"m3", "m1"}, idsOf(t, d.must("recipients_messages", `{"email":"`+jane+`"}`))); diff != "" {
		t.Error(diff)
	}
	if got := d.must("recipients_messages", `{"email":"nobody@example.com"}`); !strings.Contains(got, `"data":[]`) {
		t.Error(got)
	}
}

func TestMessagesArePagedWithTheirFilters(t *testing.T) {
	t.Parallel()
	d := setup(t)
	for i := range 7 {
		d.record(newEvent(fmt.Sprintf("m%d", i), messages.Send, timeBefore(time.Duration(i/2)*time.Hour+time.Minute), ""))
	}
	var all []string
	arguments := `{"status":"Send","limit":2}`
	for {
		answer := d.must("messages_list", arguments)
		all = append(all, idsOf(t, answer)...)
		var page core.Envelope[any]
		if err := json.Unmarshal([]byte(answer), &page); err != nil {
			t.Fatal(err)
		}
		if page.Next() == "" {
			break
		}
		if _, err := d.run("messages_list", `{"cursor":"`+page.Next()+`"}`); err == nil || err.Code != core.CodeValidationFailed {
			t.Errorf("a cursor of other filters: %v", err)
		}
		arguments = `{"status":"Send","limit":2,"cursor":"` + page.Next() + `"}`
	}
	if diff := cmp.Diff([]string{"m1", "m0", "m3", "m2", "m5", "m4", "m6"}, all); diff != "" {
		t.Error(diff)
	}
}

func TestRefusalsOfMessages(t *testing.T) {
	t.Parallel()
	d := setup(t)
	d.record(newEvent("m1", messages.Send, timeBefore(100*24*time.Hour), ""))
	d.record(newEvent("old", messages.Send, timeBefore(366*24*time.Hour), ""))
	for _, c := range []struct {
		operation, arguments string
		code                 core.Code
		says                 string
	}{
		{"messages_list", `{"from":"2025-03-20T12:00:00Z"}`, core.CodePlanRetentionExceeded, "older than what the plan keeps"},
		{"messages_list", `{"from":"2026-03-20T12:00:00Z","to":"2026-03-20T12:00:00Z"}`, core.CodeValidationFailed, "`from`"},
		{"messages_list", `{"from":"yesterday"}`, core.CodeValidationFailed, "`from`"},
		{"messages_list", `{"channel":"marketing"}`, core.CodeValidationFailed, "`channel`"},
		{"messages_list", `{"status":"bounces"}`, core.CodeValidationFailed, "`status`"},
		{"messages_list", `{"status":"Subscription"}`, core.CodeValidationFailed, "`status`"},
		{"messages_list", `{"cursor":"x"}`, core.CodeValidationFailed, "`cursor`"},
		{"messages_list", `{"channel":"6d1f3c1e-8f0a-4c53-9d5a-0f1e2d3c4b5b","cursor":"x"}`, core.CodeValidationFailed, "`cursor`"},
		{"messages_list", `{"recipient":"` + jane + `"}`, core.CodeInvalidScope, "api.messages.unmask_recipients"},
		{"messages_search", `{"recipient":"x"}`, core.CodeMissingScope, "api.messages.unmask_recipients"},
		{"messages_search", `{"from":"2025-03-20T12:00:00Z"}`, core.CodePlanRetentionExceeded, "older than what the plan keeps"},
		{"messages_search", `{"channel":"Autumn_Sale"}`, core.CodeNotFound, "No such channel"},
		{"recipients_messages", `{"email":"jane"}`, core.CodeValidationFailed, "`email`"},
		{"recipients_messages", `{"email":"` + jane + `","from":"2025-03-20T12:00:00Z"}`, core.CodePlanRetentionExceeded, "plan"},
		{"messages_get", `{"id":"old"}`, core.CodeNotFound, "No such message"},
		{"messages_events", `{"id":"old"}`, core.CodeNotFound, "No such message"},
		{"messages_events", `{"id":"nothing"}`, core.CodeNotFound, "No such message"},
		{"messages_diagnose", `{"message_id":"old"}`, core.CodeNotFound, "No such message"},
		{"messages_get", `{"id":"a\u0000b"}`, core.CodeValidationFailed, "NUL"},
	} {
		d.surface = core.REST
		if c.operation == "messages_search" || c.operation == "messages_diagnose" {
			d.surface = core.Agent
		}
		_, err := d.run(c.operation, c.arguments)
		if err == nil || err.Code != c.code || !strings.Contains(err.Message, c.says) {
			t.Errorf("%s %s: %v", c.operation, c.arguments, err)
		}
		if c.code == core.CodePlanRetentionExceeded && err.Extra["retention_days"] != 90 {
			t.Errorf("%s %s: %v", c.operation, c.arguments, err.Extra)
		}
	}
	d.surface = core.REST
	// The message is older than the plan's retention. The retention limits only lists and
	// searches, so messages_get still returns the message.
	contains(t, d.must("messages_get", `{"id":"m1"}`), `"id":"m1"`)
	contains(t, d.must("messages_events", `{"id":"m1"}`), `"type":"Send"`)
}

// TestAnUnknownMessageIsNotFound checks the error for a message that is unknown or too
// old. The error must say that a message is known from its first event on, for 365 days.
func TestAnUnknownMessageIsNotFound(t *testing.T) {
	t.Parallel()
	d := setup(t)
	d.record(newEvent("old", messages.Send, timeBefore(366*24*time.Hour), ""))
	for operation, argument := range map[string]string{"messages_get": "id", "messages_events": "id", "messages_diagnose": "message_id"} {
		for _, id := range []string{"just-sent", "old"} {
			_, err := d.run(operation, `{"`+argument+`":"`+id+`"}`)
			if err == nil || err.Code != core.CodeNotFound || !strings.Contains(err.Next, "first event") || !strings.Contains(err.Next, "365 days") {
				t.Errorf("%s of %s: %+v", operation, id, err)
			}
		}
	}
}

func TestASearchCountsWhatItLeavesOut(t *testing.T) {
	t.Parallel()
	d := setup(t)
	d.surface = core.Agent
	for i := range 5 {
		d.record(newEvent(fmt.Sprintf("m%d", i), messages.Send, timeBefore(time.Duration(i)*time.Hour+time.Minute), ""))
	}
	contains(t, d.must("messages_search", `{"channel":"marketing","limit":2}`), `"shown":2,"total":5,"truncated":true`, `"id":"m0"`)
	contains(t, d.must("messages_search", `{"status":"Bounce"}`), `"items":[],"shown":0,"total":0,"truncated":false`)
	contains(t, d.must("messages_search", `{"template":"welcome"}`), `"shown":5,"total":5,"truncated":false`)
}

// TestChannelsAreNamedByTheirSlugs checks that callers see Mailhelm's slug of a channel,
// not the provider's name.
func TestChannelsAreNamedByTheirSlugs(t *testing.T) {
	t.Parallel()
	d := setup(t).withoutMask()
	over := func(id, channel string) {
		e := newEvent(id, messages.Send, timeBefore(time.Hour), "")
		e.Mail.Channel = channel
		d.record(e)
	}
	over("sale", "Autumn_Sale")
	over("other", "marketing")
	over("forgotten", "Long_Gone")
	contains(t, d.must("messages_get", `{"id":"sale"}`), `"channel":"autumn-sale"`)
	contains(t, d.must("messages_get", `{"id":"forgotten"}`), `"channel":"Long_Gone"`)
	all := []string{`"channel":"autumn-sale"`, `"channel":"marketing"`, `"channel":"Long_Gone"`}
	contains(t, d.must("messages_list", `{}`), all...)
	contains(t, d.must("recipients_messages", `{"email":"`+jane+`"}`), all...)
	d.surface = core.Agent
	contains(t, d.must("messages_diagnose", `{"message_id":"sale"}`), `"channel":"autumn-sale"`)
	contains(t, d.must("messages_search", `{"channel":"autumn-sale"}`), `"id":"sale"`, `"total":1`, `"channel":"autumn-sale"`)
}

func TestAnotherOrganizationsMessagesDoNotExist(t *testing.T) {
	t.Parallel()
	d := setup(t).withoutMask()
	d.record(newEvent("m1", messages.Send, timeBefore(time.Hour), ""))
	d.org.ID = core.NewID()
	for _, operation := range []string{"messages_get", "messages_events"} {
		_, foreign := d.run(operation, `{"id":"m1"}`)
		_, absent := d.run(operation, `{"id":"m2"}`)
		if foreign == nil || foreign.Code != core.CodeNotFound || !cmp.Equal(foreign.Error(), absent.Error()) {
			t.Errorf("%s: %v and %v", operation, foreign, absent)
		}
	}
	if got := idsOf(t, d.must("messages_list", `{}`)); len(got) > 0 {
		t.Error(got)
	}
}
