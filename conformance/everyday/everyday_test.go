package everyday

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/tools"
)

// task is what a person asks an assistant for.
type task struct {
	ask string
	// uses has the names of all tools that the steps call.
	uses []string
	// given prepares what the request is about; nil prepares nothing. Its calls of tools are those
	// of colleagues.
	given func(s *session)
	// steps are the calls of the assistant. What they learn is in session.kept.
	steps func(s *session)
	// check reads the resulting state without a tool.
	check func(s *session)
}

// tasks returns the tasks that share a product with the past of the demo. Each has contacts,
// lists, templates and workflows of its own, or only reads the past.
func tasks() []task {
	return slices.Concat(audienceTasks, consentTasks, sendingTasks, scheduleTasks, templateTasks, workflowTasks, insightTasks, addressTasks)
}

// TestEverydayTasks does the tasks in parallel.
func TestEverydayTasks(t *testing.T) {
	t.Parallel()
	product.OnceWith(t, product.Options{Past: true}, func(t *testing.T, p *product.Product) {
		for _, one := range tasks() {
			t.Run(one.ask, func(t *testing.T) {
				t.Parallel()
				one.do(t, p)
			})
		}
	})
}

// TestJourneys does the tasks that move the clock. Each has a product of its own.
func TestJourneys(t *testing.T) {
	t.Parallel()
	for _, one := range journeyTasks {
		t.Run(one.ask, func(t *testing.T) {
			t.Parallel()
			product.Once(t, one.do)
		})
	}
}

// do does the task and checks the result. If the task fails, it prints the request, the calls
// and their answers.
func (one task) do(t *testing.T, p *product.Product) {
	s := newSession(t, p)
	t.Cleanup(func() {
		if !t.Failed() {
			return
		}
		t.Logf("The task: %s", one.ask)
		for _, e := range s.calls {
			t.Logf("The assistant calls %s", e)
		}
	})
	if one.given != nil {
		one.given(s)
	}
	s.calls = nil
	one.steps(s)
	calls := len(s.calls)
	one.check(s)
	if len(s.calls) != calls {
		t.Error("the check calls a tool")
	}
	if diff := cmp.Diff(slices.Sorted(slices.Values(one.uses)), s.usedTools()); diff != "" {
		t.Errorf("the used tools (-declared +called):\n%s", diff)
	}
}

// TestTasksUseEveryTool checks that the tasks use every tool of the catalogue, and that there
// are at least as many tasks as tools.
func TestTasksUseEveryTool(t *testing.T) {
	t.Parallel()
	all := slices.Concat(tasks(), journeyTasks)
	used, asked := map[string]bool{}, map[string]bool{}
	for _, one := range all {
		for _, tool := range one.uses {
			used[tool] = true
		}
		if asked[one.ask] {
			t.Errorf("two tasks ask %q", one.ask)
		}
		asked[one.ask] = true
	}
	table := tools.Table()
	slices.Sort(table)
	if diff := cmp.Diff(table, slices.Sorted(maps.Keys(used))); diff != "" {
		t.Errorf("tools (-catalogue +used by tasks):\n%s", diff)
	}
	if len(all) < len(table) {
		t.Errorf("%d tasks for %d tools", len(all), len(table))
	}
}
