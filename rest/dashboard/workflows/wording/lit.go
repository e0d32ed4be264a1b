package wording

import (
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/diagram"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// LitByDryRun returns the steps and arms that a dry run passed.
func LitByDryRun(done []workflows.DryStep) map[string]bool {
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

// LitByEvents returns the steps and arms that a run has passed.
func LitByEvents(tree *language.Tree, run workflows.Run, events []workflows.Event) map[string]bool {
	lit := map[string]bool{}
	for _, e := range events {
		if e.Path == "" {
			continue
		}
		lit[e.Path] = true
		if e.Arm != "" {
			lit[e.Path+"."+e.Arm] = true
		}
		if _, branches := StepAt(tree, e.Path).(*language.If); branches && e.Detail != "" {
			lit[e.Path+"."+e.Detail] = true
		}
	}
	if run.State.Status == engine.Completed && run.ExitKind == "" {
		lit[diagram.End] = true
	}
	return lit
}
