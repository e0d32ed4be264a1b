package guardrails

import (
	"fmt"

	"github.com/mailhelm/mailhelm/core"
)

// Catalogue has all operations, each with its rails. Surfaces mount operations only from a
// Catalogue.
type Catalogue struct {
	guard  *Guard
	order  []*Operation
	byName map[string]*Operation
}

// Operation is one operation together with its rails.
type Operation struct {
	guard *Guard
	op    core.Operation
	info  core.OperationInfo
}

// Catalogue returns the operations with their rails, in the order given. It panics when two
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

// Operations returns all operations in order. The slice must not be changed.
func (c *Catalogue) Operations() []*Operation { return c.order }

// Operation returns the operation with a name.
func (c *Catalogue) Operation(name string) (*Operation, bool) {
	o, ok := c.byName[name]
	return o, ok
}

// Info returns the declaration of the operation.
func (o *Operation) Info() core.OperationInfo { return o.info }

// Input returns the schema of the arguments on a surface.
func (o *Operation) Input(s core.Surface) *core.Schema { return o.op.Input(s) }

// Output returns the schema of the result on a surface.
func (o *Operation) Output(s core.Surface) *core.Schema { return o.op.Output(s) }

// Texts returns the members of the result that hold text on a surface.
func (o *Operation) Texts(s core.Surface) []core.Text { return o.op.Texts(s) }

// CheckAllowed returns nil when the principal may call the operation, or the refusal of the
// scopes or environment rail. Surfaces list only operations that may be called.
func (o *Operation) CheckAllowed(p core.Principal) error {
	if err := missingScope(o.info, p); err != nil {
		return err
	}
	return refuseTestEnvironment(o.info, p)
}
