package wording

import (
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// DryRow is a step of a dry run.
type DryRow struct {
	Path, Words, Action, Mark, Detail string
}

// dryActions are the actions of a dry run in words, with the classes of their marks.
var dryActions = map[workflows.DryAction]State{
	workflows.WouldSend: {"Would be sent", "good"}, workflows.WouldSkip: {"Would be skipped", "ended"}, workflows.WouldSet: {"Would be set", "live"},
	workflows.WouldAdd: {"Would be added", "live"}, workflows.Waited: {"Would wait", ""}, workflows.MatchedBranch: {"Takes a branch", "live"},
	workflows.EnteredArm: {"Goes this way", "live"}, workflows.HeldOut: {"Would be held out", "ended"}, workflows.Exited: {"Would leave", "test"},
}

// DryRows returns the steps of a dry run for the page.
func DryRows(done []workflows.DryStep, words map[string]string) []DryRow {
	var rows []DryRow
	for _, s := range done {
		action := dryActions[s.Action]
		if action.Name == "" {
			action = State{string(s.Action), "test"}
		}
		rows = append(rows, DryRow{Path: s.NodePath, Words: words[s.NodePath], Action: action.Name, Mark: action.Mark, Detail: frame.PlainName(s.Detail)})
	}
	return rows
}
