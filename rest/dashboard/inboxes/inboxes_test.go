package inboxes_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	pages "github.com/mailhelm/mailhelm/rest/dashboard/inboxes"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var update = flag.Bool("update", false, "write the golden files again")

// hostile is text as an attacker would write it: HTML, and a character that reverses the
// order of the text after it.
const hostile = "<script>alert(1)</script>\u202egro.elpmaxe"

const (
	id     = "01976f3a-5b00-7000-8000-0000000000a1"
	linkID = "01976f3a-5b00-7000-8000-0000000000a2"
	once   = "01976f3a-5b00-7000-8000-0000000000a3"
	path   = pages.Path + "/" + id
)

// office is an organization with an inbox, by prepared results of the operations.
type office struct {
	*frametest.Office
	operations *frametest.Operations
	pages      http.Handler
	// contents are the attachments of the message, and opened the calls for them.
	contents []string
	opened   []string
}

// OpenAttachment opens one of the contents.
func (o *office) OpenAttachment(_ context.Context, orgID, inboxID string, position, n int) (io.ReadCloser, error) {
	o.opened = append(o.opened, fmt.Sprint(orgID == o.Org.ID, inboxID == id, position, n))
	if o.contents[n] == "" {
		return nil, core.NotFound("object")
	}
	return io.NopCloser(strings.NewReader(o.contents[n])), nil
}

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{
		Office:     frametest.NewOffice(t, frametest.DatabaseOf(storagetest.SQLite(t)), frame.Area{Path: pages.Path, Name: "Inboxes", Needs: members.MayViewInbound}),
		operations: &frametest.Operations{T: t},
	}
	o.Frame.Operations = o.operations
	room, err := pages.New(o.Frame, pages.Config{Attachments: o})
	o.Must(err)
	o.pages = o.Open(room)
	inbox := inboxJSON("active")
	message := `{"schema_version":1,"message_id":"m1","received_at":"2026-03-12T15:29:00Z","sender":"bounce@shop.example","recipients":["k3v9x2m7qa@inbox.test"],
		"verdicts":{"spf":"PASS","dkim":"FAIL","dmarc":"GRAY","spam":"DISABLED","virus":"PROCESSING_FAILED"},"raw_url":"https://fetch.test/o/raw","inbox_id":` + text(id) + `,"cursor":"1",
		"extracted":{"codes":["483920",` + text(hostile) + `],"links":[{"url":"https://shop.example/confirm?t=1","kind":"confirm"},{"url":` + text("javascript:"+hostile) + `,"kind":"other"}]},
		"message":{"from":{"address":"no-reply@shop.example","name":` + text(hostile) + `},"to":[{"address":"k3v9x2m7qa@inbox.test","name":""}],"cc":[{"address":"c@shop.example","name":"C"}],"reply_to":[{"address":"r@shop.example","name":""}],
		"subject":` + text("Your code "+hostile) + `,"date":"","header_message_id":"","in_reply_to":"","references":[],"headers":[{"name":"Subject","value":` + text(hostile) + `}],
		"text_body":` + text("Code 483920\n"+hostile) + `,"html_body":` + text("<p>Code</p>"+hostile) + `,"attachments":[{"filename":` + text(hostile) + `,"content_type":"application/pdf","size":2048,"inline":false,"url":"https://fetch.test/o/file"}],"warnings":["The charset is unknown."]}}`
	token := `{"id":` + text(linkID) + `,"prefix":"K7QW2M4X","label":` + text(hostile) + `,"created_at":"2026-03-12T15:20:00Z","revoked_at":null}`
	revoked := strings.Replace(token, "null", `"2026-03-12T15:25:00Z"`, 1)
	o.operations.Results = map[string]string{
		"inboxes_list":             `{"data":[` + inbox + `,` + inboxJSON("expired") + `]}`,
		"inboxes_get":              inbox,
		"inboxes_messages":         `{"messages":[` + message + `],"cursor":"1","expires_at":"2026-03-12T15:40:00Z"}`,
		"inboxes_create":           strings.TrimSuffix(inbox, "}") + `,"pull_url":"https://fetch.test/p/SECRET/messages"}`,
		"inboxes_update":           inbox,
		"inboxes_delete":           `{"deleted":true}`,
		"inbox_pull_tokens_list":   `{"data":[` + token + `,` + revoked + `],"pagination":{"has_more":false,"next_cursor":null}}`,
		"inbox_pull_tokens_create": strings.TrimSuffix(token, "}") + `,"pull_url":"https://fetch.test/p/SECRET/messages"}`,
		"inbox_pull_tokens_revoke": `{"deleted":true}`,
	}
	o.Allow(members.MayViewInbound, members.MayManageInbound)
	return o
}

func inboxJSON(status string) string {
	return `{"id":` + text(id) + `,"address":"k3v9x2m7qa@inbox.test","expires_at":"2026-03-12T15:40:00Z","poll_url":"https://api.test/v1/inboxes/` + id + `/messages",
		"pull_token":{"id":` + text(linkID) + `,"prefix":"K7QW2M4X","label":"default","created_at":"2026-03-12T15:20:00Z","revoked_at":null},"restricted":true,"restriction_source":"verified",
		"account_ref":"customer-1","visibility":"org","label":` + text(hostile) + `,"status":` + text(status) + `,"allowed_senders":["@shop.example"],"message_count":1,"dropped_count":2,"created_at":"2026-03-12T15:20:00Z"}`
}

