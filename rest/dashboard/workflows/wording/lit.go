package wording

import (
	"github.com/mailhelm/mailhelm/core/workflows/diagram"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// LitByEvents returns the steps and arms that a run has passed.
func LitByEvents(tree *language.Tree, state engine.State, kind engine.ExitKind, events []engine.Event) map[string]bool {
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
	if state.Status == engine.Completed && kind == "" {
		lit[diagram.End] = true
	}
	return lit
}
