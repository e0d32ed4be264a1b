package workflows

import (
	"net/http"
	"strconv"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/language"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/workflows/wording"
)

// tab is a link to a page of the workflow, or to a part of a list. Count is "" for none.
type tab struct {
	Path, Name, Count string
	Current           bool
}

// about is what each page of a workflow shows at its top.
type about struct {
	ID, Name string
	State    wording.State
	Tabs     []tab
	// MayManage is true if the visitor may change the workflow.
	MayManage bool
}

// The pages of a workflow, by the ends of their paths.
const (
	tabOverview = ""
	tabSource   = "/source"
	tabVersions = "/versions"
	tabTry      = "/try"
	tabPast     = "/past"
	tabRuns     = "/runs"
	tabHeld     = "/held"
	tabSettings = "/settings"
)

// read returns the workflow that the request names. If it returns false, it has written an
// answer.
func (h *Room) read(w http.ResponseWriter, r *http.Request, v people.Visitor) (workflows.Workflow, bool) {
	id := r.PathValue("id")
	if !core.IsID(id) {
		h.NoSuchPage(w, r, v)
		return workflows.Workflow{}, false
	}
	found, err := h.Editor.Store.Workflow(r.Context(), v.Org.ID, id)
	if err != nil {
		h.Fail(w, r, v, err)
		return found, false
	}
	return found, true
}

// aboutOf returns the top of a page of a workflow. It counts the messages that wait.
func (h *Room) aboutOf(r *http.Request, v people.Visitor, w workflows.Workflow, current string) (about, error) {
	a := about{ID: w.ID, Name: frame.PlainName(w.Name), State: statuses[w.Status], MayManage: v.Member.Has(members.MayManageCampaigns)}
	held, err := h.Editor.Holds.CountHeld(r.Context(), v.Org.ID)
	if err != nil {
		return a, err
	}
	for _, t := range []tab{
		{tabOverview, "Overview", "", false},
		{tabSource, "Source", "", false},
		{tabVersions, "Versions", "", false},
		{tabTry, "Try it", "", false},
		{tabPast, "Last 90 days", "", false},
		{tabRuns, "Runs", "", false},
		{tabHeld, "Approvals", "", false},
		{tabSettings, "Settings", "", false},
	} {
		t.Current = t.Path == current
		if t.Path == tabHeld && held[w.ID] > 0 {
			t.Count = count(held[w.ID])
		}
		t.Path = pathOf(w, t.Path)
		a.Tabs = append(a.Tabs, t)
	}
	return a, nil
}

// headOf returns the head of a page of the workflow, with the most likely next steps.
func headOf(w workflows.Workflow, a about) frame.Head {
	head := frame.Head{Title: a.Name}
	if !a.MayManage || w.Status == workflows.Archived {
		return head
	}
	add := func(page, name string, primary bool) {
		if len(head.Actions) < 2 {
			head.Actions = append(head.Actions, frame.Action{Path: pathOf(w, page), Name: name, Primary: primary})
		}
	}
	if w.DraftVersion > 0 {
		add("/activate", "Activate version "+strconv.Itoa(w.DraftVersion), true)
	}
	switch {
	case w.Status == workflows.Paused:
		add("/resume", "Resume", len(head.Actions) == 0)
	case w.Status == workflows.Active, w.Status == workflows.Invalid && w.StatusBefore == workflows.Active:
		add("/pause", "Pause", false)
	}
	return head
}

// show writes a page with the notice that the address names.
func (h *Room) show(w http.ResponseWriter, r *http.Request, v people.Visitor, s frame.Screen) {
	s.Notice = notices.NoticeOf(r)
	h.Show(w, r, v, http.StatusOK, s)
}

// numberIn returns the number of a version in a text, or 0.
func numberIn(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// paramVersion is the query parameter with the number of a version.
const paramVersion = "version"

// shownVersion returns the version that the address names. Without one, it returns the other
// number.
func (h *Room) shownVersion(r *http.Request, v people.Visitor, w workflows.Workflow, otherwise int) (workflows.Version, error) {
	n := numberIn(r.URL.Query().Get(paramVersion))
	if n == 0 {
		n = otherwise
	}
	return h.Editor.Store.Version(r.Context(), v.Org.ID, w.ID, n)
}

// currentOrDraft returns the number of the version in which contacts enter, or of the draft.
func currentOrDraft(w workflows.Workflow) int {
	if w.CurrentVersion > 0 {
		return w.CurrentVersion
	}
	return w.DraftVersion
}

// versionOptions returns the versions of a workflow as options, with one chosen.
func (h *Room) versionOptions(r *http.Request, v people.Visitor, w workflows.Workflow, chosen int) ([]frame.Option, error) {
	all, err := h.Editor.Store.Versions(r.Context(), v.Org.ID, w.ID)
	var options []frame.Option
	for _, one := range all {
		name := wording.Version(one.Number)
		switch one.Number {
		case w.CurrentVersion:
			name += " (current)"
		case w.DraftVersion:
			name += " (draft)"
		}
		options = append(options, frame.Option{Value: strconv.Itoa(one.Number), Name: name, Chosen: one.Number == chosen})
	}
	return options, err
}

// trees has the syntax trees of the versions of workflows. It reads each version once.
type trees struct {
	h     *Room
	r     *http.Request
	v     people.Visitor
	known map[string]map[int]*language.Tree
}

func (h *Room) trees(r *http.Request, v people.Visitor) trees {
	return trees{h, r, v, map[string]map[int]*language.Tree{}}
}

// of returns the tree of a version, nil if there is none.
func (t trees) of(workflowID string, number int) (*language.Tree, error) {
	if tree, read := t.known[workflowID][number]; read {
		return tree, nil
	}
	found, err := t.h.Editor.Store.Version(t.r.Context(), t.v.Org.ID, workflowID, number)
	if err != nil && !core.IsNotFound(err) {
		return nil, err
	}
	if t.known[workflowID] == nil {
		t.known[workflowID] = map[int]*language.Tree{}
	}
	t.known[workflowID][number] = wording.TreeOf(found.Source)
	return t.known[workflowID][number], nil
}