// text returns a JSON string.
func text(s string) string {
	encoded, _ := json.Marshal(s) // a string is always encoded
	return string(encoded)
}

func TestGoldenPages(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	check := func(name string, want, status int, page string) {
		t.Helper()
		// The form fields of a change have the text as it is stored or was sent.
		form := name == "edit" || name == "refused"
		if status != want || strings.Contains(page, "<script>alert") || !form && strings.Contains(page, "\u202e") {
			t.Errorf("%s: %d\n%s", name, status, page)
		}
		frametest.CompareGolden(t, name, page, *update)
	}
	shown := func(name, path string, want int) {
		t.Helper()
		status, page := frametest.Get(t, o.pages, path)
		check(name, want, status, page)
	}
	sent := func(name, path string, form url.Values, want int) {
		t.Helper()
		form.Set("once", once)
		status, page := frametest.Post(t, o.pages, o.Site.Visitor, path, form)
		check(name, want, status, page)
	}
	shown("inboxes", pages.Path+"?status=all&done=deleted", 200)
	shown("new", pages.Path+"/new", 200)
	shown("inbox", path+"?done=edited", 200)
	shown("message", path+"/messages/1", 200)
	shown("edit", path+"/edit", 200)
	shown("delete", path+"/delete", 200)
	shown("links", path+"/links?done=revoked", 200)
	shown("no_such_message", path+"/messages/2", 404)
	sent("created", pages.Path+"/new", url.Values{"ttl": {"600"}}, 200)
	sent("link_created", path+"/links", url.Values{}, 200)
	o.operations.Errors = map[string]*core.Error{
		"inboxes_create":           {Code: core.CodeRateLimited, Message: "The limit of 5 live unrestricted inboxes of this credential is reached.", Next: "Delete an inbox."},
		"inbox_pull_tokens_create": core.Conflict("The inbox has 10 pull links that work, which is the maximum.", "Revoke one of them first."),
	}
	o.Site.Visitor.Org.PlatformMode = true
	sent("refused", pages.Path+"/new", url.Values{"ttl": {"60"}, "label": {hostile}, "allowed_senders": {hostile}, "account_ref": {hostile}, "shared": {"yes"}}, 429)
	sent("link_refused", path+"/links", url.Values{}, 409)
	o.operations.Results["inboxes_get"] = inboxJSON("expired")
	shown("ended", path, 200)
	o.operations.Results["inboxes_list"] = `{"data":[]}`
	o.Allow(members.MayViewInbound)
	shown("none", pages.Path, 200)
	shown("forbidden", pages.Path+"/new", 403)
}

// TestForms sends each form and checks the call of the operation.
func TestForms(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for _, tc := range []struct {
		path            string
		form            url.Values
		operation, call string
		location        string
	}{
		{pages.Path + "/new", url.Values{"ttl": {"3600"}, "label": {" test "}, "allowed_senders": {"a@x.example\n@y.example, b@x.example"}, "account_ref": {"c-1"}, "shared": {"yes"}}, "inboxes_create", `{"account_ref":"c-1","allowed_senders":["a@x.example","@y.example","b@x.example"],"label":"test","ttl":3600,"visibility":"org"}`, ""},
		{path + "/edit", url.Values{"label": {"x"}}, "inboxes_update", `{"id":"` + id + `","label":"x","visibility":"private"}`, path + "?done=edited"},
		{path + "/delete", url.Values{}, "inboxes_delete", `{"id":"` + id + `"}`, pages.Path + "?done=deleted"},
		{path + "/links", url.Values{"label": {"browser"}}, "inbox_pull_tokens_create", `{"id":"` + id + `","label":"browser"}`, ""},
		{path + "/links/" + linkID + "/revoke", url.Values{}, "inbox_pull_tokens_revoke", `{"id":"` + id + `","token_id":"` + linkID + `"}`, path + "/links?done=revoked"},
	} {
		tc.form.Set("once", once)
		o.operations.Calls()
		status, page := frametest.Post(t, o.pages, o.Site.Visitor, tc.path, tc.form)
		if want := map[bool]int{true: http.StatusSeeOther, false: http.StatusOK}[tc.location != ""]; status != want {
			t.Errorf("%s: %d\n%s", tc.path, status, page)
		}
		calls := o.operations.Calls()
		if last := calls[len(calls)-1]; last.Name != tc.operation || last.Arguments != tc.call || last.Once != once {
			t.Errorf("%s: %+v", tc.path, last)
		}
		tc.form.Del("once")
		if status, _ := frametest.Post(t, o.pages, o.Site.Visitor, tc.path, tc.form); status != http.StatusUnprocessableEntity {
			t.Errorf("%s without an id: %d", tc.path, status)
		}
	}
}

