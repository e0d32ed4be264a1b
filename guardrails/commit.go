package guardrails

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// prepare calls the operation's method Prepare, which may use the network, before a
// transaction begins. If a Git repository owns the definition that a write would change,
// prepare opens a pull request instead.
func prepare(ctx context.Context, p *passage) error {
	if p.byPullRequest {
		if err := p.propose(ctx); err != nil {
			return err
		}
		return p.next(ctx)
	}
	in, err := p.op.Prepare(ctx, p.call, p.in)
	if err != nil {
		return err
	}
	p.in = in
	return p.next(ctx)
}

// commit runs the operation. A read runs without a transaction. A write runs in a
// transaction that also stores its audit line, its jobs and its result for replays.
func commit(ctx context.Context, p *passage) error {
	if p.info.Effect == core.Reads {
		out, err := p.op.Do(ctx, p.call, p.in)
		p.out = out
		return err
	}
	in := ctx
	if p.spend != nil {
		in = core.Snapshot(ctx)
	}
	err := p.guard.Transactor.InTx(in, p.write)
	if err != nil {
		return err
	}
	if p.reservation != nil {
		p.reservation.stored = true
	}
	if p.spend != nil {
		p.guard.metrics.confirmations.WithLabelValues(p.info.Name, "accepted").Inc()
	}
	return nil
}

// write runs a write operation inside the transaction. The transactor may call it more than
// once; see core.Transactor.
func (p *passage) write(ctx context.Context) error {
	if err := p.spendConfirmation(ctx); err != nil {
		return err
	}
	if err := p.confirmAgain(ctx); err != nil {
		return err
	}
	if !p.byPullRequest { // a proposed change takes effect when its pull request is merged
		out, err := p.op.Do(ctx, p.call, p.in)
		if err != nil {
			return err
		}
		p.out = out
		if err := p.supersede(ctx); err != nil {
			return err
		}
	}
	if !p.call.IsLogged() {
		if err := p.guard.Audit.AppendAudit(ctx, auditLine(p)); err != nil {
			return err
		}
	}
	return p.remember(ctx)
}

func auditLine(p *passage) access.AuditEvent {
	caller := p.call.Principal
	return access.AuditEvent{
		ID: core.NewID(), OrgID: caller.Org.ID, OccurredAt: p.call.Now,
		Action: p.info.Name, ActorKind: string(caller.Credential.Kind), ActorID: caller.Credential.ID,
		Surface: p.call.Surface, SubjectID: p.call.Subject(), RequestID: p.call.RequestID, Detail: "{}",
	}
}
