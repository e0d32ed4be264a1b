package workflows

import (
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/diagram"
	"github.com/mailhelm/mailhelm/rest/dashboard/workflows/wording"
)

// dryRow is a step of a dry run.
type dryRow struct {
	Path, Words, Action, Mark, Detail string
}

// dryActions are the actions of a dry run in words, with the classes of their marks.
var dryActions = map[workflows.DryAction]wording.State{
	workflows.WouldSend: {Name: "Would be sent", Mark: "good"}, workflows.WouldSkip: {Name: "Would be skipped", Mark: "ended"}, workflows.WouldSet: {Name: "Would be set", Mark: "live"},
	workflows.WouldAdd: {Name: "Would be added", Mark: "live"}, workflows.Waited: {Name: "Would wait", Mark: ""}, workflows.MatchedBranch: {Name: "Takes a branch", Mark: "live"},
	workflows.EnteredArm: {Name: "Goes this way", Mark: "live"}, workflows.HeldOut: {Name: "Would be held out", Mark: "ended"}, workflows.Exited: {Name: "Would leave", Mark: "test"},
}

// dryRows returns the steps of a dry run for the page.
func dryRows(done []workflows.DryStep, words map[string]string) []dryRow {
	var rows []dryRow
	for _, s := range done {
		action := dryActions[s.Action]
		if action.Name == "" {
			action = wording.State{Name: string(s.Action), Mark: "test"}
		}
		rows = append(rows, dryRow{Path: s.NodePath, Words: words[s.NodePath], Action: action.Name, Mark: action.Mark, Detail: core.OnlyVisible(s.Detail)})
	}
	return rows
}

// litByDryRun returns the steps and arms that a dry run passed.
func litByDryRun(done []workflows.DryStep) map[string]bool {
	lit := map[string]bool{}
	left := false
	for _, s := range done {
		lit[s.NodePath] = true
		left = s.Action == workflows.Exited || s.Action == workflows.HeldOut
	}
	if !left && len(done) > 0 {
		lit[diagram.End] = true
	}
	return lit
}
