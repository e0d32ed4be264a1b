package webhooks_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/core/standardhooks"
	"github.com/mailhelm/mailhelm/core/webhooks"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	pages "github.com/mailhelm/mailhelm/rest/dashboard/webhooks"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var update = flag.Bool("update", false, "write the golden files again")

// office is an organization with a webhook endpoint.
type office struct {
	*frametest.Office
	db       *storage.DB
	hooks    webhooks.Webhooks
	pages    http.Handler
	endpoint webhooks.Endpoint
	path     string // of the page of the endpoint
}

func newOffice(t *testing.T, db *storage.DB) *office {
	t.Helper()
	o := &office{db: db, Office: frametest.NewOffice(t, frametest.DatabaseOf(db), frame.Area{Path: pages.ListPath, Name: "Event webhooks"})}
	master, err := signing.NewMasterKey(bytes.Repeat([]byte{7}, 32))
	o.Must(err)
	o.hooks = webhooks.Webhooks{
		Store: db.Webhooks(), Transactor: db, Audit: db.Audit(), Sealer: master, Observer: webhooks.NewObserver(db.Webhooks(), frametest.Now), Clock: frametest.Now,
	}
	room, err := pages.New(o.Frame, o.hooks)
	o.Must(err)
	o.pages = o.Open(room)
	o.endpoint, _, err = o.hooks.Create(t.Context(), access.ActorOf(access.Operator), o.Org.ID, "0198c5a0-0000-7000-8000-000000000001", webhooks.Settings{
		URL: "https://crm.example.com/hooks?key=1", Description: "<CRM>", Types: []webhooks.EventType{webhooks.Bounced, webhooks.Clicked}, Enabled: true,
	})
	o.Must(err)
	o.path = pages.ListPath + "/" + o.endpoint.ID
	return o
}

// deliver records events, and lets the answers follow for the first attempts.
func (o *office) deliver(answers ...standardhooks.Answer) {
	o.T.Helper()
	var events []messages.Event
	for i := range answers {
		events = append(events, messages.Event{
			ID: fmt.Sprint("event-", i), MessageID: "m/1", Type: messages.Bounce, OccurredAt: frametest.Now(), Recipient: "<ada>@example.com",
		})
	}
	o.Must(o.hooks.Observer.ObserveEvents(o.T.Context(), o.Org.ID, events))
	courier := webhooks.NewCourier(webhooks.CourierConfig{
		Queue: o.db.WebhookQueue(), Transactor: o.db, Audit: o.db.Audit(), Sealer: o.hooks.Sealer, Sender: &scripted{answers: answers}, Clock: frametest.Now,
	})
	for range answers {
		o.Must(courier.SendDue(o.T.Context()))
	}
}

// scripted answers each delivery by the order of its id, so that pages are always the same.
type scripted struct {
	answers []standardhooks.Answer
}

func (s *scripted) Post(_ context.Context, r standardhooks.Request) standardhooks.Answer {
	return s.answers[int(r.ID[0])%len(s.answers)]
}

// state returns everything that the forms can change, so that a test can compare it.
func (o *office) state() []any {
	o.T.Helper()
	all, err := o.db.Webhooks().Endpoints(o.T.Context(), o.Org.ID)
	o.Must(err)
	log, err := o.db.Webhooks().Deliveries(o.T.Context(), o.Org.ID, o.endpoint.ID, webhooks.Filter{Limit: 100})
	o.Must(err)
	lines, err := o.db.Audit().FindAudit(o.T.Context(), o.Org.ID, access.AuditFilter{Limit: 100})
	o.Must(err)
	return []any{all, log, lines}
}

// form returns valid values of the form for an endpoint.
func form() url.Values {
	return url.Values{"once": {core.NewID()}, "url": {"https://other.example.com"}, "description": {"Other"}, "events": {"sent", "opened"}, "enabled": {"yes"}}
}

