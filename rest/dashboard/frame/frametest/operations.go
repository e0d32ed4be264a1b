package frametest

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/guardrails"
)

// Operations answers calls of operations with prepared results. It checks the arguments of
// each call and each prepared result by the schemas of the operation, and that the visitor
// has the operation's scopes. So a page that passes a test with it fits the real operation.
type Operations struct {
	T *testing.T
	// Results has the JSON results by the name of the operation, in the form of REST. A result
	// under the name "operation after CURSOR" is the page of a list at this cursor.
	Results map[string]string
	// Errors has errors by the name of the operation, which are returned instead.
	Errors map[string]*core.Error
	// Confirm has the confirmations of operations that ask before they write. A call without
	// a token gets the confirmation.
	Confirm map[string]*guardrails.ConfirmationRequired

	lock  sync.Mutex
	calls []CalledOperation
}

// CalledOperation is a call that Operations has answered.
type CalledOperation struct {
	Name, Arguments, Once, Confirmation string
}

// Calls returns the calls since the last call of Calls.
func (o *Operations) Calls() []CalledOperation {
	o.lock.Lock()
	defer o.lock.Unlock()
	calls := o.calls
	o.calls = nil
	return calls
}

// declared has all operations by name, without stores.
var declared = sync.OnceValue(func() map[string]core.Operation {
	byName := map[string]core.Operation{}
	for _, op := range catalogue.Operations(catalogue.Domains{}) {
		byName[op.Info().Name] = op
	}
	return byName
})

// Call checks a call and answers it.
func (o *Operations) Call(_ context.Context, name string, req guardrails.Request) (guardrails.Result, error) {
	o.lock.Lock()
	defer o.lock.Unlock()
	op, ok := declared()[name]
	if !ok {
		o.T.Errorf("no operation %q", name)
		return guardrails.Result{}, core.Internal(nil)
	}
	if missing := req.Principal.Scopes.FirstMissing(op.Info().Scopes); missing != "" {
		return guardrails.Result{}, &core.Error{Code: core.CodeInvalidScope, Message: "The scope " + string(missing) + " is missing."}
	}
	if _, err := op.Decode(req.Surface, req.Arguments); err != nil {
		return guardrails.Result{}, core.AsError(err)
	}
	o.calls = append(o.calls, CalledOperation{name, string(req.Arguments), req.IdempotencyKey, req.Confirmation})
	if err := o.Errors[name]; err != nil {
		return guardrails.Result{}, err
	}
	if asked := o.Confirm[name]; asked != nil && req.Confirmation == "" {
		return guardrails.Result{Confirm: asked}, nil
	}
	prepared, ok := o.resultOf(name, req.Arguments)
	if !ok {
		o.T.Errorf("no result for %s", name)
		return guardrails.Result{}, core.Internal(nil)
	}
	if err := op.Output(req.Surface).Check([]byte(prepared)); err != nil {
		o.T.Errorf("result of %s: %v", name, err)
	}
	return guardrails.Result{Value: json.RawMessage(prepared)}, nil
}

// resultOf returns the prepared result of a call.
func (o *Operations) resultOf(name string, arguments json.RawMessage) (string, bool) {
	var asked struct{ Cursor string }
	if json.Unmarshal(arguments, &asked) == nil && asked.Cursor != "" {
		if prepared, ok := o.Results[name+" after "+asked.Cursor]; ok {
			return prepared, true
		}
	}
	prepared, ok := o.Results[name]
	return prepared, ok
}
