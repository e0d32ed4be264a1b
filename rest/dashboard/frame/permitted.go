package frame

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
)

// permissionTransactor is a transactor that checks the visitor's permission or membership
// at the start of each transaction. The visitor may have lost it since the check at the
// start of the request.
type permissionTransactor struct {
	core.Transactor
	require func(context.Context) error
}

// TransactorWith returns a transactor whose transactions first check that the visitor has
// the permission. Otherwise InTx fails with invalid_scope and changes nothing.
func (f *Frame) TransactorWith(v people.Visitor, needs members.Permission) core.Transactor {
	return permissionTransactor{f.Transactor, func(ctx context.Context) error {
		return f.Membership.Require(ctx, access.ActorOf(v.User.ID), v.Org.ID, needs)
	}}
}

// MemberTransactor returns a transactor whose transactions first check that the visitor is
// a member of the organization. Otherwise InTx fails with invalid_scope and changes
// nothing.
func (f *Frame) MemberTransactor(v people.Visitor) core.Transactor {
	return permissionTransactor{f.Transactor, func(ctx context.Context) error {
		return f.Membership.RequireMember(ctx, access.ActorOf(v.User.ID), v.Org.ID)
	}}
}

// InTx checks the permission or membership and then runs fn, in one transaction. Until it
// ends, other transactions that check or change memberships of the organization wait.
func (p permissionTransactor) InTx(ctx context.Context, fn func(context.Context) error) error {
	return p.Transactor.InTx(ctx, func(ctx context.Context) error {
		if err := p.require(ctx); err != nil {
			return err
		}
		return fn(ctx)
	})
}

// Record appends an event to the audit log with the visitor as the actor, in the
// transaction of ctx. detail must marshal to a JSON object; nil is stored as an empty
// object.
func (f *Frame) Record(ctx context.Context, v people.Visitor, action, subject string, detail map[string]any) error {
	if detail == nil {
		detail = map[string]any{}
	}
	text, err := json.Marshal(detail)
	if err != nil {
		return fmt.Errorf("detail of %s: %w", action, err)
	}
	actor := access.ActorOf(v.User.ID)
	return f.Audit.AppendAudit(ctx, access.AuditEvent{
		ID: core.NewID(), OrgID: v.Org.ID, OccurredAt: f.Clock(), Action: action, ActorKind: actor.Kind, ActorID: actor.ID,
		SubjectID: subject, Detail: string(text),
	})
}
