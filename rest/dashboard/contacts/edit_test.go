package contacts_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/rest/dashboard/contacts"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
)

const vip = "11111111-1111-4111-8111-111111111111"

// written returns the calls of operations that write, as "name arguments".
func (o *office) written() []string {
	var calls []string
	for _, c := range o.operations.Calls() {
		if c.Once != "" {
			calls = append(calls, c.Name+" "+c.Arguments)
		}
	}
	return calls
}

// post sends a form with a new id, and returns the status and the body of the answer.
func (o *office) post(t *testing.T, path string, form url.Values) (int, string) {
	t.Helper()
	sent := url.Values{"once": {core.NewID()}}
	for name, values := range form {
		sent[name] = values
	}
	return frametest.Post(t, o.pages, o.Site.Visitor, path, sent)
}

func TestGoldenForms(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	ada, gone := contacts.Path+"/"+o.found[0].ID, contacts.Path+"/"+o.found[1].ID
	for name, path := range map[string]string{"contact_new": contacts.NewPath, "contact_edit": ada + "/edit", "contact_archive": ada + "/archive", "contact_archived": gone} {
		_, page := frametest.Get(t, o.pages, path)
		frametest.CompareGolden(t, name, page, *update)
	}
	o.operations.Errors["contacts_create"] = core.Invalid("email", "is not an address")
	status, page := o.post(t, contacts.NewPath, url.Values{"email": {hostile}, "was.email": {""}, "attribute.plan": {"pro"}, "was.attribute.plan": {""}})
	if status != http.StatusUnprocessableEntity {
		t.Errorf("status %d", status)
	}
	frametest.CompareGolden(t, "contact_new_refused", page, *update)
	if status, _ := frametest.Get(t, o.pages, gone+"/edit"); status != http.StatusSeeOther {
		t.Errorf("edit of an archived contact: status %d", status)
	}
}

// TestOnlyChangedValuesAreWritten sends the form of a contact with some changes and checks
// the arguments of the operation.
func TestOnlyChangedValuesAreWritten(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	written := `{"id":"55555555-5555-4555-8555-555555555555","email":"ada@example.com","external_id":null,"status":"active","attributes":{},"topic_preferences":[],
		"unsubscribe_all":false,"mailable":true,"lists":[],"created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z"}`
	for _, name := range []string{"contacts_update", "contacts_upsert_by_external_id", "contacts_create", "contacts_upsert"} {
		o.operations.Results[name] = written
	}
	o.operations.Results["contacts_archive"] = `{"archived":true,"summary":"It is archived."}`
	ada, gone := contacts.Path+"/"+o.found[0].ID, contacts.Path+"/"+o.found[1].ID
	shown := url.Values{
		"was.email": {"ada@example.com"}, "email": {"ada@example.com"}, "was.unsubscribe_all": {"false"},
		"was.attribute.plan": {"pro"}, "attribute.plan": {"pro"}, "was.attribute.joined": {"2026-03-12T12:30:00Z"}, "attribute.joined": {"2026-03-12T12:30:00Z"},
		"was.topic.news": {"OPT_OUT"}, "topic.news": {"OPT_OUT"}, "was.topic.offers": {""}, "topic.offers": {""}, "was.list." + vip: {"true"}, "list." + vip: {"true"},
	}
	for _, c := range []struct {
		name, path string
		change     map[string]string // a value of "-" removes the field
		want       []string
		done       string
	}{
		{"nothing", ada + "/edit", nil, nil, "unchanged"},
		{"an attribute", ada + "/edit", map[string]string{"attribute.plan": "free"}, []string{`contacts_update {"attributes":{"plan":"free"},"email":"ada@example.com"}`}, "changed"},
		{"a cleared attribute", ada + "/edit", map[string]string{"attribute.joined": " "}, []string{`contacts_update {"attributes":{"joined":null},"email":"ada@example.com"}`}, "changed"},
		{"an unknown attribute", ada + "/edit", map[string]string{"was.attribute.x": "", "attribute.x": "1"}, []string{`contacts_update {"email":"ada@example.com"}`}, "changed"},
		{
			"consent and lists", ada + "/edit",
			map[string]string{"topic.offers": "OPT_IN", "unsubscribe_all": "true", "list." + vip: "-"},
			[]string{`contacts_update {"email":"ada@example.com","lists":{"add":[],"remove":["` + vip + `"]},"topic_preferences":{"offers":"OPT_IN"},"unsubscribe_all":true}`},
			"changed",
		},
		{
			"the address", ada + "/edit",
			map[string]string{"email": "new@example.com", "list." + vip: "-"},
			[]string{`contacts_upsert_by_external_id {"email":"new@example.com","external_id":"crm-1","id":"` + o.found[0].ID + `","lists":["` + o.found[0].Lists[0].ID + `"]}`},
			"changed",
		},
		{
			"a new contact", contacts.NewPath,
			map[string]string{"was.email": "", "email": "eve@example.com", "was.attribute.plan": "", "was.attribute.joined": "", "attribute.joined": "", "was.list." + vip: "false"},
			[]string{`contacts_create {"attributes":{"plan":"pro"},"email":"eve@example.com","lists":{"add":["` + vip + `"],"remove":[]}}`},
			"created",
		},
		{"archive", ada + "/archive", nil, []string{`contacts_archive {"email":"ada@example.com"}`}, "archived"},
		{"activate", gone + "/activate", nil, []string{`contacts_upsert {"email":"gone@example.com"}`}, "activated"},
		{"activate an active contact", ada + "/activate", nil, nil, "activated"},
	} {
		form := url.Values{}
		for name, values := range shown {
			form[name] = values
		}
		for name, value := range c.change {
			if form.Set(name, value); value == "-" {
				form.Del(name)
			}
		}
		status, page := o.post(t, c.path, form)
		if diff := cmp.Diff(c.want, o.written()); diff != "" || status != http.StatusSeeOther {
			t.Errorf("%s: status %d (-want +got)\n%s%s", c.name, status, diff, page)
		}
	}
}

