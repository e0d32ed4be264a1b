package lists

import (
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
)

// Definition is the part of a list that a bundle or a repository defines.
type Definition struct{ Key, Name, Description string }

// sourceImport is the source of lists that a bundle or a repository creates.
const sourceImport = "import"

var definitionSchema = core.InputSchema[CreateListIn]()

// Check fails with core.CodeValidationFailed for a definition that lists_create would refuse.
func (d Definition) Check() error {
	if err := definitionSchema.CheckValue(d.input()); err != nil {
		return err
	}
	return checkKey(d.Key)
}

func (d Definition) input() CreateListIn {
	return CreateListIn{Key: d.Key, Name: d.Name, Description: d.Description}
}

// Define creates the list with the key, or replaces its definition. An archived list becomes active
// again, with the members that it had. The transaction of ctx is that of the caller.
func (l *Lists) Define(ctx context.Context, orgID string, d Definition) error {
	if err := d.Check(); err != nil {
		return err
	}
	now := l.Clock()
	held, err := l.Store.List(ctx, orgID, d.Key)
	if core.IsNotFound(err) {
		count, err := l.Store.CountLists(ctx, orgID, "")
		if err != nil {
			return err
		}
		if count >= maxLists {
			return core.Invalid("key", fmt.Sprintf("would exceed the limit of %d lists; delete one first", maxLists))
		}
		return l.Store.InsertList(ctx, orgID, List{
			ID: core.NewID(), Key: d.Key, Name: d.Name, Description: d.Description, Source: sourceImport, Origin: core.ManagedOrigin, Status: statusActive,
			CreatedAt: now, UpdatedAt: now,
		})
	}
	if err != nil {
		return err
	}
	held.Name, held.Description, held.UpdatedAt = d.Name, d.Description, now
	if err := l.Store.UpdateList(ctx, orgID, held); err != nil || held.Status == statusActive {
		return err
	}
	held.Status = statusActive
	return l.Store.SetListStatus(ctx, orgID, held)
}

// Archive archives the list with the key, which keeps its members. Segments that test it become
// invalid. It does nothing if there is no such active list. The transaction of ctx is that of the caller.
func (l *Lists) Archive(ctx context.Context, orgID, key string) error {
	held, err := l.Store.List(ctx, orgID, key)
	if core.IsNotFound(err) || err == nil && held.Status == statusArchived {
		return nil
	}
	if err != nil {
		return err
	}
	if l.Deletes != nil {
		if err := l.Deletes(ctx, orgID, []string{held.ID}); err != nil {
			return err
		}
	}
	held.Status, held.UpdatedAt = statusArchived, l.Clock()
	return l.Store.SetListStatus(ctx, orgID, held)
}
