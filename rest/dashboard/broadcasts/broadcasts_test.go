package broadcasts_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/retention"
	"github.com/mailhelm/mailhelm/core/tags"
	pages "github.com/mailhelm/mailhelm/rest/dashboard/broadcasts"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	retentionstore "github.com/mailhelm/mailhelm/storage/retention"
)

func TestGoldenPages(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	check := func(name, address string, want int) {
		t.Helper()
		status, page := frametest.Get(t, o.pages, address)
		if status != want || strings.Contains(page, "<script>alert") || strings.Contains(page, "\u202e") && name != "edit" {
			t.Errorf("%s: %d %s", name, status, page)
		}
		frametest.CompareGolden(t, name, page, *update)
	}
	check("none", pages.Path, http.StatusOK)
	draft := o.store(nil)
	ended := o.ended()
	running := o.store(sendingNow)
	planned := o.store(scheduled)
	check("list", pages.Path, http.StatusOK)
	tag, err := o.tags.Create(t.Context(), o.Org.ID, tags.Wording{Name: "Spring & news", Color: "#dc2626"})
	o.Must(err)
	o.Must(o.tags.SetOfBroadcast(t.Context(), o.Org.ID, o.stored(draft).ID, []string{tag.ID}))
	check("list_tagged", frame.Address(pages.Path, frame.Parameters{"tag": "Spring & news"}), http.StatusOK)
	check("list_none", pages.Path+"?q=absent&state=sent", http.StatusOK)
	check("new", pages.Path+"/new", http.StatusOK)
	check("edit", draft+"/edit", http.StatusOK)
	check("draft", draft, http.StatusOK)
	check("scheduled", planned, http.StatusOK)
	check("fault", o.store(paused(broadcasts.PausedByFault, scheduled)), http.StatusOK)
	held, reason := o.store(nil), hostile
	approval := broadcasts.Approval{Status: broadcasts.ApprovalPending, RequestedAt: frametest.Now().Add(-time.Hour), ExpiresAt: frametest.Now().Add(time.Hour), URL: "https://app.example/dashboard/approvals/" + core.NewID()}
	o.approvals[o.stored(held).ID] = approval
	check("held", held, http.StatusOK)
	approval.Status, approval.Reason, approval.DecidedAt = broadcasts.ApprovalRejected, &reason, &approval.RequestedAt
	o.approvals[o.stored(held).ID] = approval
	check("rejected", held, http.StatusOK)
	check("test", draft+"/test", http.StatusOK)
	check("send", draft+"/send", http.StatusOK)
	check("cancel", draft+"/cancel", http.StatusOK)
	check("delete", draft+"/delete", http.StatusOK)
	check("running", running, http.StatusOK)
	check("paused", o.store(paused(broadcasts.PausedByPerson, sendingNow)), http.StatusOK)
	check("waiting", o.store(paused(broadcasts.PausedByAccount, sendingNow)), http.StatusOK)
	check("ended", ended, http.StatusOK)
	check("ended_filtered", ended+"?result=filtered&q=CY", http.StatusOK)
	check("cancelled", o.store(func(b *broadcasts.Broadcast) { b.State = broadcasts.Cancelled }), http.StatusOK)
	o.Allow(members.MayViewCampaigns)
	check("draft_of_viewer", draft, http.StatusOK)
	check("ended_of_viewer", ended, http.StatusOK)
	_, err = retentionstore.New(o.db.DB).DeleteOld(t.Context(), o.Org.ID, retention.Recipients, frametest.Now().AddDate(1, 0, 0), 1000)
	o.Must(err)
	check("ended_long_ago", ended, http.StatusOK)
}

