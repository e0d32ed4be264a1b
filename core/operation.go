package core

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Operation is an [Op] without its type parameters, for the guardrails and the two
// surfaces, REST and MCP. Only [Declare] returns one.
type Operation interface {
	Info() OperationInfo
	// Input returns the schema of the arguments on a surface (REST or agent).
	Input(Surface) *Schema
	// Output returns the schema of the result on a surface (REST or agent).
	Output(Surface) *Schema
	// Texts returns the members of the operation's result that can hold free text. The
	// parameter is the surface on which the result is shown: REST or agent.
	Texts(Surface) []Text
	// Decode checks JSON arguments: first that they are strict JSON, then the input schema.
	// It returns them as a value of the type In of the [Op], with enumerated values as the
	// schema spells them. It fails with validation_failed.
	Decode(s Surface, raw []byte) (any, error)
	Confirmation(ctx context.Context, c *Call, in any) (*Confirmation, error)
	// CostOf returns the cost of a call with these arguments.
	CostOf(c *Call, in any) Cost
	Prepare(ctx context.Context, c *Call, in any) (any, error)
	// IsManaged reports whether a call writes although the organization has a repository; see
	// [Op].IsManaged.
	IsManaged(ctx context.Context, c *Call, in any) (bool, error)
	// Propose opens a pull request instead of writing; see [Op].Propose.
	Propose(ctx context.Context, c *Call, in any, open OpenPullRequest) (any, error)
	Do(ctx context.Context, c *Call, in any) (any, error)
	// DecodeResult decodes a stored JSON result. The returned value has the operation's
	// output type.
	DecodeResult(raw []byte) (any, error)
	// Recall completes a result that DecodeResult returned; see [Op].Recall.
	Recall(ctx context.Context, c *Call, out any) (any, error)
	// View returns the result in the form that the surface (REST or agent) shows.
	View(s Surface, out any) any
	sealed()
}

// OperationInfo has the declared properties of an operation, without its functions.
type OperationInfo struct {
	Name    string
	Title   string
	Purpose string
	// Example has the arguments of a typical call as JSON, "" for a call without arguments.
	Example string
	// AgentExample has the arguments of the same call on the agent endpoint, "" if Example has
	// them. ExampleOn returns the one that applies.
	AgentExample string
	Effect       Effect
	// Cost is the greatest cost that a call of the operation can have.
	Cost          Cost
	ReachesPeople bool
	Scopes        []Scope
	// ArgumentScopes maps an argument to the further scope that a call with it requires.
	ArgumentScopes map[string]Scope
	// ContentScopes are the scopes that a call may need because of the content of its arguments.
	ContentScopes []Scope
	GitOwned      GitOwned
	Writes        Subject
	Replay        ReplayScope
	Confirms      bool
	// IgnoresKey is true if an idempotency key has no effect over REST; see [Op].IgnoresKey.
	IgnoresKey bool
	// Waits is true if a call may wait for many seconds; see [Op].Waits.
	Waits bool
	// Fails are the codes with which a call can fail for a reason of this operation.
	Fails []Code
}

// NeededScopes returns the scopes that the operation, one of its arguments or their content needs.
func (i OperationInfo) NeededScopes() Scopes {
	needed := slices.Concat(i.Scopes, slices.Collect(maps.Values(i.ArgumentScopes)), i.ContentScopes)
	return NewScopes(Scopes(needed).Strings()...)
}

// ExampleOn returns the arguments of a typical call on a surface (REST or agent) as JSON, ""
// for a call without arguments.
func (i OperationInfo) ExampleOn(s Surface) string {
	if s == Agent && i.AgentExample != "" {
		return i.AgentExample
	}
	return i.Example
}

// Declare returns the [Operation] of an Op. It is called once for each operation, at start. It
// panics if the declaration is invalid. The schemas are generated at their first use.
func Declare[In, Out any](op Op[In, Out]) Operation {
	if op.Name == "" || op.Purpose == "" || op.Do == nil || len(op.Scopes) > 0 && op.Scopes[0] == "" {
		panic(fmt.Sprintf("core: operation %q is declared without name, purpose or function", op.Name))
	}
	if (op.GitOwned == GitPullRequest) != (op.Propose != nil) {
		panic(fmt.Sprintf("core: operation %q must have Propose if, and only if, it becomes a pull request", op.Name))
	}
	if op.IsManaged != nil && op.Propose == nil {
		panic(fmt.Sprintf("core: operation %q has IsManaged without Propose", op.Name))
	}
	if op.Writes != OtherRecords && op.Effect == Reads || op.Replay == ReplayUntilNextWrite && op.Writes != OneContact {
		panic(fmt.Sprintf("core: operation %q declares a subject or a replay that do not fit its effect", op.Name))
	}
	if op.Effect != Reads && op.Cost != Undeclared || op.Cost != Heavy && op.CostOf != nil {
		panic(fmt.Sprintf("core: operation %q declares a cost and is no read, or one for each call and is never heavy", op.Name))
	}
	if op.ReachesPeople && op.Effect == Reads {
		panic(fmt.Sprintf("core: operation %q is a read and reaches people", op.Name))
	}
	in := reflect.TypeFor[In]()
	d := &declared[In, Out]{op: op}
	out := reflect.TypeFor[Out]()
	for _, s := range []Surface{REST, Agent} {
		d.input[surfaceIndex(s)] = mustSchema(in, s, closed)
		d.views[surfaceIndex(s)] = viewerOf(out, s)
		d.output[surfaceIndex(s)] = mustSchema(d.views[surfaceIndex(s)].shown, s, open)
	}
	return d
}

