package closing

import (
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/core/access"
)

// Deleted is the result of deleting a person, or of a dry run.
type Deleted struct {
	Access
	// Tables are the numbers of deleted rows by table.
	Tables []TableRows
}

// PlanDelete returns what Delete would delete. It changes nothing. It also succeeds for a
// last owner; see Access.LastOwnerOf.
func (p People) PlanDelete(ctx context.Context, userID string) (Deleted, error) {
	a, err := p.look(ctx, userID, p.Clock())
	if err != nil {
		return Deleted{}, err
	}
	tables, err := p.Store.CountRows(ctx, userID)
	if err != nil {
		return Deleted{}, fmt.Errorf("count rows: %w", err)
	}
	for _, t := range tables {
		if t.Table == "sessions" {
			a.Sessions = t.Rows
		}
	}
	return Deleted{Access: a, Tables: tables}, nil
}

// Delete deletes a person, who cannot be restored. It revokes the person's grants to
// applications. Audit entries, and records that name the person as their author, keep the
// person's id. It fails with core.CodeNotFound for an unknown person. It fails with
// core.CodeConflict for the last owner of an organization who can sign in.
func (p People) Delete(ctx context.Context, actor access.Actor, userID string, o Options) (Deleted, error) {
	var deleted Deleted
	err := p.Transactor.InTx(ctx, func(ctx context.Context) error {
		if err := p.hold(ctx, userID); err != nil {
			return err
		}
		now := p.Clock()
		a, err := p.look(ctx, userID, now)
		if err != nil {
			return err
		}
		if len(a.LastOwnerOf) > 0 {
			return lastOwnerError(a.LastOwnerOf)
		}
		tables, err := p.Store.CountRows(ctx, userID)
		if err != nil {
			return fmt.Errorf("count rows: %w", err)
		}
		if err := p.endAccess(ctx, actor, &a, o, now); err != nil {
			return err
		}
		if err := p.record(ctx, now, actor, a, "user.deleted", o); err != nil {
			return err
		}
		if _, err := p.Store.DeleteRows(ctx, userID); err != nil {
			return fmt.Errorf("delete rows: %w", err)
		}
		deleted = Deleted{Access: a, Tables: tables}
		return nil
	})
	if err == nil {
		p.forget(deleted.Access)
	}
	return deleted, err
}
