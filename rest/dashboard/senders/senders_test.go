package senders_test

import (
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	pages "github.com/mailhelm/mailhelm/rest/dashboard/senders"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var update = flag.Bool("update", false, "write the golden files again")

// office is an organization whose operations have prepared results.
type office struct {
	*frametest.Office
	operations *frametest.Operations
	pages      http.Handler
}

// ids of the claims of the prepared list, by state.
var ids = map[string]string{
	"pending":  "01900000-0000-7000-8000-000000000001",
	"expired":  "01900000-0000-7000-8000-000000000002",
	"locked":   "01900000-0000-7000-8000-000000000003",
	"verified": "01900000-0000-7000-8000-000000000004",
}

// claim returns the JSON of a claim.
func claim(state string) string {
	members := map[string]string{
		"pending":  `"status":"pending","code_expires_at":` + at(10*time.Minute),
		"expired":  `"status":"pending","code_expires_at":` + at(-time.Hour),
		"locked":   `"status":"locked","code_expires_at":` + at(5*time.Minute),
		"verified": `"status":"verified","verified_at":` + at(-24*time.Hour),
	}[state]
	return fmt.Sprintf(`{"id":%q,"email":"%s\"<b>@example.com",%s,"created_at":%s}`, ids[state], state, members, at(-48*time.Hour))
}

func at(d time.Duration) string { return `"` + frametest.Now().Add(d).Format(time.RFC3339) + `"` }

func list(claims ...string) string {
	return `{"data":[` + strings.Join(claims, ",") + `],"pagination":{"has_more":false,"next_cursor":null}}`
}

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{
		Office:     frametest.NewOffice(t, frametest.DatabaseOf(storagetest.SQLite(t)), frame.Area{Path: pages.Path, Name: "Verified senders"}),
		operations: &frametest.Operations{T: t, Errors: map[string]*core.Error{}},
	}
	o.operations.Results = map[string]string{
		"verified_senders_list": list(claim("pending"), claim("expired"), claim("locked"), claim("verified")), "verified_senders_create": claim("pending"),
		"verified_senders_confirm": claim("verified"), "verified_senders_delete": `{"deleted":true}`,
	}
	o.Frame.Operations = o.operations
	room, err := pages.New(o.Frame)
	o.Must(err)
	o.pages = o.Open(room)
	return o
}

func TestGoldenPages(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	shown := func(name, path string, want int) {
		t.Helper()
		status, page := frametest.Get(t, o.pages, path)
		if status != want || strings.Contains(page, "<b>") {
			t.Errorf("%s: %d\n%s", path, status, page)
		}
		frametest.CompareGolden(t, name, page, *update)
	}
	shown("senders", pages.Path+"?done=removed", 200)
	for state, id := range ids {
		shown(state, pages.Path+"/"+id, 200)
	}
	o.Allow(members.MayViewInbound)
	shown("senders_of_viewer", pages.Path, 200)
	shown("sender_of_viewer", pages.Path+"/"+ids["pending"], 200)
	o.operations.Results["verified_senders_list"] = list()
	shown("none", pages.Path, 200)
	if status, _ := frametest.Get(t, o.pages, pages.Path+"/"+ids["pending"]); status != http.StatusNotFound {
		t.Errorf("an unknown claim: %d", status)
	}
	o.Allow(members.MayViewContacts)
	if status, _ := frametest.Get(t, o.pages, pages.Path); status != http.StatusForbidden {
		t.Errorf("without the permission: %d", status)
	}
}

func TestForms(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	one := pages.Path + "/" + ids["pending"]
	send := func(path string, form url.Values, want int, texts ...string) {
		t.Helper()
		status, page := frametest.Post(t, o.pages, o.Site.Visitor, path, form)
		if status != want {
			t.Fatalf("%s: %d\n%s", path, status, page)
		}
		for _, text := range texts {
			if !strings.Contains(page, text) {
				t.Errorf("%s lacks %q:\n%s", path, text, page)
			}
		}
	}
	once := core.NewID()
	send(pages.Path, url.Values{"once": {once}, "email": {" box@example.com "}}, 303)
	send(one, url.Values{"code": {" 123 456 "}}, 303)
	send(one+"/remove", nil, 303)
	want := []frametest.CalledOperation{
		{Name: "verified_senders_create", Arguments: `{"email":"box@example.com"}`, Once: once},
		{Name: "verified_senders_confirm", Arguments: `{"code":"123456","id":"` + ids["pending"] + `"}`},
		{Name: "verified_senders_delete", Arguments: `{"id":"` + ids["pending"] + `"}`},
	}
	if diff := cmp.Diff(want, o.operations.Calls()); diff != "" {
		t.Error(diff)
	}
	send(pages.Path, url.Values{"email": {"box@example.com"}}, 422) // no id
	send(one, url.Values{"code": {"12"}}, 422, "The code")
	for _, refused := range []struct {
		operation, path string
		err             *core.Error
		want            int
		texts           []string
	}{
		{"verified_senders_create", pages.Path, core.Invalid("email", "is no address"), 422, []string{"The address is no address.", `value="box@example.com"`}},
		{"verified_senders_create", pages.Path, core.Conflict("Another member has claimed it.", "Ask."), 409, []string{"Another member has claimed it."}},
		{"verified_senders_create", pages.Path, &core.Error{Code: core.CodeRateLimited, Message: "Five codes."}, 429, []string{"Five codes. Try again later."}},
		{"verified_senders_create", pages.Path, &core.Error{Code: core.CodeUpstreamUnavailable, Message: "No mail server.", Next: "Set it."}, 503, []string{"No mail server. Set it."}},
		{"verified_senders_confirm", one, core.Invalid("code", "is wrong; 4 attempts are left"), 422, []string{"The code is wrong; 4 attempts are left."}},
		{"verified_senders_confirm", one, core.NotFound("verified sender"), 404, nil},
		{"verified_senders_delete", one + "/remove", core.NotFound("verified sender"), 404, nil},
	} {
		o.operations.Errors[refused.operation] = refused.err
		send(refused.path, url.Values{"once": {core.NewID()}, "email": {"box@example.com"}, "code": {"123456"}}, refused.want, refused.texts...)
		delete(o.operations.Errors, refused.operation)
	}
	o.operations.Calls()
	o.Allow(members.MayViewInbound)
	for _, path := range []string{pages.Path, one, one + "/remove"} {
		send(path, url.Values{"once": {core.NewID()}, "email": {"box@example.com"}, "code": {"123456"}}, 403)
	}
	if calls := o.operations.Calls(); len(calls) != 0 {
		t.Errorf("a viewer changed: %+v", calls)
	}
}