type declared[In, Out any] struct {
	op     Op[In, Out]
	input  [2]*Schema
	output [2]*Schema
	views  [2]viewer
}

func surfaceIndex(s Surface) int {
	if s == Agent {
		return 1
	}
	return 0
}

func (d *declared[In, Out]) sealed() {}

func (d *declared[In, Out]) Info() OperationInfo {
	return OperationInfo{
		Name: d.op.Name, Title: d.op.Title, Purpose: d.op.Purpose, Example: d.op.Example, AgentExample: d.op.AgentExample, Effect: d.op.Effect, Cost: d.op.Cost, ReachesPeople: d.op.ReachesPeople,
		Scopes: d.op.Scopes, ArgumentScopes: d.op.ArgumentScopes, ContentScopes: d.op.ContentScopes, GitOwned: d.op.GitOwned, Writes: d.op.Writes, Replay: d.op.Replay, Confirms: d.op.Confirm != nil, IgnoresKey: d.op.IgnoresKey, Waits: d.op.Waits, Fails: d.op.Fails,
	}
}

func (d *declared[In, Out]) Input(s Surface) *Schema  { return d.input[surfaceIndex(s)] }
func (d *declared[In, Out]) Output(s Surface) *Schema { return d.output[surfaceIndex(s)] }

func (d *declared[In, Out]) Texts(s Surface) []Text { return textsOf(d.views[surfaceIndex(s)].shown) }

func (d *declared[In, Out]) Decode(s Surface, raw []byte) (any, error) {
	if len(raw) == 0 {
		raw = []byte("{}")
	}
	schema := d.Input(s)
	raw, err := schema.check(raw)
	if err != nil {
		return nil, err
	}
	var in In
	if schema.holdsAny {
		// UseNumber keeps all digits of numbers in members that accept any JSON.
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.UseNumber()
		err = decoder.Decode(&in)
	} else {
		err = json.Unmarshal(raw, &in) // which does not copy raw, as a decoder does
	}
	if err != nil {
		return nil, decodeError(err)
	}
	return in, nil
}

// holdsAny reports whether a value of type t can hold values of any type.
func holdsAny(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return holdsAny(t.Elem())
	case reflect.Struct:
		return slices.ContainsFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool { return f.IsExported() && holdsAny(f.Type) })
	default:
		return false
	}
}

func (d *declared[In, Out]) Confirmation(ctx context.Context, c *Call, in any) (*Confirmation, error) {
	if d.op.Confirm == nil {
		return nil, nil
	}
	return d.op.Confirm(ctx, c, in.(In))
}

func (d *declared[In, Out]) CostOf(c *Call, in any) Cost {
	if d.op.CostOf == nil {
		return d.op.Cost
	}
	return d.op.CostOf(c, in.(In))
}

func (d *declared[In, Out]) Prepare(ctx context.Context, c *Call, in any) (any, error) {
	if d.op.Prepare == nil {
		return in, nil
	}
	return d.op.Prepare(ctx, c, in.(In))
}

func (d *declared[In, Out]) IsManaged(ctx context.Context, c *Call, in any) (bool, error) {
	if d.op.IsManaged == nil {
		return false, nil
	}
	return d.op.IsManaged(ctx, c, in.(In))
}

func (d *declared[In, Out]) Propose(ctx context.Context, c *Call, in any, open OpenPullRequest) (any, error) {
	return d.op.Propose(ctx, c, in.(In), open)
}

func (d *declared[In, Out]) Do(ctx context.Context, c *Call, in any) (any, error) {
	return d.op.Do(ctx, c, in.(In))
}

func (d *declared[In, Out]) DecodeResult(raw []byte) (any, error) {
	var out Out
	err := json.Unmarshal(raw, &out)
	return out, err
}

func (d *declared[In, Out]) Recall(ctx context.Context, c *Call, out any) (any, error) {
	if d.op.Recall == nil {
		return out, nil
	}
	return d.op.Recall(ctx, c, out.(Out))
}

func (d *declared[In, Out]) View(s Surface, out any) any { return d.views[surfaceIndex(s)].view(out) }
