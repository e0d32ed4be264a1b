package bulk

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/consent"
)

// Import writes the rows as contacts_bulk does, waits until the bulk write is complete, and
// returns the outcome of each row. It fails for more than MaxRows rows. The caller chooses
// the id. by says who imports the rows. If a bulk write with this id exists, Import completes
// that bulk write and ignores the parameters by and rows.
func (b *Bulk) Import(ctx context.Context, orgID string, by consent.Source, id string, rows []json.RawMessage) ([]Item, error) {
	if err := checkImportSize(rows); err != nil {
		return nil, err
	}
	err := b.acceptBulk(ctx, orgID, string(by), id, rows)
	if err != nil && !core.IsConflict(err) {
		return nil, err
	}
	did, err := b.finishBulk(ctx, orgID, id)
	if err != nil {
		return nil, err
	}
	job, err := b.Store.BulkJob(ctx, orgID, id)
	if err != nil {
		return nil, err
	}
	if job.Status != Completed {
		return nil, fmt.Errorf("the bulk write %s was abandoned after %d of its %d rows", id, job.Processed, job.Total)
	}
	if len(did) == job.Total {
		return did, nil
	}
	return b.Store.BulkItems(ctx, orgID, id, 0, MaxRows)
}

// IsImported reports whether the bulk write with the id exists and all its rows are
// processed.
func (b *Bulk) IsImported(ctx context.Context, orgID, id string) (bool, error) {
	job, err := b.Store.BulkJob(ctx, orgID, id)
	if core.IsNotFound(err) {
		return false, nil
	}
	return job.Status == Completed, err
}

// IsStarted reports whether the bulk write with the id exists. All its rows will be
// processed, if they are not yet.
func (b *Bulk) IsStarted(ctx context.Context, orgID, id string) (bool, error) {
	_, err := b.Store.BulkJob(ctx, orgID, id)
	if core.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// JoinList puts active contacts on a static list. They stay on their other lists. It fails
// with core.CodeValidationFailed if the list does not exist. It may be repeated.
func (b *Bulk) JoinList(ctx context.Context, orgID, listID string, contactIDs []string) error {
	return b.Transactor.InTx(ctx, func(ctx context.Context) error {
		found, err := b.Lists.Find(ctx, orgID, []string{listID})
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return &core.Error{Code: core.CodeValidationFailed, Message: "The list that the contacts should join does not exist any more."}
		}
		joined, err := b.Contacts.JoinList(ctx, orgID, found[0].ID, contactIDs, b.Clock())
		if err != nil || b.OnChange == nil || len(joined) == 0 {
			return err
		}
		return b.OnChange(ctx, orgID, joined)
	})
}

// checkImportSize fails for more than MaxRows rows. [Bulk.Import] returns the outcomes of at
// most so many.
func checkImportSize(rows []json.RawMessage) error {
	if len(rows) > MaxRows {
		return core.Invalid("rows", fmt.Sprintf("are %d; an import takes at most %d", len(rows), MaxRows))
	}
	return nil
}

// TryImport returns the outcomes that an Import of the rows would have. It writes nothing.
func (b *Bulk) TryImport(ctx context.Context, orgID string, rows []json.RawMessage) ([]Item, error) {
	if err := checkImportSize(rows); err != nil {
		return nil, err
	}
	read, items, err := b.readRows(ctx, orgID, Chunk{Rows: rows})
	if err != nil {
		return nil, err
	}
	state, err := b.loadState(ctx, orgID, "", read)
	if err != nil {
		return nil, err
	}
	for _, row := range read {
		if items[row.index] = state.decide(ctx, row); items[row.index].Status == ItemCreated {
			items[row.index].ContactID = "" // the contact is not stored
		}
	}
	return items, nil
}

// Erased returns those of the email keys that must not become contacts again, because a person
// was erased who must get no mail.
func (b *Bulk) Erased(ctx context.Context, orgID string, keys []string) (map[string]bool, error) {
	if b.ErasedAddresses == nil || len(keys) == 0 {
		return nil, nil
	}
	return b.ErasedAddresses(ctx, orgID, keys)
}

// AttributeNames returns the names of the organization's registered attributes.
func (b *Bulk) AttributeNames(ctx context.Context, orgID string) ([]string, error) {
	all, err := b.Attributes.Attributes(ctx, orgID)
	names := make([]string, len(all))
	for i, attribute := range all {
		names[i] = attribute.Name
	}
	return names, err
}