// TestGoldenCreate checks that the form calls the operation with what it says, and that faults
// stand beside the fields.
func TestGoldenCreate(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	id := core.NewID()
	o.operations.Results["broadcasts_create"] = `{"id":` + text(id) + `,"name":"News","template_id":null,"template_version":null,"audience_kind":"list","audience_id":` + text(o.list) + `,
		"subject":"Hi","preview_text":"","topic_id":null,"from_identity":null,"schedule_at":null,"state":"draft","recipient_count":null,"sent_count":null,"failed_count":null,"started_at":null,
		"completed_at":null,"created_at":"2026-03-12T15:30:00Z","updated_at":"2026-03-12T15:30:00Z","default_template_data":{},"summary":null,"paused":null,"rate_per_minute":null,"approval":null}`
	once := core.NewID()
	form := url.Values{
		"once": {once}, "name": {"News"}, "content": {"inline"}, "html": {"<p>Hi</p>\r\n"}, "template_id": {"welcome"}, "subject": {"Hi"}, "template_data": {`{"a": 1}`},
		"audience_id": {"list:" + o.list}, "topic_id": {"news"}, "rate_per_minute": {"60"},
	}
	post := func() (int, string) { return frametest.Post(t, o.pages, o.Site.Visitor, pages.Path+"/new", form) }
	o.operations.Calls()
	if status, page := post(); status != http.StatusSeeOther {
		t.Errorf("%d %s", status, page)
	}
	called := o.operations.Calls()
	want := `{"name":"News","template_data":{"a":1},"html":"\u003cp\u003eHi\u003c/p\u003e\n","audience_kind":"list","audience_id":"` + o.list + `","topic_id":"news","subject":"Hi","rate_per_minute":60}`
	if last := called[len(called)-1]; last.Name != "broadcasts_create" || last.Once != once || last.Arguments != want {
		t.Errorf("called %+v, want %s", last, want)
	}
	for field, bad := range map[string]string{"template_data": "[1]", "rate_per_minute": "many", "audience_id": "list:x", "html": ""} {
		before := form[field]
		form[field] = []string{bad}
		if status, page := post(); status != http.StatusUnprocessableEntity || !strings.Contains(page, `<p class="fault">`) {
			t.Errorf("%s %q: %d %s", field, bad, status, page)
		}
		form[field] = before
	}
	o.operations.Errors = map[string]*core.Error{"broadcasts_create": core.InvalidFields(core.FieldError{Field: "from_identity", Reason: "is not verified"}, core.FieldError{Field: "subject", Reason: "must be one line"})}
	status, page := post()
	if status != http.StatusUnprocessableEntity || !strings.Contains(page, "The sender is not verified.") || !strings.Contains(page, "The subject must be one line.") {
		t.Errorf("refused: %d %s", status, page)
	}
	frametest.CompareGolden(t, "new_refused", page, *update)
	form.Set("do", "find")
	form.Set("find", "sale")
	o.operations.Calls()
	if status, page := post(); status != http.StatusOK || !strings.Contains(page, `value="sale"`) || !strings.Contains(page, `value="welcome" checked`) {
		t.Errorf("search: %d %s", status, page)
	}
	for _, c := range o.operations.Calls() {
		if c.Name == "broadcasts_create" {
			t.Error("a search created a broadcast")
		}
	}
}

