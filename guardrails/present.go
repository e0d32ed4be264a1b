package guardrails

import "github.com/mailhelm/mailhelm/core"

// present gives the result the form of the surface. A replayed result passes
// through here too: what a caller may see is decided by this call, not by the
// one that was remembered.
func present(p *passage) Result {
	if p.confirm != nil {
		return Result{Confirm: p.confirm}
	}
	created := false
	if c, ok := p.out.(core.Creator); ok {
		created = c.WasCreated()
	}
	return Result{Value: p.op.View(p.call.Surface, p.out), Created: created, Replayed: p.replayed}
}