func TestRefusalsAreShownInTheForm(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	ada := contacts.Path + "/" + o.found[0].ID
	conflict := core.Conflict("Another contact has this external id.", "Use another one.")
	o.operations.Errors["contacts_upsert_by_external_id"], o.operations.Errors["contacts_archive"] = conflict, conflict
	form := url.Values{"was.external_id": {""}, "external_id": {"taken"}}
	for _, path := range []string{ada + "/edit", ada + "/archive"} {
		if status, page := o.post(t, path, form); status != http.StatusConflict || !strings.Contains(page, "Another contact has this external id. Use another one.") {
			t.Errorf("%s: status %d: %s", path, status, page)
		}
	}
	delete(o.operations.Errors, "contacts_archive")
	o.operations.Confirm = map[string]*guardrails.ConfirmationRequired{"contacts_archive": {Message: "Archives ada@example.com.", Token: "T"}}
	if status, page := o.post(t, ada+"/archive", nil); status != http.StatusOK || !strings.Contains(page, "Archives ada@example.com.") || !strings.Contains(page, `name="confirmation" value="T"`) {
		t.Errorf("status %d: %s", status, page)
	}
	if status, _ := frametest.Post(t, o.pages, o.Site.Visitor, ada+"/archive", url.Values{"once": {"x"}}); status != http.StatusUnprocessableEntity {
		t.Errorf("without the id of the form: status %d", status)
	}
}

func TestFormsNeedThePermission(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.Allow(members.MayViewContacts)
	ada := contacts.Path + "/" + o.found[0].ID
	for _, path := range []string{contacts.NewPath, ada + "/edit", ada + "/archive", ada + "/activate"} {
		if status, _ := o.post(t, path, url.Values{"email": {"x@example.com"}}); status != http.StatusForbidden {
			t.Errorf("%s: status %d", path, status)
		}
	}
	if calls := o.written(); calls != nil {
		t.Errorf("written: %v", calls)
	}
	if _, page := frametest.Get(t, o.pages, ada); strings.Contains(page, "/edit") || strings.Contains(page, "/archive") {
		t.Error("the page offers forms")
	}
}

// TestFormHasTheListsOfItsContact checks that the form of a contact has a list of the contact
// that is not among the newest lists, so that the contact can leave it there.
func TestFormHasTheListsOfItsContact(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	ada, on := contacts.Path+"/"+o.found[0].ID+"/edit", o.found[0].Lists[0].ID
	o.operations.Results["lists_list"] = `{"data":[],"pagination":{"has_more":true,"next_cursor":"next"}}`
	_, page := frametest.Get(t, o.pages, ada)
	for _, want := range []string{`name="list.` + on + `"`, "There are older lists."} {
		if !strings.Contains(page, want) {
			t.Errorf("the form has no %s: %s", want, page)
		}
	}
	o.operations.Calls()
	o.operations.Results["contacts_update"] = `{"id":"55555555-5555-4555-8555-555555555555","email":"ada@example.com","external_id":null,"status":"active","attributes":{},"topic_preferences":[],
		"unsubscribe_all":false,"mailable":true,"lists":[],"created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z"}`
	o.post(t, ada, url.Values{"was.email": {"ada@example.com"}, "email": {"ada@example.com"}, "was.list." + on: {"true"}})
	want := []string{`contacts_update {"email":"ada@example.com","lists":{"add":[],"remove":["` + on + `"]}}`}
	if diff := cmp.Diff(want, o.written()); diff != "" {
		t.Error(diff)
	}
}
