package closing

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
)

// Organizations deletes and restores organizations. Each operation and its audit entry are one
// transaction that locks the organization. The operator may do both, and so may its owners,
// after a proof of identity that the caller demands.
type Organizations struct {
	Store      OrgStore
	Orgs       Orgs
	Members    OrgMembers
	Audit      access.AuditAppender
	Transactor core.Transactor
	Clock      core.Clock
	// Forget removes the cached principals of an organization in this process. It is nil in a
	// process that authenticates no callers.
	Forget func(orgID string)
}

// deletionDetail is the audit detail of the deletion of an organization.
type deletionDetail struct {
	EraseAt time.Time `json:"erase_at"`
}

// Delete marks an organization as deleted. From then on its credentials are refused, its pages
// show only that it was deleted, and no mail is sent or received. Links with which recipients
// unsubscribe still work. After [core.DeletionWait], all its data is erased.
//
// It fails with core.CodeInvalidScope for a person who is not an owner, and with
// core.CodeConflict for an organization that was deleted before.
func (o Organizations) Delete(ctx context.Context, actor access.Actor, orgID string) (core.Org, error) {
	return o.change(ctx, actor, orgID, func(ctx context.Context, org *core.Org, now time.Time) error {
		if org.IsDeleted() {
			return core.Conflict("The organization "+org.Slug+" was deleted before.", "Restore it, or wait until its data is erased.")
		}
		if err := o.Store.SetDeleted(ctx, orgID, &now); err != nil {
			return fmt.Errorf("delete organization: %w", err)
		}
		if err := o.Store.WithdrawRoutes(ctx, orgID); err != nil {
			return fmt.Errorf("withdraw routes: %w", err)
		}
		org.DeletedAt = &now
		return o.record(ctx, now, actor, *org, "org.deleted")
	})
}

// Restore undoes Delete. Credentials, scheduled mail and received mail continue as before. It
// fails with core.CodeInvalidScope for a person who is not an owner. It fails with
// core.CodeConflict for an organization that is not deleted, or whose data is being erased.
func (o Organizations) Restore(ctx context.Context, actor access.Actor, orgID string) (core.Org, error) {
	return o.change(ctx, actor, orgID, func(ctx context.Context, org *core.Org, now time.Time) error {
		if !org.IsDeleted() {
			return core.Conflict("The organization "+org.Slug+" is not deleted.", "There is nothing to restore.")
		}
		erasing, err := o.Store.IsErasing(ctx, orgID)
		if err != nil {
			return fmt.Errorf("state of organization: %w", err)
		}
		if erasing {
			return core.Conflict("The data of the organization "+org.Slug+" is being erased.", "Create a new organization. An export from before the deletion has the data.")
		}
		if err := o.Store.RestoreRoutes(ctx, orgID); err != nil {
			return fmt.Errorf("restore routes: %w", err)
		}
		if err := o.Store.SetDeleted(ctx, orgID, nil); err != nil {
			return fmt.Errorf("restore organization: %w", err)
		}
		org.DeletedAt = nil
		return o.record(ctx, now, actor, *org, "org.restored")
	})
}

// change calls do in a transaction that locks the organization, after checking that the actor
// is the operator or an owner.
func (o Organizations) change(
	ctx context.Context, actor access.Actor, orgID string, do func(ctx context.Context, org *core.Org, now time.Time) error,
) (core.Org, error) {
	var changed core.Org
	err := o.Transactor.InTx(ctx, func(ctx context.Context) error {
		if err := o.Members.HoldMembers(ctx, orgID); err != nil {
			return err
		}
		if err := o.requireOwner(ctx, actor, orgID); err != nil {
			return err
		}
		org, err := o.Orgs.Org(ctx, orgID)
		if err != nil {
			return err
		}
		if err := do(ctx, &org, o.Clock()); err != nil {
			return err
		}
		changed = org
		return nil
	})
	if err == nil && o.Forget != nil {
		o.Forget(orgID)
	}
	return changed, err
}

// requireOwner fails with invalid_scope for a person who is not an owner of the organization.
func (o Organizations) requireOwner(ctx context.Context, actor access.Actor, orgID string) error {
	if actor.Kind == access.Operator {
		return nil
	}
	member, err := o.Members.Member(ctx, orgID, actor.ID)
	if err != nil && !core.IsNotFound(err) {
		return err
	}
	if err != nil || member.Role != members.Owner {
		return &core.Error{Code: core.CodeInvalidScope, Message: "Only an owner can delete or restore the organization.", Next: "Ask an owner."}
	}
	return nil
}

// record adds an event to the organization's audit log.
func (o Organizations) record(ctx context.Context, now time.Time, actor access.Actor, org core.Org, action string) error {
	e := access.AuditEntry{Actor: actor, Action: action, OrgID: org.ID, Subject: org.ID}
	if org.IsDeleted() {
		e.Detail = deletionDetail{org.EraseAt()}
	}
	return access.RecordAudit(ctx, o.Audit, now, e)
}
