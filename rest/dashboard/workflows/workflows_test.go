package workflows_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/retention"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/language"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	pages "github.com/mailhelm/mailhelm/rest/dashboard/workflows"
	retentionstore "github.com/mailhelm/mailhelm/storage/retention"
	workflowstore "github.com/mailhelm/mailhelm/storage/workflows"
)

// seed stores an active workflow with runs in each state, and a second draft.
func (o *office) seed() (w workflows.Workflow, runs map[string]workflows.Run) {
	o.T.Helper()
	w = o.active("welcome", welcome)
	runs = map[string]workflows.Run{
		"held":    o.enroll(w, "held"+"@example.com", 2, held),
		"waiting": o.enroll(w, "<b>waiting@example.com", 50, waiting),
		"left":    o.enroll(w, "left@example.com", 100, left),
		"failed":  o.enroll(w, "failed@example.com", 101, failed),
	}
	o.save("welcome", strings.Replace(welcome, "3 days", "5 days", 1))
	return w, runs
}

// deleteTimelines deletes the entries of all timelines as the retention does.
func (o *office) deleteTimelines() {
	o.T.Helper()
	n, err := retentionstore.New(o.db.DB).DeleteOld(o.T.Context(), o.Org.ID, retention.Timelines, o.db.Now().AddDate(1, 0, 0), 1000)
	if o.Must(err); n == 0 {
		o.T.Error("no entry is deleted")
	}
}

func TestGoldenPages(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	_, page := frametest.Get(t, o.pages, pages.Path)
	frametest.CompareGolden(t, "empty", page, *update)
	w, runs := o.seed()
	draft := o.save("draft", "workflow \"Draft\" v1 {\n  enter on segmnt \"<b>\"\n}\n")
	o.Must(o.workflows.SetCap(t.Context(), o.Org.ID, &language.Cap{Messages: 2, Per: language.Duration{Amount: 1, Unit: predicate.Week}}))
	for name, address := range map[string]string{
		"workflows": pages.Path, "workflows_none": pages.Path + "?status=paused&q=zzz", "limit": pages.Path + "/limit", "new": pages.Path + "/new?example=0",
		"overview": path(w, ""), "overview_draft": path(draft, ""), "source": path(w, "/source"), "source_faulty": path(draft, "/source"),
		"versions": path(w, "/versions"), "compare": path(w, "/compare?from=1&to=2"), "try": path(w, "/try?contact=ada%40example.com"), "past": path(w, "/past?days=30"),
		"runs": path(w, "/runs"), "runs_step": path(w, "/runs?status=active&step=1"), "run_held": path(w, "/runs/"+runs["held"].ID), "run_waiting": path(w, "/runs/"+runs["waiting"].ID),
		"run_left": path(w, "/runs/"+runs["left"].ID), "run_failed": path(w, "/runs/"+runs["failed"].ID), "held": path(w, "/held"), "held_all": pages.Path + "/held",
		"settings": path(w, "/settings"), "activate": path(w, "/activate?approval=none"), "pause": path(w, "/pause"), "archive": path(w, "/archive"),
	} {
		_, page := frametest.Get(t, o.pages, address)
		frametest.CompareGolden(t, name, page, *update)
	}
	o.Allow(members.MayViewCampaigns)
	for name, address := range map[string]string{"overview_reader": path(w, ""), "source_reader": path(w, "/source"), "held_reader": path(w, "/held"), "settings_reader": path(w, "/settings")} {
		_, page := frametest.Get(t, o.pages, address)
		frametest.CompareGolden(t, name, page, *update)
	}
	o.deleteTimelines()
	_, page = frametest.Get(t, o.pages, path(w, "/runs/"+runs["left"].ID))
	frametest.CompareGolden(t, "run_shortened", page, *update)
}

// TestExampleNeedsOwnNames checks that the page says why an example has faults, and shows its
// source before them.
func TestExampleNeedsOwnNames(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	status, page := frametest.Get(t, o.pages, pages.Path+"/new?example=1")
	if status != http.StatusOK || !strings.Contains(page, "Replace the marked names") || !strings.Contains(page, `class="faults"`) || strings.Contains(page, `class="first"`) {
		t.Errorf("%d %s", status, page)
	}
}

