package product_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
)

// failing is a test that collects errors and does not fail. end runs its cleanups.
type failing struct {
	testing.TB
	cleanups []func()
	errors   []string
}

func (f *failing) Cleanup(run func()) { f.cleanups = append(f.cleanups, run) }

func (f *failing) Errorf(format string, args ...any) {
	f.errors = append(f.errors, fmt.Sprintf(format, args...))
}

func (f *failing) end() {
	for i := len(f.cleanups) - 1; i >= 0; i-- {
		f.cleanups[i]()
	}
}

// TestUndeclaredCode checks that a product fails the test that started it if an operation
// fails with a code that it does not declare. It would not if the log line of a call or one
// of its attributes were renamed.
func TestUndeclaredCode(t *testing.T) {
	t.Parallel()
	type nothing struct{}
	undeclared := core.Declare(core.Op[nothing, nothing]{
		Name: "workflows_estimate_enrollment", Title: "Estimate who enters", Purpose: "Estimates who enters.", Effect: core.Reads,
		Scopes: []core.Scope{core.WorkflowsManage},
		Do: func(context.Context, *core.Call, nothing) (nothing, error) {
			return nothing{}, core.NotFound("workflow")
		},
	})
	collector := &failing{TB: t}
	p := product.Start(collector, product.Options{Operations: []core.Operation{undeclared}})
	message := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"workflows_estimate_enrollment","arguments":{}}}`
	if got := p.Send(t, p.ToAgent(p.Token(t, p.MCPURL), message)); !strings.Contains(got.Body, `not_found`) {
		t.Errorf("the call answers %d %s", got.Status, got.Body)
	}
	collector.end()
	if got := strings.Join(collector.errors, "\n"); !strings.HasSuffix(got, "does not declare: workflows_estimate_enrollment on agent: not_found") {
		t.Errorf("errors of the test that started the product: %q", got)
	}
}
