package guardrails

import (
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
)

// Catalogue has all operations. Each call of an operation passes through the guardrails,
// the checks of this package. REST and MCP call operations only through a Catalogue.
type Catalogue struct {
	guard  *Guard
	order  []*Operation
	byName map[string]*Operation
}

// Operation is one operation of the catalogue. It runs only through the guardrails, the
// checks and steps of every call.
type Operation struct {
	guard *Guard
	op    core.Operation
	info  core.OperationInfo
}

// Catalogue returns a [Catalogue] of the operations, in the given order. It panics if two
// operations have the same name.
func (g *Guard) Catalogue(ops []core.Operation) *Catalogue {
	c := &Catalogue{guard: g, byName: make(map[string]*Operation, len(ops))}
	for _, op := range ops {
		guarded := &Operation{guard: g, op: op, info: op.Info()}
		if _, twice := c.byName[guarded.info.Name]; twice {
			panic(fmt.Sprintf("guardrails: two operations are named %q", guarded.info.Name))
		}
		c.byName[guarded.info.Name] = guarded
		c.order = append(c.order, guarded)
	}
	return c
}

// Operations returns all operations in the order of the catalogue. The caller must not
// change the slice.
func (c *Catalogue) Operations() []*Operation { return c.order }

// Operation returns the operation with this name, and false if there is none.
func (c *Catalogue) Operation(name string) (*Operation, bool) {
	o, ok := c.byName[name]
	return o, ok
}

// Call calls the operation with this name; see [Operation.Call]. It fails with an internal
// error if there is no such operation.
func (c *Catalogue) Call(ctx context.Context, name string, req Request) (Result, error) {
	operation, ok := c.byName[name]
	if !ok {
		return Result{}, core.Internal(fmt.Errorf("no operation %q", name))
	}
	return operation.Call(ctx, req)
}

// Info returns the declaration of the operation.
func (o *Operation) Info() core.OperationInfo { return o.info }

// Input returns the JSON schema of the operation's arguments on a surface (REST or agent).
func (o *Operation) Input(s core.Surface) *core.Schema { return o.op.Input(s) }

// Output returns the JSON schema of the operation's result on a surface (REST or agent).
func (o *Operation) Output(s core.Surface) *core.Schema { return o.op.Output(s) }

// Texts returns the members that contain text in the operation's result for a surface (REST
// or agent).
func (o *Operation) Texts(s core.Surface) []core.Text { return o.op.Texts(s) }

// CheckAllowed returns nil if the principal may call the operation. Otherwise it returns
// the error that a call would get for missing scopes or a test credential. REST and MCP
// list only operations that the caller may call.
func (o *Operation) CheckAllowed(p core.Principal) error {
	if err := missingScope(&o.info, &p); err != nil {
		return err
	}
	return refuseTestEnvironment(&o.info, &p)
}
