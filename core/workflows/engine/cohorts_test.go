package engine_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/mailhelm/mailhelm/core/workflows/engine"
)

// arms returns the arm of the split at step 0 for each of n contacts.
func arms(t *testing.T, workflowID string, n int) map[string]string {
	t.Helper()
	j := begin(t, "split {\n20%: {\nadd to list \"vip\"\n}\n50%: {\n}\n30%: {\nexit\n}\n}\nexit")
	arms := map[string]string{}
	for i := range n {
		j.facts.WorkflowID, j.facts.ContactID = workflowID, fmt.Sprintf("0190a000-0000-7000-8000-%012d", i)
		moved := j.plan.Advance(engine.Begin(noon), j.facts)
		arms[j.facts.ContactID] = moved.Events[0].Arm
		next := map[string]string{"arm1": "0.arm1.0", "arm2": "1", "arm3": "0.arm3.0"}[moved.Events[0].Arm]
		if moved.Events[1].Path != next {
			t.Fatalf("the step after %s is %s, want %s", moved.Events[0].Arm, moved.Events[1].Path, next)
		}
	}
	return arms
}

func TestSplit(t *testing.T) {
	t.Parallel()
	const n = 10_000
	first := arms(t, "workflow-1", n)
	count := map[string]int{}
	for _, arm := range first {
		count[arm]++
	}
	for arm, percent := range map[string]int{"arm1": 20, "arm2": 50, "arm3": 30} {
		if share := float64(count[arm]) * 100 / n; share < float64(percent)-1.5 || share > float64(percent)+1.5 {
			t.Errorf("%s has %.1f%% of the contacts, want %d%%", arm, share, percent)
		}
	}
	if again := arms(t, "workflow-1", n); !maps.Equal(first, again) {
		t.Error("the arms of contacts are not stable")
	}
	same := 0
	for contact, arm := range arms(t, "workflow-2", n) {
		if first[contact] == arm {
			same++
		}
	}
	if same > n*45/100 { // 38% are in the same arm by chance
		t.Errorf("%d of %d contacts are in the same arm of another workflow", same, n)
	}
}

func TestHoldOut(t *testing.T) {
	t.Parallel()
	const n = 10_000
	j := begin(t, "hold out 10%\nhold out 10%\nadd to list \"vip\"")
	held := map[string]int{}
	for i := range n {
		j.facts.ContactID = fmt.Sprintf("0190a000-0000-7000-8000-%012d", i)
		moved := j.plan.Advance(engine.Begin(noon), j.facts)
		last := moved.Events[len(moved.Events)-1]
		switch {
		case last.Type == engine.RunExited && last.Kind == engine.ByHoldOut && moved.State.Status == engine.Exited && len(moved.Effects) == 0:
			held[last.Path]++
		case last.Type != engine.RunCompleted || len(moved.Effects) != 1:
			t.Fatalf("the run ended with %+v", last)
		}
		again := j.plan.Advance(engine.Begin(noon), j.facts)
		if again.State.Status != moved.State.Status {
			t.Fatal("whether a contact is held out is not stable")
		}
	}
	for path, count := range map[string]int{"0": n / 10, "1": n * 9 / 100} { // two hold-outs are independent
		if held[path] < count*85/100 || held[path] > count*115/100 {
			t.Errorf("the hold-out at %s held %d contacts, want about %d", path, held[path], count)
		}
	}
}