// TestGoldenSend sends in two steps, and checks what happens if something changes between them.
func TestGoldenSend(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	path := o.store(func(b *broadcasts.Broadcast) { b.Topic = "" }) + "/send"
	form := url.Values{"when": {"at"}, "at": {"2026-04-01T09:30"}, "acknowledge": {"true"}}
	post := func() (int, string) { return frametest.Post(t, o.pages, o.Site.Visitor, path, form) }
	at := time.Date(2026, 4, 1, 9, 30, 0, 0, time.UTC)
	asked := o.operations.Confirm["broadcasts_send"]
	preview := asked.Preview.(broadcasts.SendPreview)
	preview.ScheduledAt = &at
	asked.Preview = preview
	status, page := post()
	if status != http.StatusOK || strings.Contains(page, "<script>alert") {
		t.Errorf("review: %d", status)
	}
	frametest.CompareGolden(t, "confirm", page, *update)
	form.Set("confirmation", "TOKEN")
	form.Set("once", core.NewID())
	o.operations.Calls()
	o.operations.Errors = map[string]*core.Error{"broadcasts_send": {Code: core.CodeConfirmationInvalid, Message: "Not valid."}}
	if status, page := post(); status != http.StatusConflict && !strings.Contains(page, "Not valid") {
		t.Errorf("drift: %d %s", status, page)
	}
	o.operations.Errors = nil
	o.operations.Calls()
	if status, page := post(); status != http.StatusSeeOther {
		t.Errorf("send: %d %s", status, page)
	}
	called := o.operations.Calls()
	want := `{"acknowledge_no_topic":true,"id":"` + strings.TrimSuffix(strings.TrimPrefix(path, pages.Path+"/"), "/send") + `","scheduled_at":"2026-04-01T09:30:00Z"}`
	if len(called) != 1 || called[0].Arguments != want || called[0].Confirmation != "TOKEN" || called[0].Once != form.Get("once") {
		t.Errorf("called %+v, want %s", called, want)
	}
	o.operations.Errors = map[string]*core.Error{"broadcasts_send": {Code: core.CodeNoTopicAcknowledgementNeeded, Message: "No topic."}}
	form.Del("acknowledge")
	if status, page := post(); status != http.StatusUnprocessableEntity || !strings.Contains(page, "Tick the box") {
		t.Errorf("without acknowledgement: %d %s", status, page)
	}
	form.Set("at", "soon")
	if status, page := post(); status != http.StatusUnprocessableEntity || !strings.Contains(page, "The time is not a date") {
		t.Errorf("faulty time: %d %s", status, page)
	}
}

func TestGoldenTestSend(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	path := o.store(nil) + "/test"
	post := func(addresses string) (int, string) {
		return frametest.Post(t, o.pages, o.Site.Visitor, path, url.Values{"recipients": {addresses}})
	}
	status, page := post("ada@example.com,\r\n ben@example.com")
	if status != http.StatusOK || strings.Contains(page, "<script>alert") {
		t.Errorf("%d %s", status, page)
	}
	frametest.CompareGolden(t, "tested", page, *update)
	called := o.operations.Calls()
	if !strings.Contains(called[len(called)-1].Arguments, `"recipients":["ada@example.com","ben@example.com"]`) {
		t.Errorf("called %+v", called)
	}
	if status, page := post(" "); status != http.StatusUnprocessableEntity || !strings.Contains(page, "at least one address") {
		t.Errorf("no address: %d %s", status, page)
	}
	o.operations.Errors = map[string]*core.Error{"broadcasts_test_send": {Code: core.CodeRateLimited, Message: "Ten tests were sent."}}
	if status, page := post("ada@example.com"); status != http.StatusTooManyRequests || !strings.Contains(page, "Ten tests were sent.") {
		t.Errorf("limit: %d %s", status, page)
	}
}

// TestPreviewIsSandboxed checks that a mail is shown only in a frame, and without the rights
// of the dashboard.
func TestPreviewIsSandboxed(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	path := o.store(nil)
	get := func(into string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path+"/preview?contact="+o.contacts[0], nil)
		if into != "" {
			r.Header.Set("Sec-Fetch-Dest", into)
		}
		o.pages.ServeHTTP(w, r)
		return w
	}
	for _, into := range []string{"", "iframe"} {
		w := get(into)
		if w.Code != http.StatusOK || w.Body.String() != "<p>Dear <b>Ada</b></p>" || !strings.HasPrefix(w.Header().Get("Content-Security-Policy"), "sandbox; default-src 'none'") {
			t.Errorf("into %q: %d %v %s", into, w.Code, w.Header(), w.Body)
		}
	}
	if w := get("document"); w.Code != http.StatusSeeOther || w.Header().Get("Location") != path {
		t.Errorf("outside of a frame: %d %v", w.Code, w.Header())
	}
	for _, contact := range []string{"x", "<script>"} {
		if status, _ := frametest.Get(t, o.pages, path+"/preview?contact="+url.QueryEscape(contact)); status != http.StatusNotFound {
			t.Errorf("contact %q: %d", contact, status)
		}
	}
}

