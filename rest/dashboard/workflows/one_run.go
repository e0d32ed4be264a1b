package workflows

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/diagram"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/language"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// runPage is the data of the page of one run.
type runPage struct {
	about
	RunID    string
	Contact  named
	RunState state
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
	Journey   *journey
}

// eventRow is an event of a timeline. Class is the colour of its point.
type eventRow struct {
	Class, Title, Text, Path string
	At                       frame.When
	Exact                    string
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
	h.show(w, r, v, "run", frame.Screen{Title: head.Title, Head: head}, data)
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
	events, err := h.Editor.Runs.Timeline(r.Context(), v.Org.ID, w.ID, run.ID)
	if err != nil {
		return runPage{}, err
	}
	words := wordsOfSteps(tree)
	data := runPage{
		RunID: run.ID, Contact: h.contactOf(v, run.ContactID, names), RunState: runState(run), Version: run.Version, Cause: causeOf(run),
		Started: h.When(run.StartedAt), Faults: run.Faults, Journey: journeyOf(tree, nil, diagram.Options{Lit: litByEvents(tree, run, events)}),
	}
	if run.CompletedAt != nil {
		data.Ended = h.When(*run.CompletedAt)
	}
	if !run.State.IsOver() {
		data.Step = run.State.Node
	}
	h.addVerdict(w, run, words, &data)
	for _, e := range events {
		data.Events = append(data.Events, h.eventRowOf(tree, run, e, words))
	}
	data.about, err = h.aboutOf(r, v, w, tabRuns)
	return data, err
}

// addVerdict says what the run does now.
func (h runPages) addVerdict(w workflows.Workflow, run workflows.Run, words map[string]string, data *runPage) {
	state := run.State
	data.Verdict = whereWords(run, words)
	if state.IsOver() {
		return
	}
	until := func(t time.Time) {
		if !t.IsZero() {
			data.Until, data.UntilText = h.When(t), moment(t)
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

// eventTitles are the types of events in words, with the classes of their points. Types that
// depend on more are in eventRowOf.
var eventTitles = map[engine.EventType]state{
	engine.Enrolled: {"Entered", "delivered"}, engine.StepEntered: {"Step", ""}, engine.WaitStarted: {"Waits", "delayed"}, engine.WaitMet: {"The wait is over", ""},
	engine.WaitTimedOut: {"The time is over", "delayed"}, engine.SendFiltered: {"Message filtered", "bounced"}, engine.SendHeld: {"Message waits for approval", "delayed"},
	engine.SendSkipped: {"A person skipped the message", "complained"}, engine.SendFailed: {"Message failed", "bounced"}, engine.RunExited: {"Left", "clicked"},
	engine.RunCompleted: {"Completed", "delivered"}, engine.RunFailed: {"Failed", "bounced"},
}

// eventRowOf returns an event in words.
func (h runPages) eventRowOf(tree *language.Tree, run workflows.Run, e workflows.Event, words map[string]string) eventRow {
	title, known := eventTitles[e.Type]
	if !known {
		title = state{string(e.Type), ""}
	}
	row := eventRow{Class: title.Mark, Title: title.Name, Path: e.Path, At: h.When(e.At), Exact: e.At.UTC().Format(exactLayout)}
	detail := frame.PlainName(e.Detail)
	switch e.Type {
	case engine.Enrolled:
		row.Text = "The contact " + causeOf(run) + "."
	case engine.StepEntered:
		row.Title, row.Text = words[e.Path], stepText(tree, e)
		if row.Title == "" {
			row.Title = "Step " + e.Path
		}
	case engine.WaitStarted:
		row.Text = waitText(detail)
	case engine.SendFiltered:
		row.Text = "Because " + reasons[e.Reason] + "."
		if reasons[e.Reason] == "" {
			row.Text = frame.PlainName(string(e.Reason))
		}
	case engine.RunExited, engine.RunCompleted:
		row.Text = exitWords(e.Type, e.Kind, e.Exit) + "."
	default:
		row.Text = detail
	}
	return row
}

// exactLayout is the layout of the times of a timeline.
const exactLayout = "2 January 2006, 15:04:05 UTC"

// stepText says what the words of a step do not: the pass of a repeat, and the branch that the
// contact takes.
func stepText(tree *language.Tree, e workflows.Event) string {
	var parts []string
	if e.Iteration > 0 {
		parts = append(parts, "Pass "+strconv.Itoa(e.Iteration)+".")
	}
	label := e.Arm
	if label == "" {
		label = e.Detail
	}
	switch step := stepAt(tree, e.Path).(type) {
	case *language.If:
		parts = append(parts, branchText(step, label))
	case *language.Split:
		for i, arm := range language.Arms(step) {
			if arm.Label == label {
				parts = append(parts, "The contact is in the share of "+strconv.Itoa(step.Shares[i].Percent)+"%.")
			}
		}
	default:
		if label != "" {
			parts = append(parts, frame.PlainName(label))
		}
	}
	return strings.Join(parts, " ")
}

// branchText says which branch of an if a contact takes.
func branchText(step *language.If, label string) string {
	for i, arm := range language.Arms(step) {
		if arm.Label == label && i < len(step.Arms) {
			return "Yes: " + frame.PlainName(step.Arms[i].When.Condition()) + "."
		}
	}
	return "No condition holds."
}

// waitText returns the end of a wait for people. The engine writes "until" and a time of
// RFC 3339.
func waitText(detail string) string {
	end, err := time.Parse("until "+time.RFC3339, detail)
	if err != nil {
		return detail
	}
	return "Until " + moment(end) + "."
}
