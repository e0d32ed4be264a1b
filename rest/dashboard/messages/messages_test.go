package messages_test

import (
	"context"
	"encoding/json"
	"flag"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/suppression"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	"github.com/mailhelm/mailhelm/rest/dashboard/messages"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var update = flag.Bool("update", false, "write the golden files again")

// hostile is text as an attacker would write it: HTML, and a character that reverses the
// order of the text after it.
const hostile = "<script>alert(1)</script>\u202egro.elpmaxe"

// listed is a list of undeliverable addresses that has every address.
type listed struct{}

func (listed) Entry(_ context.Context, _, id string) (suppression.Entry, error) {
	if !suppression.IsEntryID(id) {
		return suppression.Entry{}, core.NotFound("entry")
	}
	return suppression.Entry{Key: "ada@example.com", Status: suppression.Listed}, nil
}

// office is an organization with prepared results of the operations on messages.
type office struct {
	*frametest.Office
	operations *frametest.Operations
	pages      http.Handler
}

func newOffice(t *testing.T) *office {
	t.Helper()
	db := storagetest.SQLite(t)
	o := &office{Office: frametest.NewOffice(t, frametest.DatabaseOf(db), frame.Area{Path: messages.Path, Name: "Messages"}, frame.Area{Path: "/dashboard/channels", Name: "Channels", Needs: members.MayViewSending},
		frame.Area{Path: "/dashboard/undeliverable", Name: "Undeliverable", Needs: members.MayViewUndeliverable},
		frame.Area{Path: "/dashboard/suppressions", Name: "Suppressions", Needs: members.MayViewSuppression})}
	o.operations = &frametest.Operations{T: t, Results: map[string]string{
		"channels_list":       page(`{"id":"0196f0a0-0000-7000-8000-000000000001","name":"shop-set","slug":"shop","status":"active","tracking_domain":null,"suppression_policy":[],"identities":[],"created_at":"2026-03-01T00:00:00Z"}`, ""),
		"messages_list":       page(record("m-1", "Bounce", "ada@example.com", "Hello Ada")+","+record("m/2?", "Open", hostile+"@example.com", hostile), "NEXT"),
		"messages_diagnose":   diagnosis,
		"messages_events":     events,
		"recipients_messages": page(record("m-1", "Bounce", "ada@example.com", "Hello Ada")+","+record("m-3", "Complaint", "ada@example.com", "Earlier"), ""),
	}}
	o.Frame.Operations = o.operations
	room, err := messages.New(o.Frame, messages.Config{Undeliverable: listed{}})
	o.Must(err)
	o.pages = o.Open(room)
	return o
}

// page returns a page of a list in the form of REST.
func page(items, next string) string {
	cursor := "null"
	if next != "" {
		cursor = text(next)
	}
	return `{"data":[` + items + `],"pagination":{"has_more":` + map[bool]string{true: "true", false: "false"}[next != ""] + `,"next_cursor":` + cursor + `}}`
}

func text(s string) string {
	encoded, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(encoded)
}

func record(id, status, to, subject string) string {
	return `{"id":` + text(id) + `,"from":"hello@shop.example","to":` + text(to) + `,"sent_at":"2026-03-12T10:00:00Z","status":"` + status +
		`","channel":"shop","last_event_at":"2026-03-12T10:00:07Z","subject":` + text(subject) + `,"template":"welcome"}`
}

var (
	diagnosis = `{"message":` + record("m-1", "Bounce", "ada@example.com", hostile) + `,"outcome":"bounced",
		"diagnosis":"The message did not arrive. The server answered: \"550 no <b>such</b> user\".",
		"evidence":[{"claim":"It bounced.","event_ids":["e2","e9"]}],
		"next_steps":[{"step":"Look the address up.","tool":"suppressions_check_address","arguments":{"email":"ada@example.com"}},
			{"step":"Check the same template.","tool":"messages_search","arguments":{"template":"welcome"}},
			{"step":"Find the contact.","tool":"contacts_lookup","arguments":{"email":"ada@example.com"}},
			{"step":"Wait."}],
		"events":[{"id":"e1","type":"Send","occurred_at":"2026-03-12T10:00:00Z","recipient":"ada@example.com"},
			{"id":"e2","type":"Bounce","occurred_at":"2026-03-12T10:00:07Z","recipient":"ada@example.com"}],
		"events_total":2,"truncated":false}`
	events = `{"data":[{"type":"Send","occurred_at":"2026-03-12T10:00:00Z"},{"type":"Bounce","occurred_at":"2026-03-12T10:00:07Z",
		"metadata":{"bounce_type":"Permanent","smtp_response":` + text("550 "+hostile) + `,"reportingMTA":` + text(hostile+"\U000e0041") + `}}]}`
)

func TestGoldenPages(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for name, path := range map[string]string{
		"messages": "?status=BOUNCE&date=2026-03-11&channel=shop&recipient=ada@example.com&template=welcome", "messages_next": "?cursor=C&from=51",
		"message": "/m-1", "status_refused": "?status=lost", "day_refused": "?from_day=2026-01-01", "channel_refused": "?channel=%3Cb%3E",
	} {
		_, page := frametest.Get(t, o.pages, messages.Path+path)
		frametest.CompareGolden(t, name, page, *update)
	}
	o.operations.Results["messages_list"] = page("", "")
	for name, path := range map[string]string{"messages_empty": "", "messages_none": "?status=click"} {
		_, page := frametest.Get(t, o.pages, messages.Path+path)
		frametest.CompareGolden(t, name, page, *update)
	}
	o.Allow(members.MayViewAnalytics)
	_, page := frametest.Get(t, o.pages, messages.Path+"/m-1")
	frametest.CompareGolden(t, "message_masked", page, *update)
}

// TestArguments checks which arguments the search sends to the operation.
func TestArguments(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	_, _ = frametest.Get(t, o.pages, messages.Path+"?status=bounce&date=2026-03-11&channel=shop&recipient=ada@example.com&identity=shop.example&cursor=C")
	o.Allow(members.MayViewAnalytics)
	_, _ = frametest.Get(t, o.pages, messages.Path+"?recipient=ada@example.com")
	want := []frametest.CalledOperation{
		{Name: "channels_list", Arguments: `{"limit":200}`},
		{Name: "messages_list", Arguments: `{"channel":"0196f0a0-0000-7000-8000-000000000001","cursor":"C","from":"2026-03-11T00:00:00Z","identity":"shop.example","limit":50,"recipient":"ada@example.com","status":"Bounce","to":"2026-03-12T00:00:00Z"}`},
		{Name: "messages_list", Arguments: `{"limit":50}`},
	}
	if diff := cmp.Diff(want, o.operations.Calls()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// TestRefusals checks the pages for missing permissions and for messages and filters that
// the operations refuse.
func TestRefusals(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.operations.Errors = map[string]*core.Error{"messages_diagnose": core.NotFound("message"), "messages_list": core.Invalid("recipient", "is not a whole address")}
	if status, page := frametest.Get(t, o.pages, messages.Path+"/none"); status != http.StatusNotFound || !strings.Contains(page, "Message not found") {
		t.Errorf("unknown message: %d %s", status, page)
	}
	if status, page := frametest.Get(t, o.pages, messages.Path+"?recipient=ada"); status != http.StatusUnprocessableEntity || !strings.Contains(page, "The recipient is not a whole address.") {
		t.Errorf("part of an address: %d %s", status, page)
	}
	o.Allow(members.MayViewLists)
	for _, path := range []string{messages.Path, messages.Path + "/m-1"} {
		if status, _ := frametest.Get(t, o.pages, path); status != http.StatusForbidden {
			t.Errorf("%s without permission: %d", path, status)
		}
	}
}

// TestHostileTexts checks that texts of other people appear escaped, and without characters
// that change the order of text.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for _, path := range []string{"", "/m-1"} {
		_, page := frametest.Get(t, o.pages, messages.Path+path)
		if strings.Contains(page, "<script>alert") || strings.Contains(page, "\u202e") || !strings.Contains(page, "&lt;script&gt;") {
			t.Errorf("%q shows hostile text: %s", path, page)
		}
	}
	_, page := frametest.Get(t, o.pages, messages.Path+"/m-1")
	if !strings.Contains(page, `\u202egro`) || !strings.Contains(page, `\udb40\udc41`) {
		t.Errorf("the raw detail does not name invisible characters: %s", page)
	}
}