// TestPermissionsAreCheckedInTheTransaction sends each form of the pages with the
// permissions, and after losing them.
func TestPermissionsAreCheckedInTheTransaction(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		o := newOffice(t, db)
		o.deliver(standardhooks.Answer{Status: 500})
		log, err := db.Webhooks().Deliveries(t.Context(), o.Org.ID, o.endpoint.ID, webhooks.Filter{Limit: 1})
		o.Must(err)
		also := []members.Permission{members.MaySearchRecipients}
		one := func(name, path string, values url.Values, done int) frametest.Form {
			return frametest.Form{Name: name, Needs: members.MayManageCredentials, Also: also, Path: path, Form: values, Done: done}
		}
		o.CheckPermissions(o.pages, o.state,
			one("create", pages.ListPath+"/new", form(), http.StatusOK),
			one("edit", o.path+"/edit", form(), http.StatusSeeOther),
			one("test", o.path+"/test", nil, http.StatusSeeOther),
			one("rotate", o.path+"/rotate", nil, http.StatusOK),
			one("resend", o.path+"/deliveries/"+log[0].ID+"/resend", nil, http.StatusSeeOther),
			one("delete", o.path+"/delete", nil, http.StatusSeeOther),
		)
	})
}

// TestBothPermissionsAreNeeded checks that each permission alone opens no page.
func TestBothPermissionsAreNeeded(t *testing.T) {
	t.Parallel()
	o := newOffice(t, storagetest.SQLite(t))
	for _, alone := range []members.Permission{members.MayManageCredentials, members.MaySearchRecipients} {
		o.Allow(alone)
		for _, path := range []string{pages.ListPath, o.path, pages.ListPath + "/new"} {
			if status, page := frametest.Get(t, o.pages, path); status != http.StatusForbidden || strings.Contains(page, "crm.example.com") {
				t.Errorf("%s with %s: %d", path, alone, status)
			}
		}
		if status, _ := frametest.Post(t, o.pages, o.Site.Visitor, o.path+"/edit", form()); status != http.StatusForbidden {
			t.Errorf("edit with %s: %d", alone, status)
		}
	}
}

func TestGoldenPages(t *testing.T) {
	t.Parallel()
	o := newOffice(t, storagetest.SQLite(t))
	shown := func(name, path string) {
		t.Helper()
		_, page := frametest.Get(t, o.pages, path)
		frametest.CompareGolden(t, name, page, *update)
	}
	posted := func(name, path string, values url.Values) {
		t.Helper()
		_, page := frametest.Post(t, o.pages, o.Site.Visitor, path, values)
		frametest.CompareGolden(t, name, page, *update)
	}
	shown("endpoint_without_deliveries", o.path)
	o.deliver(standardhooks.Answer{Status: 204}, standardhooks.Answer{Status: 503, Text: "<busy>"}, standardhooks.Answer{Problem: standardhooks.TimedOut})
	// The three attempts end in any order; the state of the endpoint is that of the last.
	o.Must(o.db.WebhookQueue().NoteAttempt(t.Context(), webhooks.Target{OrgID: o.Org.ID, EndpointID: o.endpoint.ID}, false, false, frametest.Now()))
	shown("endpoints", pages.ListPath)
	shown("endpoint", o.path)
	shown("endpoint_only_failed", o.path+"?state=failed")
	shown("endpoint_damaged_cursor", o.path+"?cursor=x")
	shown("endpoint_new", pages.ListPath+"/new")
	shown("endpoint_edit", o.path+"/edit")
	shown("endpoint_rotate", o.path+"/rotate")
	shown("endpoint_delete", o.path+"/delete")
	log, err := o.db.Webhooks().Deliveries(t.Context(), o.Org.ID, o.endpoint.ID, webhooks.Filter{Limit: 3})
	o.Must(err)
	shown("delivery", o.path+"/deliveries/"+log[0].ID)
	refused := form()
	refused.Set("url", "http://other.example.com")
	posted("endpoint_refused", pages.ListPath+"/new", refused)
	posted("endpoint_edit_refused", o.path+"/edit", url.Values{"url": {"https://other.example.com"}})
	_, page := frametest.Post(t, o.pages, o.Site.Visitor, o.path+"/rotate", nil)
	if !strings.Contains(page, "whsec_") || !strings.Contains(page, "two signatures") {
		t.Errorf("no secret after a rotation: %s", page)
	}
	shown("endpoint_rotate_again", o.path+"/rotate")
	o.Must(o.db.Webhooks().DeleteEndpoint(t.Context(), o.Org.ID, o.endpoint.ID, frametest.Now()))
	shown("endpoints_none", pages.ListPath)
	shown("endpoint_unknown", o.path)
}