// TestHostileTexts checks that texts of other people appear escaped, and without characters
// that change the order of text, except in the field of the source.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	w, runs := o.seed()
	for _, address := range []string{
		pages.Path, path(w, ""), path(w, "/versions"), path(w, "/compare?from=1&to=2"), path(w, "/try?contact=ada@example.com"), path(w, "/past"), path(w, "/runs"),
		path(w, "/runs/"+runs["left"].ID), path(w, "/runs/"+runs["failed"].ID), path(w, "/held"), pages.Path + "/held", path(w, "/settings"), path(w, "/activate"), path(w, "/pause"), path(w, "/source"),
	} {
		status, page := frametest.Get(t, o.pages, address)
		if before, _, found := strings.Cut(page, "<textarea"); found { // the field of the source has it as it is
			_, after, _ := strings.Cut(page, "</textarea>")
			page = before + after
		}
		if status != http.StatusOK || strings.Contains(page, "<script>alert") || strings.Contains(page, "<b>") || strings.Contains(page, "<i>") || strings.Contains(page, "\u202e") || !strings.Contains(page, "&lt;script&gt;") {
			t.Errorf("%s: %d shows hostile text: %s", address, status, page)
		}
	}
}

// post sends a form and returns its answer.
func (o *office) post(address string, form url.Values) (int, string) {
	o.T.Helper()
	return frametest.Post(o.T, o.pages, o.Site.Visitor, address, form)
}

// TestSaveSources creates a workflow, sees its faults, saves a change, and is refused for one
// that another change has overtaken.
func TestSaveSources(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	faulty := "workflow \"Tea\" v1 {\r\n  enter on segment \"nwe <b>\"\r\n  send \"hello\" via topic \"news\"\r\n}\r\n"
	if status, page := o.post(pages.Path+"/new", url.Values{"do": {"preview"}, "source": {faulty}}); status != http.StatusOK || !strings.Contains(page, "Line 2, column") || !strings.Contains(page, "Did you mean") {
		t.Errorf("check: %d %s", status, page)
	}
	if status, page := o.post(pages.Path+"/new", url.Values{"source": {faulty}}); status != http.StatusSeeOther {
		t.Fatalf("create: %d %s", status, page)
	}
	w, err := workflowstore.New(o.db.DB).Workflow(t.Context(), o.Org.ID, "tea")
	o.Must(err)
	first, err := workflowstore.New(o.db.DB).Version(t.Context(), o.Org.ID, w.ID, 1)
	o.Must(err)
	if strings.Contains(first.Source, "\r") || first.CreatedBy.UserID != o.User.ID {
		t.Errorf("stored %+v", first)
	}
	right := strings.Replace(first.Source, "nwe", "new", 1)
	if status, page := o.post(path(w, "/source"), url.Values{"base": {first.ContentHash}, "source": {right}}); status != http.StatusSeeOther {
		t.Errorf("save: %d %s", status, page)
	}
	late := strings.Replace(first.Source, "hello", "tips", 1)
	status, page := o.post(path(w, "/source"), url.Values{"base": {first.ContentHash}, "source": {late}})
	if status != http.StatusConflict || !strings.Contains(page, "Nothing is saved") || !strings.Contains(page, "What your text changes in version 1") || !strings.Contains(page, workflows.HashOf(right)) {
		t.Errorf("stale: %d %s", status, page)
	}
	if status, _ := o.post(path(w, "/source"), url.Values{"base": {workflows.HashOf(right)}, "source": {late}}); status != http.StatusSeeOther {
		t.Errorf("save over it: %d", status)
	}
	if status, page := o.post(path(w, "/source"), url.Values{"base": {workflows.HashOf(late)}, "source": {strings.Repeat("#", language.MaxSource+1)}}); status != http.StatusUnprocessableEntity || !strings.Contains(page, "The source has") {
		t.Errorf("too long: %d", status)
	}
}

