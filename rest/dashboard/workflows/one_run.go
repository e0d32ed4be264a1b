package workflows

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/diagram"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/workflows/wording"
)

// runPage is the data of the page of one run.
type runPage struct {
	about
	RunID    string
	Contact  named
	RunState wording.State
	Verdict  string // what the run does now, or how it ended
	// Until is the time until which it waits, the zero When for none. UntilText says the same.
	Until     frame.When
	UntilText string
	HeldPath  string // the page on which a person decides about its message, "" for none
	Step      string
	Version   int
	Cause     string
	Started   frame.When
	Ended     frame.When
	Faults    int
	Events    []eventRow
	Shortened bool // the first entries of the timeline are deleted
	Journey   *wording.Journey
}

// eventRow is an event of a timeline with its time for the page.
type eventRow struct {
	wording.EventRow
	When frame.When
}

// showRun shows the way of one contact through the workflow.
func (h runPages) showRun(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	found, ok := h.read(w, r, v)
	if !ok {
		return
	}
	id := r.PathValue("run")
	if !core.IsID(id) {
		h.NoSuchPage(w, r, v)
		return
	}
	run, err := h.Editor.Runs.Run(r.Context(), v.Org.ID, found.ID, id)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data, err := h.runOf(r, v, found, run)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	head := frame.Head{
		Title: "Run of " + data.Contact.Name, Parents: []frame.Link{{Path: pathOf(found, ""), Name: data.Name}, {Path: pathOf(found, tabRuns), Name: "Runs"}},
	}
	h.show(w, r, v, frame.Screen{Page: "run", Title: head.Title, Head: head, Data: data})
}

func (h runPages) runOf(r *http.Request, v people.Visitor, w workflows.Workflow, run workflows.Run) (runPage, error) {
	names, err := h.namesOf(r.Context(), v, []workflows.Run{run})
	if err != nil {
		return runPage{}, err
	}
	tree, err := h.trees(r, v).of(w.ID, run.Version)
	if err != nil {
		return runPage{}, err
	}
	events, err := h.Editor.Runs.Timeline(r.Context(), v.Org.ID, run)
	if err != nil {
		return runPage{}, err
	}
	var done []engine.Event
	for _, e := range events {
		done = append(done, e.Event)
	}
	words := wording.OfSteps(tree)
	data := runPage{
		RunID: run.ID, Contact: h.contactOf(v, run.ContactID, names), RunState: wording.RunState(run.State), Version: run.Version, Cause: causeOf(run),
		Started: h.When(run.StartedAt), Faults: run.Faults, Journey: wording.JourneyOf(tree, nil, diagram.Options{Lit: wording.LitByEvents(tree, run.State, run.ExitKind, done)}),
	}
	if run.CompletedAt != nil {
		data.Ended = h.When(*run.CompletedAt)
	}
	if !run.State.IsOver() {
		data.Step = run.State.Node
	}
	h.addVerdict(w, run, words, &data)
	for _, e := range events {
		data.Events = append(data.Events, eventRow{wording.EventRowOf(tree, data.Cause, e.Event, words), h.When(e.At)})
	}
	data.Shortened = !slices.ContainsFunc(done, func(e engine.Event) bool { return e.Type == engine.Enrolled })
	data.about, err = h.aboutOf(r, v, w, tabRuns)
	return data, err
}

// addVerdict says what the run does now.
func (h runPages) addVerdict(w workflows.Workflow, run workflows.Run, words map[string]string, data *runPage) {
	state := run.State
	data.Verdict = wording.WhereWords(run.State, run.ExitKind, run.ExitName, words)
	if state.IsOver() {
		return
	}
	until := func(t time.Time) {
		if !t.IsZero() {
			data.Until, data.UntilText = h.When(t), wording.Moment(t)
		}
	}
	switch state.Phase {
	case engine.Held:
		data.Verdict, data.HeldPath = "Its message waits until a person approves it.", pathOf(w, tabHeld)
	case engine.Waiting:
		data.Verdict = "It waits."
		if state.OnChange {
			data.Verdict = "It waits for a change of the contact, or until the time is over."
		}
		until(state.Until)
	case engine.Delayed:
		data.Verdict = "Its message waits for the send window."
		until(state.WakeAt)
	case engine.Sending:
		data.Verdict = "Its message is being passed to the sending account."
	default:
		data.Verdict = "It continues within a minute."
	}
	if !w.IsLive() {
		data.Verdict += " The workflow is " + strings.ToLower(statuses[w.Status].Name) + ", so the run does not move."
	}
}