// TestChanges changes a broadcast in each way, and checks what is stored.
func TestChanges(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	planned, running, draft := o.store(scheduled), o.store(sendingNow), o.store(nil)
	change := func(path string, form url.Values, want int) string {
		t.Helper()
		status, page := frametest.Post(t, o.pages, o.Site.Visitor, path, form)
		if status != want {
			t.Errorf("%s: %d %s", path, status, page)
		}
		return page
	}
	change(planned+"/reschedule", url.Values{"at": {"2026-05-01T08:00"}, "revision": {"1"}}, http.StatusSeeOther)
	if at := o.stored(planned).ScheduleAt; at == nil || !at.Equal(time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC)) {
		t.Errorf("rescheduled to %v", at)
	}
	for _, form := range []url.Values{{"at": {"2026-06-01T08:00"}, "revision": {"1"}}, {"at": {"2026-06-01T08:00"}}} {
		if page := change(planned+"/reschedule", form, http.StatusConflict); !strings.Contains(page, "was changed since you opened it") {
			t.Errorf("stale: %s", page)
		}
	}
	change(planned+"/reschedule", url.Values{"at": {"2020-01-01T08:00"}, "revision": {"2"}}, http.StatusUnprocessableEntity)
	change(planned+"/pause", nil, http.StatusSeeOther)
	if !o.stored(planned).IsPaused() {
		t.Error("it is not paused")
	}
	change(planned+"/unschedule", nil, http.StatusSeeOther)
	change(planned+"/cancel", nil, http.StatusSeeOther)
	if b := o.stored(planned); b.State != broadcasts.Cancelled || b.ScheduleAt != nil || b.IsPaused() {
		t.Errorf("cancelled: %+v", b)
	}
	change(planned+"/cancel", nil, http.StatusConflict)
	change(planned+"/melt", nil, http.StatusNotFound)

	change(running+"/pause", nil, http.StatusSeeOther)
	change(running+"/resume", nil, http.StatusSeeOther)
	change(running+"/resume", nil, http.StatusConflict)
	change(running+"/rate", url.Values{"rate_per_minute": {"60"}}, http.StatusSeeOther)
	if b := o.stored(running); b.Rate != 60 || b.Paused != nil {
		t.Errorf("running: %+v", b)
	}
	change(running+"/rate", url.Values{"rate_per_minute": {"0"}}, http.StatusUnprocessableEntity)
	change(running+"/rate", url.Values{"rate_per_minute": {""}}, http.StatusSeeOther)
	if b := o.stored(running); b.Rate != 0 {
		t.Errorf("rate: %d", b.Rate)
	}
	change(running+"/edit", url.Values{"name": {"x"}}, http.StatusConflict)
	change(running+"/send", nil, http.StatusConflict)

	change(draft+"/split", url.Values{"percent": {"60"}}, http.StatusUnprocessableEntity)
	change(draft+"/split", url.Values{"percent": {"10"}}, http.StatusSeeOther)
	if s := o.stored(draft).Share; s == nil || !s.Rest {
		t.Errorf("share %+v", s)
	}
	if _, page := frametest.Get(t, o.pages, draft); !strings.Contains(page, "all but 10 % of the members of the list") {
		t.Errorf("the rest: %s", page)
	}
	change(draft+"/delete", url.Values{"once": {core.NewID()}}, http.StatusSeeOther)
	for _, path := range []string{pages.Path + "/" + core.NewID(), pages.Path + "/x", pages.Path + "/" + core.NewID() + "/preview"} {
		if status, _ := frametest.Get(t, o.pages, path); status != http.StatusNotFound {
			t.Errorf("%s: %d", path, status)
		}
	}
}