// TestHTMLIsKeptApart checks that the HTML of a message is shown in a frame only, without
// scripts and without the network.
func TestHTMLIsKeptApart(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for into, want := range map[string]int{"iframe": http.StatusOK, "document": http.StatusSeeOther, "image": http.StatusSeeOther} {
		r := httptest.NewRequest(http.MethodGet, path+"/messages/1/html", nil)
		r.Header.Set("Sec-Fetch-Dest", into)
		w := httptest.NewRecorder()
		o.pages.ServeHTTP(w, r)
		if w.Code != want || strings.Contains(w.Body.String(), "<p>Code</p>") != (want == http.StatusOK) {
			t.Errorf("%s: %d %s", into, w.Code, w.Body)
		}
		if policy := w.Header().Get("Content-Security-Policy"); want == http.StatusOK && !strings.HasPrefix(policy, "sandbox; default-src 'none'") {
			t.Errorf("policy %q", policy)
		}
	}
}

// TestEmbeddedImages checks which attachments the preview of a message shows.
func TestEmbeddedImages(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.contents = []string{"GIF89a-logo", "<svg onload=x()>", "", "GIF89a-longer-than-its-size", "GIF89a-again"}
	var files, html strings.Builder
	for n, f := range []struct {
		id   string
		size int
	}{{"logo", 11}, {"svg", 16}, {"gone", 9}, {"longer", 9}, {"logo", 12}, {"huge", 1 << 20}} {
		if n > 0 {
			files.WriteByte(',')
		}
		fmt.Fprintf(&files, `{"filename":"a.png","content_type":"image/png","content_id":%q,"size":%d,"inline":true,"url":"https://fetch.test/o/file"}`, f.id, f.size)
	}
	for _, id := range []string{"logo", "svg", "gone", "longer", "logo", "huge", "none", "svg", "gone"} {
		fmt.Fprintf(&html, `<img src="cid:%s" alt="the %s">`, id, id)
	}
	o.operations.Results["inboxes_messages"] = messageWith(t, o.operations.Results["inboxes_messages"], html.String(), files.String())
	_, page := frametest.Get(t, o.pages, path+"/messages/1/html")
	const logo = `<img src="data:image/gif;base64,R0lGODlhLWxvZ28=" alt="the logo">`
	if strings.Count(page, logo) != 2 || strings.Count(page, "src=") != 2 || strings.Count(page, `<img alt="the svg">`) != 2 || strings.Count(page, "<img") != 9 {
		t.Errorf("preview: %s", page)
	}
	if diff := cmp.Diff([]string{"true true 1 0", "true true 1 1", "true true 1 2", "true true 1 3"}, o.opened); diff != "" {
		t.Errorf("opened (want, got):\n%s", diff)
	}
	var many, references strings.Builder
	o.contents, o.opened = nil, nil
	for n := range 100 {
		if n > 0 {
			many.WriteByte(',')
		}
		o.contents = append(o.contents, "GIF89a")
		fmt.Fprintf(&many, `{"filename":"","content_type":"","content_id":"n%d","size":6,"inline":true,"url":""}`, n)
		fmt.Fprintf(&references, `<img src="cid:n%d">`, n)
	}
	o.operations.Results["inboxes_messages"] = messageWith(t, o.operations.Results["inboxes_messages"], references.String(), many.String())
	if _, page := frametest.Get(t, o.pages, path+"/messages/1/html"); len(o.opened) != 40 || strings.Count(page, "data:image/gif") != 40 {
		t.Errorf("%d of 100 attachments are opened", len(o.opened))
	}
}

// TestBlankHTML checks that a message whose HTML has nothing to show says so.
func TestBlankHTML(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for html, frames := range map[string]int{
		`<script>x()</script><img src="https://a.example/pixel">`: 0, "<table><tr><td>&nbsp;</td></tr></table>": 0, "<p>Hello": 1, `<img src="https://a.example/x" alt="Sale">`: 1,
	} {
		o.operations.Results["inboxes_messages"] = messageWith(t, o.operations.Results["inboxes_messages"], html, "")
		if _, page := frametest.Get(t, o.pages, path+"/messages/1"); strings.Count(page, "<iframe") != frames || strings.Contains(page, "The HTML shows nothing") != (frames == 0) {
			t.Errorf("%s: %s", html, page)
		}
	}
	o.operations.Results["inboxes_messages"] = messageWith(t, o.operations.Results["inboxes_messages"], "<img src=cid:a>", `{"filename":"","content_type":"","content_id":"a","size":6,"inline":true,"url":""}`)
	if _, page := frametest.Get(t, o.pages, path+"/messages/1"); !strings.Contains(page, "<iframe") {
		t.Errorf("an image of the message: %s", page)
	}
}

// messageWith returns the messages with other HTML and attachments.
func messageWith(t *testing.T, messages, html, attachments string) string {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal([]byte(messages), &all); err != nil {
		t.Fatal(err)
	}
	content := all["messages"].([]any)[0].(map[string]any)["message"].(map[string]any)
	content["html_body"], content["attachments"] = html, json.RawMessage("["+attachments+"]")
	changed, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(changed)
}
