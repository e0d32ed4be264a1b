package contacts_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	audience "github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/rest/dashboard/actors"
	"github.com/mailhelm/mailhelm/rest/dashboard/contacts"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var update = flag.Bool("update", false, "write the golden files again")

// hostile is a text with HTML, quotes and characters that change the order of text.
const hostile = `<img src=x onerror="alert(1)">'&` + "\u202egpj.exe"

// directory answers searches with prepared contacts and remembers them.
type directory struct {
	found   []audience.Contact
	total   int64
	next    string
	asked   audience.Search
	refused error
	late    bool // whether only the second page of an export is refused
	visitor string
}

func (d *directory) Search(_ context.Context, _ string, s audience.Search) (audience.Found, error) {
	d.asked = s
	if d.refused != nil {
		return audience.Found{}, d.refused
	}
	return audience.Found{Page: core.Page[audience.Contact]{Items: d.found, Next: d.next}, Total: d.total}, nil
}

func (d *directory) Export(_ context.Context, _ string, s audience.Search, after *core.After) ([]audience.Contact, *core.After, error) {
	d.asked = s
	switch {
	case d.refused != nil && (after != nil || !d.late):
		return nil, nil, d.refused
	case after == nil:
		return d.found[:1], &core.After{ID: "1"}, nil
	}
	return d.found[1:], nil, nil
}

func (d *directory) Contact(_ context.Context, _, id string) (audience.Contact, error) {
	for _, c := range d.found {
		if c.ID == id {
			return c, nil
		}
	}
	return audience.Contact{}, core.NotFound("contact")
}

func (d *directory) VisitorID(context.Context, string, string) (string, error) { return d.visitor, nil }

// StandingsOf returns a segment whose predicate has parts of each kind and result, and
// segments that are not explained.
func (d *directory) StandingsOf(_ context.Context, _, _ string, from, limit int) ([]segments.Standing, int, error) {
	at := frametest.Now().AddDate(0, 0, -3)
	test := func(text string, truth predicate.Truth, value string) segments.Finding {
		return segments.Finding{Kind: predicate.Test, Text: text, Truth: truth, Value: value}
	}
	all := []segments.Standing{
		{Segment: segments.Segment{ID: core.NewID(), Name: "Good <b>customers</b>", Key: "good", Description: "Spend a lot.", Status: segments.Active}, Since: &at, Why: &segments.Finding{
			Kind: predicate.Any, Text: "at least one of these is true", Truth: predicate.True, Findings: []segments.Finding{
				test(`"plan" is "`+hostile+`"`, predicate.True, `"pro"`),
				{Kind: predicate.All, Text: "all of these are true", Truth: predicate.Unknown, Findings: []segments.Finding{
					test(`"spent" is at least 300`, predicate.Unknown, "no value"), test("has at least 2 open events", predicate.True, "3 events"),
				}},
			},
		}},
		{Segment: segments.Segment{ID: core.NewID(), Name: "Left", Status: segments.Active}, Since: &at, Why: &segments.Finding{Kind: predicate.Test, Text: "is suppressed", Truth: predicate.False, Value: "not suppressed"}},
		{Segment: segments.Segment{ID: core.NewID(), Name: "Entering", Status: segments.Active}, Why: &segments.Finding{Kind: predicate.Test, Text: "is on the list", Truth: predicate.True, Value: "on the list"}},
		{Segment: segments.Segment{ID: core.NewID(), Name: "Paused", Status: segments.Paused}, Why: &segments.Finding{Kind: predicate.Test, Text: "is on the list", Truth: predicate.False, Value: "not on the list"}},
		{Segment: segments.Segment{ID: core.NewID(), Name: "Invalid", Status: segments.Invalid, EvalWarning: "unknown attribute <x>"}},
	}
	if d.found == nil || from > 0 {
		all = nil
	}
	return all, 5 + limit, nil
}

func (d *directory) Since(context.Context, string, string) (map[string]time.Time, error) {
	return map[string]time.Time{d.found[0].Lists[0].ID: frametest.Now().AddDate(0, 0, -1)}, nil
}

