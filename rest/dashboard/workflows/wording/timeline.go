package wording

import (
	"strconv"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// EventRow is an event of a timeline. Class is the colour of its point.
type EventRow struct {
	Class, Title, Text, Path string
	At                       time.Time
	Exact                    string
}

// eventTitles are the types of events in words, with the classes of their points. Types that
// depend on more are in EventRowOf.
var eventTitles = map[engine.EventType]State{
	engine.Enrolled: {"Entered", "delivered"}, engine.StepEntered: {"Step", ""}, engine.WaitStarted: {"Waits", "delayed"}, engine.WaitMet: {"The wait is over", ""},
	engine.WaitTimedOut: {"The time is over", "delayed"}, engine.SendFiltered: {"Message filtered", "bounced"}, engine.SendHeld: {"Message waits for approval", "delayed"},
	engine.SendSkipped: {"A person skipped the message", "complained"}, engine.SendFailed: {"Message failed", "bounced"}, engine.RunExited: {"Left", "clicked"},
	engine.RunCompleted: {"Completed", "delivered"}, engine.RunFailed: {"Failed", "bounced"},
}

// EventRowOf returns an event in words. cause says why the contact entered.
func EventRowOf(tree *language.Tree, cause string, e engine.Event, words map[string]string) EventRow {
	title, known := eventTitles[e.Type]
	if !known {
		title = State{string(e.Type), ""}
	}
	row := EventRow{Class: title.Mark, Title: title.Name, Path: e.Path, At: e.At, Exact: e.At.UTC().Format(exactLayout)}
	detail := core.OnlyVisible(e.Detail)
	switch e.Type {
	case engine.Enrolled:
		row.Text = "The contact " + cause + "."
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
			row.Text = core.OnlyVisible(string(e.Reason))
		}
	case engine.RunExited, engine.RunCompleted:
		row.Text = ExitWords(e.Type, e.Kind, e.Exit) + "."
	default:
		row.Text = detail
	}
	return row
}

// exactLayout is the layout of the times of a timeline.
const exactLayout = "2 January 2006, 15:04:05 UTC"

// stepText says what the words of a step do not: the pass of a repeat, and the branch that the
// contact takes.
func stepText(tree *language.Tree, e engine.Event) string {
	var parts []string
	if e.Iteration > 0 {
		parts = append(parts, "Pass "+strconv.Itoa(e.Iteration)+".")
	}
	label := e.Arm
	if label == "" {
		label = e.Detail
	}
	switch step := StepAt(tree, e.Path).(type) {
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
			parts = append(parts, core.OnlyVisible(label))
		}
	}
	return strings.Join(parts, " ")
}

// branchText says which branch of an if a contact takes.
func branchText(step *language.If, label string) string {
	for i, arm := range language.Arms(step) {
		if arm.Label == label && i < len(step.Arms) {
			return "Yes: " + core.OnlyVisible(step.Arms[i].When.Condition()) + "."
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
	return "Until " + Moment(end) + "."
}