// TestStatesOfEndpoints checks the words for endpoints that fail and that are disabled, and
// that nothing can be sent to a disabled one.
func TestStatesOfEndpoints(t *testing.T) {
	t.Parallel()
	o := newOffice(t, storagetest.SQLite(t))
	since := frametest.Now().Add(-time.Hour)
	for _, tc := range []struct {
		change func(*webhooks.Endpoint)
		want   string
	}{
		{func(e *webhooks.Endpoint) { e.FailingSince = &since }, "is disabled."},
		{func(e *webhooks.Endpoint) { e.Enabled, e.DisabledAt = false, &since }, "every attempt of five days failed"},
		{func(e *webhooks.Endpoint) { e.Enabled = false }, "A person disabled it."},
	} {
		e := o.endpoint
		tc.change(&e)
		o.Must(o.db.Webhooks().UpdateEndpoint(t.Context(), o.Org.ID, e))
		if _, page := frametest.Get(t, o.pages, o.path); !strings.Contains(page, tc.want) || strings.Contains(page, "Send test event") == !e.Enabled {
			t.Errorf("no %q, or a button for a test event: %s", tc.want, page)
		}
	}
	if status, page := frametest.Post(t, o.pages, o.Site.Visitor, o.path+"/test", nil); status != http.StatusConflict || !strings.Contains(page, "Enable the endpoint") {
		t.Errorf("test event for a disabled endpoint: %d %s", status, page)
	}
}

// TestLogHasPages reads a log that is longer than a page. Every delivery must be on one page.
func TestLogHasPages(t *testing.T) {
	t.Parallel()
	o := newOffice(t, storagetest.SQLite(t))
	o.deliver(make([]standardhooks.Answer, frame.PageSize+1)...)
	_, first := frametest.Get(t, o.pages, o.path)
	_, next, found := strings.Cut(first, `<a class="button" href="`+o.path+`?`)
	if !found {
		t.Fatal("no link to the next page")
	}
	query, _, _ := strings.Cut(next, `"`)
	_, rest := frametest.Get(t, o.pages, o.path+"?"+strings.ReplaceAll(query, "&amp;", "&"))
	rows := func(page string) int { return strings.Count(page, `data-name="Event"`) }
	if rows(first) != frame.PageSize || rows(rest) != 1 {
		t.Errorf("%d and %d rows", rows(first), rows(rest))
	}
}

// TestRepeatedForm sends the form for a new endpoint twice. The second answer must not have
// a secret.
func TestRepeatedForm(t *testing.T) {
	t.Parallel()
	o := newOffice(t, storagetest.SQLite(t))
	values := form()
	if status, page := frametest.Post(t, o.pages, o.Site.Visitor, pages.ListPath+"/new", values); status != http.StatusOK || !strings.Contains(page, "whsec_") {
		t.Fatalf("%d %s", status, page)
	}
	if status, page := frametest.Post(t, o.pages, o.Site.Visitor, pages.ListPath+"/new", values); status != http.StatusConflict || strings.Contains(page, "whsec_") {
		t.Errorf("%d %s", status, page)
	}
}