// office is a frametest.Office with the pages about contacts.
type office struct {
	*frametest.Office
	*directory
	operations *frametest.Operations
	pages      http.Handler
	db         *storage.DB
}

// The results of operations for the tests.
var results = map[string]string{
	"topics_list": `{"data":[
		{"name":"news","display_name":"News","description":"","default_subscription_status":"OPT_IN","origin":"managed","status":"active","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z"},
		{"name":"offers","display_name":"","description":"","default_subscription_status":"OPT_OUT","origin":"managed","status":"active","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z"}]}`,
	"lists_list":    page(`{"id":"11111111-1111-4111-8111-111111111111","key":"vip","name":"<b>VIP</b>","description":"","source":"api","origin":"managed","status":"active","member_count":3,"created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z"}`),
	"segments_list": page(`{"id":"22222222-2222-4222-8222-222222222222","key":"good","name":"Good customers","description":"","source":"attr.plan = \"pro\"","profile_version":1,"eval_class":"incremental","status":"active","member_count":1,"origin":"managed","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z"}`),
	"attributes_list": page(`{"id":"33333333-3333-4333-8333-333333333333","name":"plan","type":"enum","enum_values":["free","pro"],"description":"What they pay.","origin":"managed","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z"}`,
		`{"id":"44444444-4444-4444-8444-444444444444","name":"joined","type":"datetime","origin":"managed","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z"}`),
	"contacts_lookup": `{"id":"55555555-5555-4555-8555-555555555555","email":"ada@example.com","external_id":null,"status":"active","attributes":{},
		"topic_preferences":[{"topic":"offers","subscription_status":"OPT_IN"}],"unsubscribe_all":false,"mailable":true,"created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z"}`,
	"suppressions_check_address": `{"suppressed":true,"reason":"bounce","suppressed_at":"2026-03-11T15:30:00Z","undeliverable":null}`,
	"contacts_list_activities":   page(`{"activity_id":"66666666-6666-4666-8666-666666666666","contact_id":"55555555-5555-4555-8555-555555555555","name":"<i>Order</i> paid","occurred_at":"2026-03-12T14:30:00Z","received_at":"2026-03-12T14:30:00Z","source":"api","properties":{"amount":12.5,"note":"</code><script>"}}`),
	"recipients_messages":        `{"data":[{"id":"m-1","from":"shop@example.com","to":"ada@example.com","sent_at":"2026-03-12T13:30:00Z","status":"Bounce","subject":"<h1>Sale</h1>","template":"sale"}],"pagination":{"has_more":true,"next_cursor":"next"}}`,
}

// page returns a page of a list with these items, in the form of REST.
func page(items ...string) string {
	return `{"data":[` + strings.Join(items, ",") + `],"pagination":{"has_more":false,"next_cursor":null}}`
}

// newOffice opens the pages with a contact whose texts are hostile and one that is archived.
func newOffice(t *testing.T) *office {
	t.Helper()
	db := storagetest.SQLite(t)
	o := &office{db: db, Office: frametest.NewOffice(t, frametest.DatabaseOf(db)), operations: &frametest.Operations{T: t, Results: maps.Clone(results), Errors: map[string]*core.Error{}}}
	external := "crm-1"
	o.directory = &directory{total: 1234, visitor: "vis_00000000000000000000000000", found: []audience.Contact{
		{
			ID: core.NewID(), Email: "ada@example.com", Status: audience.Active, Mailable: true, ExternalID: &external, CreatedAt: frametest.Now().AddDate(0, -2, 0), UpdatedAt: frametest.Now(),
			Attributes:       map[string]any{"first_name": "Ada", "last_name": hostile, "plan": "pro", "joined": "2026-03-12T12:30:00Z", "orders": 3.0},
			TopicPreferences: []topics.Preference{{Topic: "news", SubscriptionStatus: sending.OptOut}},
			Lists:            []lists.Ref{{ID: core.NewID(), Key: "vip", Name: "<b>VIP</b>"}},
		},
		{ID: core.NewID(), Email: "gone@example.com", Status: audience.Archived, CreatedAt: frametest.Now(), UpdatedAt: frametest.Now()},
	}}
	o.Frame.Operations = o.operations
	room, err := contacts.New(o.Frame, contacts.Config{
		Directory: o.directory, Standings: o.directory, Memberships: o.directory, Actors: actors.Actors{Members: names{}, Users: names{}, Keys: names{}, Clients: names{}},
	})
	o.Must(err)
	o.pages = o.Open(room)
	return o
}