// TestChangeWorkflows activates, pauses, resumes and archives a workflow. A form that is sent
// twice does no harm.
func TestChangeWorkflows(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	w := o.save("welcome", welcome)
	hash := workflows.HashOf(welcome)
	if status, page := o.post(path(w, "/activate"), url.Values{"hash": {"other"}}); status != http.StatusConflict || !strings.Contains(page, "Nothing was activated") {
		t.Errorf("another draft: %d %s", status, page)
	}
	is := func(what string, want workflows.Status, approval bool) {
		t.Helper()
		found, err := workflowstore.New(o.db.DB).Workflow(t.Context(), o.Org.ID, w.ID)
		o.Must(err)
		if found.Status != want || found.RequireApproval != approval {
			t.Errorf("%s: %+v", what, found)
		}
	}
	for _, step := range []struct {
		page     string
		form     url.Values
		want     workflows.Status
		approval bool
	}{
		{"/activate", url.Values{"hash": {hash}, "approval": {"none"}}, workflows.Active, false},
		{"/activate", url.Values{"hash": {hash}, "approval": {"none"}}, workflows.Active, false},
		{"/settings", url.Values{"approval": {"required"}}, workflows.Active, true},
		{"/pause", nil, workflows.Paused, true},
		{"/pause", nil, workflows.Paused, true},
		{"/resume", nil, workflows.Active, true},
		{"/archive", nil, workflows.Archived, true},
		{"/archive", nil, workflows.Archived, true},
	} {
		if status, page := o.post(path(w, step.page), step.form); status != http.StatusSeeOther {
			t.Errorf("%s: %d %s", step.page, status, page)
		}
		is(step.page, step.want, step.approval)
	}
	for address, want := range map[string]int{"/resume": http.StatusConflict, "/melt": http.StatusNotFound, "/source": http.StatusConflict} {
		if status, _ := o.post(path(w, address), url.Values{"source": {"x"}}); status != want {
			t.Errorf("%s: %d", address, status)
		}
	}
	faulty := o.save("faulty", "workflow \"F\" v1 {\n  enter on\n}\n")
	if status, page := frametest.Get(t, o.pages, path(faulty, "/activate")); status != http.StatusUnprocessableEntity || !strings.Contains(page, "The draft has faults") {
		t.Errorf("faults: %d %s", status, page)
	}
}

// TestDecideAboutMessages approves, skips and cancels messages that wait.
func TestDecideAboutMessages(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	w := o.active("welcome", welcome)
	var ids []string
	for i := range 5 {
		ids = append(ids, o.enroll(w, fmt.Sprintf("c%d@example.com", i), 1, held).ID)
	}
	for _, c := range []struct {
		do   string
		ids  []string
		want engine.Phase
		then string
	}{
		{"approve", ids[:2], engine.Approved, "?done=approved"}, {"skip", ids[1:3], engine.Skipped, "?done=decided"}, {"cancel", ids[3:4], engine.Cancelled, "?done=cancelled"},
	} {
		if status, page := o.post(path(w, "/held"), url.Values{"do": {c.do}, "run": c.ids}); status != http.StatusSeeOther {
			t.Errorf("%s: %d %s", c.do, status, page)
		}
		run, err := workflowstore.NewRunStore(o.db.DB).Run(t.Context(), o.Org.ID, w.ID, c.ids[len(c.ids)-1])
		o.Must(err)
		if run.State.Phase != c.want {
			t.Errorf("%s: %+v", c.do, run.State)
		}
	}
	for name, form := range map[string]url.Values{"no message": {"do": {"approve"}}, "no decision": {"run": ids}, "no id": {"do": {"skip"}, "run": {"x"}}} {
		if status, _ := o.post(path(w, "/held"), form); status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d", name, status)
		}
	}
	// The address of the visitor, which the page has too, can end in "c0@example.com".
	if _, page := frametest.Get(t, o.pages, pages.Path+"/held"); !strings.Contains(page, ">c4@example.com<") || strings.Contains(page, ">c0@example.com<") {
		t.Errorf("all: %s", page)
	}
}

