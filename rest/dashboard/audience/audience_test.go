package audience_test

import (
	"context"
	"encoding/json"
	"flag"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/rest/dashboard/audience"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var update = flag.Bool("update", false, "write the golden files again")

// hostile is a name that would break a page if it were not escaped, with a character that
// reverses the order of text.
const hostile = "<script>alert(1)</script>\u202eVIP"

const listID = "0190a000-0000-7000-8000-000000000001"

// fakeLists answers searches with one page of prepared lists and members.
type fakeLists struct{}

func (fakeLists) Search(_ context.Context, _, query, _ string, _ int) (core.Page[lists.List], error) {
	if query == "nothing" {
		return core.Page[lists.List]{}, nil
	}
	managed := lists.List{ID: listID, Key: "vip", Name: hostile, MemberCount: 12431, Origin: core.ManagedOrigin, UpdatedAt: frametest.Now()}
	git := lists.List{ID: "0190a000-0000-7000-8000-000000000002", Key: "partners", Name: "Partners", Origin: core.GitOrigin, UpdatedAt: frametest.Now().AddDate(0, 0, -2)}
	return core.Page[lists.List]{Items: []lists.List{managed, git}, Total: 2}, nil
}

func (fakeLists) SearchMembers(_ context.Context, _, _, part, _ string, _ int) (core.Page[lists.Member], error) {
	if part == "nothing" {
		return core.Page[lists.Member]{}, nil
	}
	return core.Page[lists.Member]{Items: []lists.Member{
		{ContactID: "0190a000-0000-7000-8000-000000000003", Email: "ada@example.com", Mailable: true, AddedAt: frametest.Now()},
		{ContactID: "0190a000-0000-7000-8000-000000000004", Email: "<b>x@example.com", AddedAt: frametest.Now().AddDate(0, -2, 0)},
	}, Next: "C"}, nil
}

// fakeSegments answers every preview with one segment.
type fakeSegments struct{}

func (fakeSegments) PreviewRedefinition(context.Context, string, segments.Redefinition) ([]segments.Affected, error) {
	return []segments.Affected{{ID: listID, Name: "Engaged " + hostile}}, nil
}

// office is an organization whose operations answer with prepared results.
type office struct {
	*frametest.Office
	operations *frametest.Operations
	pages      http.Handler
}

func newOffice(t *testing.T) *office {
	t.Helper()
	db := storagetest.SQLite(t)
	o := &office{operations: &frametest.Operations{T: t, Results: results(), Errors: map[string]*core.Error{}}, Office: frametest.NewOffice(t, frametest.DatabaseOf(db), frame.Area{Path: audience.ListsPath, Name: "Lists"}, frame.Area{Path: audience.TopicsPath, Name: "Topics"})}
	o.Frame.Operations = o.operations
	room, err := audience.New(o.Frame, audience.Config{
		Lists: fakeLists{}, Segments: fakeSegments{},
	})
	o.Must(err)
	o.pages = o.Open(room)
	return o
}

// results has the prepared results of the operations that the pages call.
func results() map[string]string {
	list := `{"id":"` + listID + `","key":"vip","name":` + quote(hostile) + `,"description":"Buy a lot.","source":"ui","member_count":12431,"origin":"managed","status":"active","created_at":"2026-01-02T03:04:05Z","updated_at":"2026-03-12T14:30:00Z"}`
	news := `{"name":"news","display_name":` + quote("News "+hostile) + `,"description":"What is new.","default_subscription_status":"OPT_IN","origin":"managed","status":"active","created_at":"2026-01-02T03:04:05Z","updated_at":"2026-03-12T14:30:00Z"}`
	offers := strings.NewReplacer("news", "offers", "OPT_IN", "OPT_OUT", "managed", "git").Replace(news)
	return map[string]string{
		"lists_get": list, "lists_create": list, "lists_update": list, "lists_delete": `{"deleted":true}`,
		"contacts_set_list_membership": `{"lists":[]}`,
		"topics_list":                  `{"data":[` + news + `,` + offers + `]}`, "topics_create": news, "topics_update": news, "topics_delete": `{"deleted":true}`,
		"contact_list_get": `{"name":"mailhelm","description":"","contact_count":500,"topic_count":2,"topics":[` + offers + `],"last_synced_at":"2026-03-12T15:00:00Z","created_at":"2026-01-02T03:04:05Z","updated_at":"2026-01-02T03:04:05Z"}`,
	}
}

func quote(text string) string {
	quoted, _ := json.Marshal(text)
	return string(quoted)
}

// TestGoldenPages checks every page of the room.
func TestGoldenPages(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	git := strings.Replace(o.operations.Results["lists_get"], `"managed"`, `"git","source_path":"lists/vip.json"`, 1)
	for name, address := range map[string]string{
		"lists": "/lists", "lists_nothing": "/lists?q=nothing", "list_new": "/lists/new", "list": "/lists/vip", "list_search": "/lists/vip?q=nothing",
		"list_edit": "/lists/vip/edit", "list_delete": "/lists/vip/delete", "topics": "/topics", "topic_new": "/topics/new", "topic": "/topics/by-name/news",
		"topic_git": "/topics/by-name/offers", "topic_edit": "/topics/by-name/news/edit", "topic_delete": "/topics/by-name/news/delete",
	} {
		status, page := frametest.Get(t, o.pages, frame.Path+address)
		if status != http.StatusOK || strings.Contains(page, "<script>alert") || strings.Contains(page, "\u202e") && !strings.HasSuffix(name, "_edit") { // a form has the stored text
			t.Errorf("%s: status %d", name, status)
		}
		frametest.CompareGolden(t, name, page, *update)
	}
	o.operations.Results["lists_get"] = git
	o.golden("list_git", "/lists/vip", http.StatusOK)
	o.golden("list_git_edit", "/lists/vip/edit", http.StatusConflict)
	o.operations.Errors["topics_list"] = &core.Error{Code: core.CodeUpstreamUnavailable, Message: "The sending account did not answer."}
	o.golden("topics_unavailable", "/topics", http.StatusOK)
	delete(o.operations.Errors, "topics_list")
	o.operations.Results["topics_list"] = `{"data":[]}`
	o.operations.Errors["contact_list_get"] = &core.Error{Code: core.CodeContactListNotSynced, Message: "Not yet."}
	o.golden("topics_nothing", "/topics", http.StatusOK)
	o.golden("topic_unknown", "/topics/by-name/news", http.StatusNotFound)
	o.Allow(members.MayViewLists)
	o.golden("list_of_viewer", "/lists/vip", http.StatusOK)
	o.golden("lists_of_viewer", "/lists", http.StatusOK)
}

// golden checks the status and the content of a page.
func (o *office) golden(name, address string, want int) {
	o.T.Helper()
	status, page := frametest.Get(o.T, o.pages, frame.Path+address)
	if status != want {
		o.T.Errorf("%s: status %d", name, status)
	}
	frametest.CompareGolden(o.T, name, page, *update)
}

// TestForms checks the operation that each form calls, and the page after it.
func TestForms(t *testing.T) {
	t.Parallel()
	const once = "0190a000-0000-7000-8000-00000000000a"
	o := newOffice(t)
	for name, c := range map[string]struct {
		path, form string
		status     int
		calls      []frametest.CalledOperation
	}{
		"create list": {"/lists/new", "once=" + once + "&name=VIP&key=&description=", 303, []frametest.CalledOperation{{Name: "lists_create", Arguments: `{"name":"VIP"}`, Once: once}}},
		"no once":     {"/lists/new", "name=VIP", 422, nil},
		"no name":     {"/lists/new", "once=" + once + "&name=", 422, nil},
		"edit list":   {"/lists/vip/edit", "name=VIP&description=", 303, []frametest.CalledOperation{{Name: "lists_get", Arguments: `{"id":"vip"}`}, {Name: "lists_update", Arguments: `{"description":"","id":"` + listID + `","name":"VIP"}`}}},
		"delete list": {"/lists/vip/delete", "", 303, []frametest.CalledOperation{{Name: "lists_delete", Arguments: `{"id":"vip"}`}}},
		"add":         {"/lists/vip/members/add", "email=+ada@example.com", 303, []frametest.CalledOperation{{Name: "lists_get", Arguments: `{"id":"vip"}`}, {Name: "contacts_set_list_membership", Arguments: `{"add":["` + listID + `"],"contact":"ada@example.com"}`}}},
		"no address":  {"/lists/vip/members/add", "email=ada", 422, []frametest.CalledOperation{{Name: "lists_get", Arguments: `{"id":"vip"}`}}},
		"remove":      {"/lists/vip/members/remove", "contact=" + once, 303, []frametest.CalledOperation{{Name: "lists_get", Arguments: `{"id":"vip"}`}, {Name: "contacts_set_list_membership", Arguments: `{"contact":"` + once + `","remove":["` + listID + `"]}`}}},

		"create topic": {"/topics/new", "once=" + once + "&name=news&display_name=News&description=&default_subscription_status=OPT_OUT", 303, []frametest.CalledOperation{{Name: "topics_create", Arguments: `{"default_subscription_status":"OPT_OUT","display_name":"News","name":"news"}`, Once: once}}},
		"edit topic":   {"/topics/by-name/news/edit", "display_name=N&description=d&default_subscription_status=OPT_IN", 303, []frametest.CalledOperation{{Name: "topics_list"}, {Name: "topics_update", Arguments: `{"default_subscription_status":"OPT_IN","description":"d","display_name":"N","name":"news"}`}}},
		"git topic":    {"/topics/by-name/offers/edit", "display_name=N", 409, []frametest.CalledOperation{{Name: "topics_list"}}},
		"delete topic": {"/topics/by-name/news/delete", "", 303, []frametest.CalledOperation{{Name: "topics_delete", Arguments: `{"name":"news"}`}}},
	} {
		form, err := url.ParseQuery(c.form)
		o.Must(err)
		status, page := frametest.Post(t, o.pages, o.Site.Visitor, frame.Path+c.path, form)
		if status != c.status {
			t.Errorf("%s: status %d, %s", name, status, page)
		}
		if diff := cmp.Diff(c.calls, o.operations.Calls()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestRefusalsInPlace checks that a form that is refused is shown again with its values.
func TestRefusalsInPlace(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	taken := core.Conflict("A list of this organization has this key already.", "Choose another key.")
	o.operations.Errors["lists_create"] = taken
	status, page := frametest.Post(t, o.pages, o.Site.Visitor, audience.ListsPath+"/new", url.Values{"once": {core.NewID()}, "name": {"Typed name"}, "key": {"vip"}})
	if status != http.StatusConflict || !strings.Contains(page, `value="Typed name"`) || !strings.Contains(page, "Choose another key.") {
		t.Errorf("status %d, %s", status, page)
	}
	o.operations.Errors["contacts_set_list_membership"] = core.Conflict("The contact is archived.", "")
	status, page = frametest.Post(t, o.pages, o.Site.Visitor, audience.ListsPath+"/vip/members/add", url.Values{"email": {"old@example.com"}})
	if status != http.StatusConflict || !strings.Contains(page, `value="old@example.com"`) || !strings.Contains(page, "Activate the contact") {
		t.Errorf("status %d, %s", status, page)
	}
}

// TestPermissions checks that a member who may only view lists cannot change them.
func TestPermissions(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.Allow(members.MayViewLists)
	for path, needs := range map[string]string{
		"/lists/new": "lists.manage", "/lists/vip/edit": "lists.manage", "/lists/vip/delete": "lists.manage", "/lists/vip/members/add": "contacts.manage",
		"/lists/vip/members/remove": "contacts.manage", "/topics/new": "contacts.manage", "/topics/by-name/news/edit": "contacts.manage", "/topics/by-name/news/delete": "contacts.manage",
	} {
		if status, page := frametest.Post(t, o.pages, o.Site.Visitor, frame.Path+path, url.Values{}); status != http.StatusForbidden || !strings.Contains(page, needs) {
			t.Errorf("%s: status %d, %s", path, status, page)
		}
	}
	if status, _ := frametest.Get(t, o.pages, audience.TopicsPath); status != http.StatusForbidden {
		t.Errorf("topics: status %d", status)
	}
	if calls := o.operations.Calls(); calls != nil {
		t.Errorf("called %v", calls)
	}
}

// TestNewAddress checks that an address without a contact gets one before it joins the list.
func TestNewAddress(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.operations.Errors["contacts_set_list_membership"] = core.NotFound("contact")
	o.operations.Errors["contacts_upsert"] = core.Invalid("email", "cannot get mail")
	status, page := frametest.Post(t, o.pages, o.Site.Visitor, audience.ListsPath+"/vip/members/add", url.Values{"email": {"new@example.com"}})
	if status != http.StatusUnprocessableEntity || !strings.Contains(page, "The address cannot get mail.") {
		t.Errorf("status %d, %s", status, page)
	}
	var names []string
	for _, call := range o.operations.Calls() {
		names = append(names, call.Name)
	}
	if diff := cmp.Diff([]string{"lists_get", "contacts_set_list_membership", "contacts_upsert"}, names); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}
