package guardrails

import "github.com/mailhelm/mailhelm/core"

// present returns the result of the call in the form of its surface (REST or agent), or the
// confirmation that the call needs. A replayed result is converted too, because results are
// stored before this conversion.
func present(p *passage) Result {
	if p.confirm != nil {
		return Result{Confirm: p.confirm}
	}
	created := false
	if c, ok := p.out.(core.Creator); ok {
		created = c.WasCreated()
	}
	result := Result{Value: p.op.View(p.call.Surface, p.out), Created: created, Replayed: p.replayed}
	result.ReplicaLag, result.FromReplica = p.replica.Lag()
	return result
}