// TestHeldPagesReadNoTimelines checks since when the messages of several workflows wait. One run
// was held before, in an earlier pass.
func TestHeldPagesReadNoTimelines(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	again := func(run *workflows.Run) []engine.Event { return append(held(run), held(run)...) }
	for i, w := range []workflows.Workflow{o.active("welcome", welcome), o.active("other", welcome)} {
		o.enroll(w, fmt.Sprintf("once%d@example.com", i), 10+i, held)
		o.enroll(w, fmt.Sprintf("waiting%d@example.com", i), 20, waiting)
		run := o.enroll(w, fmt.Sprintf("twice%d@example.com", i), 30+i, again)
		later := workflows.Event{RunID: run.ID, Version: 1, Event: engine.Event{Type: engine.SendHeld, Path: "0", At: run.StartedAt.Add(5 * time.Hour)}}
		o.Must(workflowstore.NewTimerStore(o.db.DB).Move(t.Context(), o.Org.ID, w.ID, []workflows.Run{run}, []workflows.Event{later}))
	}
	o.runs.timelines = 0
	_, page := frametest.Get(t, o.pages, pages.Path+"/held")
	var got []string
	for _, cell := range strings.Split(page, `data-name="Waits since"`)[1:] {
		_, at, _ := strings.Cut(cell, `datetime="`)
		got = append(got, strings.TrimSuffix(at[:strings.IndexByte(at, '"')], "Z"))
	}
	var want []string
	for _, at := range []time.Duration{time.Minute - 10*time.Hour, -25 * time.Hour, time.Minute - 11*time.Hour, -26 * time.Hour} {
		want = append(want, frametest.Now().Add(at).UTC().Format("2006-01-02T15:04:05"))
	}
	if diff := cmp.Diff(want, got); diff != "" || o.runs.timelines > 0 {
		t.Errorf("%d timelines were read; waiting since (-want +got):\n%s", o.runs.timelines, diff)
	}
}

// TestLimit sets and removes the limit of messages.
func TestLimit(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for _, c := range []struct {
		form   url.Values
		status int
		want   string
	}{
		{url.Values{"limited": {"yes"}, "messages": {"3"}, "amount": {"2"}, "unit": {"day"}}, http.StatusSeeOther, "3 per 2 days"},
		{url.Values{"limited": {"yes"}, "messages": {"0"}, "amount": {"2"}, "unit": {"day"}}, http.StatusUnprocessableEntity, "3 per 2 days"},
		{url.Values{"limited": {"yes"}, "messages": {"1"}, "amount": {"x"}, "unit": {"day"}}, http.StatusUnprocessableEntity, "3 per 2 days"},
		{url.Values{"limited": {"yes"}, "messages": {"1"}, "amount": {"1"}, "unit": {"year"}}, http.StatusUnprocessableEntity, "3 per 2 days"},
		{url.Values{"limited": {"no"}}, http.StatusSeeOther, ""},
	} {
		if status, page := o.post(pages.Path+"/limit", c.form); status != c.status {
			t.Errorf("%v: %d %s", c.form, status, page)
		}
		limit, err := o.workflows.Cap(t.Context(), o.Org.ID)
		o.Must(err)
		got := ""
		if limit != nil {
			got = fmt.Sprintf("%d per %s", limit.Messages, limit.Per)
		}
		if got != c.want {
			t.Errorf("%v: %s", c.form, got)
		}
	}
}

