package workflows

import (
	"net/http"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/workflows/wording"
)

// runsPage is the data of the list of runs.
type runsPage struct {
	about
	All, Status string
	Kinds       []tab
	Steps       []frame.Option
	Narrow      bool
	Rows        []runRow
	Pager       frame.Pager
	Empty       frame.Empty
}

// runRow is the data of one run in the list.
type runRow struct {
	Path    string
	Contact named
	State   wording.State
	Version int
	// Step is the path of the step where an active run is. Where says it in words.
	Step     string
	Where    string
	Cause    string
	Started  frame.When
	Next     frame.When // when it continues
	Held     bool
	HeldPath string
}

// showRuns lists the runs that the address selects by status and step.
func (h runPages) showRuns(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	found, ok := h.read(w, r, v)
	if !ok {
		return
	}
	data, err := h.runsOf(r, v, found)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	h.show(w, r, v, frame.Screen{Page: "runs", Title: "Runs of " + data.Name, Head: headOf(found, data.about), Data: data})
}

func (h runPages) runsOf(r *http.Request, v people.Visitor, w workflows.Workflow) (runsPage, error) {
	query := r.URL.Query()
	f := workflows.RunFilter{WorkflowID: w.ID, Node: query.Get("step"), Limit: frame.PageSize + 1}
	data := runsPage{All: pathOf(w, tabRuns), Narrow: query.Get("status") != "" || f.Node != ""}
	if asked := engine.Status(query.Get("status")); slices.Contains(wording.RunOrder, asked) {
		data.Status, f.Statuses = string(asked), []engine.Status{asked}
	}
	if after := query.Get(frame.ParamCursor); core.IsID(after) {
		f.After = after
	}
	var err error
	if data.about, err = h.aboutOf(r, v, w, tabRuns); err != nil {
		return data, err
	}
	total, err := h.addKinds(r, v, w, f.Node, &data)
	if err != nil {
		return data, err
	}
	found, err := h.Editor.Runs.Runs(r.Context(), v.Org.ID, f)
	if err != nil {
		return data, err
	}
	next := ""
	if len(found) > frame.PageSize {
		found = found[:frame.PageSize]
		next = found[len(found)-1].ID
	}
	known := h.trees(r, v)
	if data.Rows, err = h.runRows(r, v, w, found, known); err != nil {
		return data, err
	}
	data.Pager = frame.PagerOf(data.All, query, len(data.Rows), next, total)
	data.Empty = frame.Empty{Text: "No contact has entered this workflow yet."}
	if data.Narrow {
		data.Empty = frame.Empty{Text: "No run matches these filters."}
	}
	return data, h.addSteps(w, known, f.Node, &data)
}

// addKinds adds the links to the statuses with their numbers. It returns the number of runs of
// the chosen status, -1 if a step is chosen too.
func (h runPages) addKinds(r *http.Request, v people.Visitor, w workflows.Workflow, step string, data *runsPage) (int64, error) {
	counts, err := h.Editor.Runs.Counts(r.Context(), v.Org.ID, []string{w.ID})
	total, chosen := 0, int64(-1)
	for _, s := range wording.RunOrder {
		n := counts[w.ID][s]
		total += n
		data.Kinds = append(data.Kinds, tab{data.All + "?status=" + string(s), wording.RunStatuses[s].Name, count(n), data.Status == string(s)})
		if data.Status == string(s) {
			chosen = int64(n)
		}
	}
	data.Kinds = append([]tab{{data.All, "All", count(total), data.Status == ""}}, data.Kinds...)
	if data.Status == "" {
		chosen = int64(total)
	}
	if step != "" {
		chosen = -1
	}
	return chosen, err
}

// addSteps adds the steps of the current version to choose from.
func (h runPages) addSteps(w workflows.Workflow, known trees, chosen string, data *runsPage) error {
	tree, err := known.of(w.ID, currentOrDraft(w))
	if err != nil || tree == nil {
		return err
	}
	for _, line := range tree.Explain().Steps {
		if !line.Heading {
			data.Steps = append(data.Steps, frame.Option{Value: line.Path, Name: line.Path + " " + frame.PlainName(core.Quotable(line.Text, maxOption))})
		}
	}
	data.Steps = frame.ChooseOption(data.Steps, chosen)
	return nil
}

// maxOption is the length to which the words of a step are cut in a select field and in the
// list.
const maxOption = 60

// runRows returns runs for the page.
func (h runPages) runRows(r *http.Request, v people.Visitor, w workflows.Workflow, found []workflows.Run, known trees) ([]runRow, error) {
	names, err := h.namesOf(r.Context(), v, found)
	if err != nil {
		return nil, err
	}
	words := map[int]map[string]string{} // of steps, by version
	var rows []runRow
	for _, run := range found {
		if words[run.Version] == nil {
			tree, err := known.of(w.ID, run.Version)
			if err != nil {
				return nil, err
			}
			words[run.Version] = wording.OfSteps(tree)
		}
		step := run.State.Node
		if run.State.IsOver() {
			step = ""
		}
		rows = append(rows, runRow{
			Path: runPath(run), Step: step, Contact: h.contactOf(v, run.ContactID, names), State: wording.RunState(run.State), Version: run.Version,
			Where: core.Quotable(wording.WhereWords(run.State, run.ExitKind, run.ExitName, words[run.Version]), maxOption), Cause: causeOf(run), Started: h.When(run.StartedAt), Next: h.When(run.State.WakeAt),
			Held: run.State.Phase == engine.Held && !run.State.IsOver(), HeldPath: pathOf(w, tabHeld),
		})
	}
	return rows, nil
}

// runPath returns the path of the page of a run.
func runPath(run workflows.Run) string {
	return Path + "/" + run.WorkflowID + "/runs/" + run.ID
}