func TestEdit(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	path := o.store(nil)
	form := url.Values{
		"revision": {"1"}, "name": {"Other"}, "content": {"inline"}, "html": {"<p>Other</p>"}, "subject": {"Other"}, "audience_id": {"list:" + o.list}, "from_identity": {"a@elsewhere.example"},
	}
	post := func() (int, string) { return frametest.Post(t, o.pages, o.Site.Visitor, path+"/edit", form) }
	if status, page := post(); status != http.StatusUnprocessableEntity || !strings.Contains(page, "The sender is not a verified identity") {
		t.Errorf("sender: %d %s", status, page)
	}
	form.Set("from_identity", "")
	form.Set("subject", strings.Repeat("x", 999))
	if status, page := post(); status != http.StatusUnprocessableEntity || !strings.Contains(page, "The subject has 999 characters") {
		t.Errorf("subject: %d %s", status, page)
	}
	form.Set("subject", "Other")
	if status, page := post(); status != http.StatusSeeOther {
		t.Errorf("%d %s", status, page)
	}
	if b := o.stored(path); b.Name != "Other" || b.HTML != "<p>Other</p>" || b.Topic != "" || b.Revision != 2 {
		t.Errorf("stored %+v", b)
	}
	if status, page := post(); status != http.StatusConflict || !strings.Contains(page, "was changed since you opened it") {
		t.Errorf("stale: %d %s", status, page)
	}
}

func TestPermissions(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	draft, planned, running := o.store(nil), o.store(scheduled), o.store(sendingNow)
	o.Allow(members.MayViewLists)
	for _, path := range []string{pages.Path, pages.Path + "/new", draft, draft + "/preview", draft + "/edit", draft + "/test", draft + "/send", draft + "/delete", draft + "/cancel"} {
		if status, _ := frametest.Get(t, o.pages, path); status != http.StatusForbidden {
			t.Errorf("%s: %d", path, status)
		}
	}
	o.Allow(members.MayViewCampaigns)
	_, page := frametest.Get(t, o.pages, draft)
	for _, path := range []string{"/send", "/edit", "/test", "/split", "/cancel", "/delete"} {
		if strings.Contains(page, draft+path) {
			t.Errorf("a viewer gets a link to %s: %s", path, page)
		}
	}
	state := func() []any {
		all, err := o.db.Broadcasts().Broadcasts(context.Background(), o.Org.ID, broadcasts.Filter{Limit: 10})
		o.Must(err)
		return []any{text(all)}
	}
	manage := members.MayManageCampaigns
	o.CheckPermissions(
		o.pages, state,
		frametest.Form{Name: "edit", Needs: manage, Path: draft + "/edit", Done: http.StatusSeeOther, Form: url.Values{
			"revision": {"1"}, "name": {"x"}, "content": {"inline"}, "html": {"<p>x</p>"}, "subject": {"x"}, "audience_id": {"list:" + o.list},
		}},
		frametest.Form{Name: "split", Needs: manage, Path: draft + "/split", Done: http.StatusSeeOther, Form: url.Values{"percent": {"5"}}},
		frametest.Form{Name: "reschedule", Needs: manage, Path: planned + "/reschedule", Done: http.StatusSeeOther, Form: url.Values{"at": {"2026-05-01T08:00"}, "revision": {"1"}}},
		frametest.Form{Name: "rate", Needs: manage, Path: running + "/rate", Done: http.StatusSeeOther, Form: url.Values{"rate_per_minute": {"5"}}},
		frametest.Form{Name: "pause", Needs: manage, Path: running + "/pause", Done: http.StatusSeeOther},
		frametest.Form{Name: "cancel", Needs: manage, Path: planned + "/cancel", Done: http.StatusSeeOther},
	)
}