// TestRepositoriesOwnSources checks that the pages change no source that a repository defines.
func TestRepositoriesOwnSources(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	saved, err := o.workflows.Save(t.Context(), o.Org.ID, workflows.Definition{Key: "git", Source: welcome, Origin: workflows.FromGit, SourcePath: "workflows/" + hostile})
	o.Must(err)
	w := saved.Workflow
	if status, page := o.post(path(w, "/source"), url.Values{"base": {workflows.HashOf(welcome)}, "source": {welcome + "#"}}); status != http.StatusConflict || !strings.Contains(page, "repository") {
		t.Errorf("%d %s", status, page)
	}
	if status, _ := o.post(path(w, "/activate"), url.Values{"hash": {workflows.HashOf(welcome)}}); status != http.StatusSeeOther {
		t.Errorf("activate: %d", status)
	}
	const address = "https://git.example.com/acme/definitions/blob/c0ffee/workflows/git.flow"
	_, err = o.workflows.Save(t.Context(), o.Org.ID, workflows.Definition{Key: "git", Source: welcome + "\n", Origin: workflows.FromGit, SourcePath: "workflows/git.flow", SourceURL: address})
	o.Must(err)
	if _, page := frametest.Get(t, o.pages, path(w, "")); !strings.Contains(page, `<a href="`+address+`" rel="noopener noreferrer"><code>workflows/git.flow</code></a>`) {
		t.Errorf("no link to the file: %s", page)
	}
	o.Site.Visitor.Org.GitConnected = true
	if status, _ := frametest.Get(t, o.pages, pages.Path+"/new"); status != http.StatusConflict {
		t.Errorf("new: %d", status)
	}
	if status, _ := o.post(pages.Path+"/new", url.Values{"source": {welcome}}); status != http.StatusConflict {
		t.Errorf("create: %d", status)
	}
	managed, err := o.workflows.Save(t.Context(), o.Org.ID, workflows.Definition{Key: "managed", Source: welcome})
	o.Must(err)
	if status, page := o.post(path(managed.Workflow, "/source"), url.Values{"base": {workflows.HashOf(welcome)}, "source": {welcome + "#"}}); status != http.StatusSeeOther {
		t.Errorf("change a managed one: %d %s", status, page)
	}
}

func TestUnknownWorkflows(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	w, _ := o.seed()
	for _, address := range []string{pages.Path + "/" + core.NewID(), pages.Path + "/welcome", path(w, "/runs/x"), path(w, "/runs/"+core.NewID()), path(w, "/compare?from=1&to=9"), path(w, "/compare"), path(w, "?version=99"), path(w, "/past?version=99")} {
		if status, _ := frametest.Get(t, o.pages, address); status != http.StatusNotFound {
			t.Errorf("%s: %d", address, status)
		}
	}
}

func TestPermissions(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	w, runs := o.seed()
	o.Allow(members.MayViewLists)
	for _, page := range []string{"", "/source", "/versions", "/try", "/past", "/runs", "/runs/" + runs["held"].ID, "/held", "/settings", "/activate", "/pause"} {
		if status, _ := frametest.Get(t, o.pages, path(w, page)); status != http.StatusForbidden {
			t.Errorf("%s: %d", page, status)
		}
	}
	o.Allow(members.MayViewCampaigns)
	for page, form := range map[string]url.Values{"/source": {"source": {"x"}}, "/settings": nil, "/held": {"do": {"skip"}, "run": {runs["held"].ID}}} {
		if status, _ := o.post(path(w, page), form); status != http.StatusForbidden {
			t.Errorf("%s: %d", page, status)
		}
	}
	state := func() []any {
		all, err := o.workflows.Search(context.Background(), o.Org.ID, workflows.Filter{Limit: 10}, "")
		o.Must(err)
		counts, err := workflowstore.NewRunStore(o.db.DB).CountHeld(context.Background(), o.Org.ID)
		o.Must(err)
		limit, err := o.workflows.Cap(context.Background(), o.Org.ID)
		o.Must(err)
		text, err := json.Marshal([]any{all, counts, limit})
		o.Must(err)
		return []any{string(text)}
	}
	manage, view := members.MayManageCampaigns, members.MayViewCampaigns
	o.CheckPermissions(o.pages, state,
		frametest.Form{Name: "create", Needs: manage, Path: pages.Path + "/new", Form: url.Values{"source": {welcome}}, Done: http.StatusSeeOther},
		frametest.Form{Name: "limit", Needs: manage, Path: pages.Path + "/limit", Form: url.Values{"limited": {"yes"}, "messages": {"3"}, "amount": {"2"}, "unit": {"day"}}, Done: http.StatusSeeOther},
		frametest.Form{Name: "settings", Needs: manage, Also: []members.Permission{view}, Path: path(w, "/settings"), Form: url.Values{"approval": {"none"}}, Done: http.StatusSeeOther},
		frametest.Form{Name: "pause", Needs: manage, Path: path(w, "/pause"), Done: http.StatusSeeOther},
		frametest.Form{Name: "decide", Needs: members.MayApproveSends, Also: []members.Permission{view}, Path: path(w, "/held"), Form: url.Values{"do": {"approve"}, "run": {runs["held"].ID}}, Done: http.StatusSeeOther},
	)
}