func TestGoldenPages(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	ada := contacts.Path + "/" + o.found[0].ID
	golden := func(name, path string) {
		_, page := frametest.Get(t, o.pages, path)
		frametest.CompareGolden(t, name, page, *update)
		if strings.Contains(page, "<img") || strings.Contains(page, "<script>a") || strings.Contains(page, "\u202e") {
			t.Errorf("%s shows a text of others as HTML", name)
		}
	}
	o.next = "more"
	golden("contacts", contacts.Path+"?q=a&status=mailable&topic=!news&list=vip&segment=good&attribute=plan&value=pro")
	o.next = ""
	golden("contact", ada)
	golden("contact_activities", ada+"/activities")
	golden("contact_segments", ada+"/segments?cursor=10&from=11")
	golden("contact_messages", ada+"/messages?cursor=next&from=51")
	golden("contacts_refused", contacts.Path+"?list=unknown")
	o.Allow(members.MayViewContacts)
	o.operations.Errors["topics_list"] = &core.Error{Code: core.CodeTemporarilyUnavailable, Message: "The sending account does not answer."}
	o.operations.Errors["contacts_lookup"] = o.operations.Errors["topics_list"]
	golden("contact_of_member", ada)
	o.found, o.total = nil, 0
	golden("contacts_none", contacts.Path)
	golden("contacts_not_found", contacts.Path+"?q=missing")
	o.Allow(members.MayViewContacts, members.MayManageContacts)
	golden("contacts_first", contacts.Path)
}

func TestFiltersAreSearched(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for query, want := range map[string]audience.Search{
		"":                               {},
		"?q=+ada":                        {Text: " ada"},
		"?status=archived":               {State: audience.OnlyArchived},
		"?topic=news":                    {Topic: "news"},
		"?topic=!news":                   {Topic: "news", Subscription: sending.OptOut},
		"?list=vip":                      {List: "11111111-1111-4111-8111-111111111111"},
		"?segment=good":                  {Segment: "22222222-2222-4222-8222-222222222222"},
		"?attribute=plan&value=pro":      {AttributeKey: "plan", AttributeValue: "pro"},
		"?attribute=plan&value=":         {},
		"?attribute=&value=pro":          {},
		"?cursor=c&from=51&unknown=true": {Cursor: "c"},
	} {
		status, _ := frametest.Get(t, o.pages, contacts.Path+query)
		want.Limit = 50
		if status != http.StatusOK || o.asked != want {
			t.Errorf("%s: %d, searched %+v", query, status, o.asked)
		}
	}
	for query, want := range map[string]int{"?list=unknown": http.StatusUnprocessableEntity, "/" + core.NewID(): http.StatusNotFound, "/x": http.StatusNotFound} {
		if status, _ := frametest.Get(t, o.pages, contacts.Path+query); status != want {
			t.Errorf("%s: status %d", query, status)
		}
	}
	o.refused = &core.Error{Code: core.CodeOverloaded, Message: "Too many reads."}
	if status, _ := frametest.Get(t, o.pages, contacts.Path); status != o.refused.(*core.Error).HTTPStatus() { //nolint:errorlint // it is one
		t.Errorf("overloaded: status %d", status)
	}
}

// TestFiltersReachEveryList checks that the page with more lists and segments than a select
// field offers has a text field that suggests the first of them, and that the address may
// name any other one, by key or id. An archived one is refused.
func TestFiltersReachEveryList(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	item := func(i int, status string) string {
		return fmt.Sprintf(`{"id":"00000000-0000-4000-8000-%012d","key":"set-%d","name":"Set %d","description":"","source":"api","profile_version":1,"eval_class":"incremental","origin":"managed","status":%q,"member_count":0,"created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z"}`, i, i, i, status)
	}
	var first []string
	for i := range 200 {
		first = append(first, item(i, "active"))
	}
	asked := map[string]string{"list": "00000000-0000-4000-8000-000000000200", "segment": "00000000-0000-4000-8000-000000000200"}
	for filter, id := range asked {
		o.operations.Results[filter+"s_list"] = `{"data":[` + strings.Join(first, ",") + `],"pagination":{"has_more":true,"next_cursor":"next"}}`
		o.operations.Results[filter+"s_get"] = item(200, "active")
		for _, name := range []string{"set-200", id} {
			o.asked = audience.Search{}
			status, page := frametest.Get(t, o.pages, contacts.Path+"?"+filter+"="+name)
			if status != http.StatusOK || o.asked.List+o.asked.Segment != id {
				t.Errorf("%s=%s: %d, searched %+v", filter, name, status, o.asked)
			}
			for _, want := range []string{`type="text" value="set-200" maxlength="64"`, `list="` + filter + `s"`, `<option value="set-0">Set 0</option>`, `<option value="set-199">`} {
				if !strings.Contains(page, want) {
					t.Errorf("%s=%s: the page has no %s", filter, name, want)
				}
			}
		}
		o.operations.Results[filter+"s_get"] = item(200, "archived")
		if status, _ := frametest.Get(t, o.pages, contacts.Path+"?"+filter+"=set-200"); status != http.StatusUnprocessableEntity {
			t.Errorf("an archived %s: status %d", filter, status)
		}
		delete(o.operations.Results, filter+"s_get")
		if status, _ := frametest.Get(t, o.pages, contacts.Path+"?"+filter+"=set-7"); status != http.StatusOK {
			t.Errorf("one of the first: status %d", status)
		}
		o.operations.Results = maps.Clone(results)
	}
}

// TestFiltersSkipArchivedSegments checks the filter of an organization whose newest segments
// are archived. It offers the others, and is a text field if they come after too many
// archived ones.
func TestFiltersSkipArchivedSegments(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	archived := make([]string, 200)
	for i := range archived {
		archived[i] = fmt.Sprintf(`{"id":"00000000-0000-4000-8000-%012d","key":"old-%d","name":"Old","description":"","source":"api","profile_version":1,"eval_class":"incremental","origin":"managed","status":"archived","member_count":0,"created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z"}`, i, i)
	}
	first := `{"data":[` + strings.Join(archived, ",") + `],"pagination":{"has_more":true,"next_cursor":"next"}}`
	o.operations.Results["segments_list after next"], o.operations.Results["segments_list"] = o.operations.Results["segments_list"], first
	for _, want := range []string{`<select id="segment"`, `<input id="segment"`} {
		if _, page := frametest.Get(t, o.pages, contacts.Path); !strings.Contains(page, want) || strings.Contains(page, "Old") {
			t.Errorf("the page has no %s, or an archived segment", want)
		}
		o.operations.Results["segments_list after next"] = first // archived ones without an end
	}
}

// TestFiltersNeedTheirPermissions checks that a member without a permission can neither see
// nor use a filter.
func TestFiltersNeedTheirPermissions(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.Allow(members.MayViewContacts)
	if _, page := frametest.Get(t, o.pages, contacts.Path); strings.Contains(page, "Good customers") || strings.Contains(page, "VIP") {
		t.Error("lists or segments are shown")
	}
	for _, query := range []string{"?list=vip", "?segment=good"} {
		o.asked = audience.Search{}
		if status, _ := frametest.Get(t, o.pages, contacts.Path+query); status != http.StatusUnprocessableEntity || o.asked != (audience.Search{}) {
			t.Errorf("%s: status %d, searched %+v", query, status, o.asked)
		}
	}
	o.Allow(members.MayViewLists)
	for _, path := range []string{"", "/" + o.found[0].ID, "/" + o.found[0].ID + "/activities", "/" + o.found[0].ID + "/messages", "/" + o.found[0].ID + "/segments"} {
		if status, _ := frametest.Get(t, o.pages, contacts.Path+path); status != http.StatusForbidden {
			t.Errorf("%s without contacts.view: status %d", path, status)
		}
	}
}
