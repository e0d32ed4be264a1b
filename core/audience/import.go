package audience

import (
	"context"
	"encoding/json"
	"fmt"
)

// Import does rows as contacts_bulk does them and returns when they are done, with
// what became of each. The id is the caller's: rows that were taken in under it
// before are not done again, and what was left of them is. At most MaxBulkRows.
func (a *Audience) Import(ctx context.Context, orgID, id string, rows []json.RawMessage) ([]BulkItem, error) {
	err := a.acceptBulk(ctx, orgID, "", id, rows)
	if err != nil && !isConflict(err) {
		return nil, err
	}
	did, err := a.finishBulk(ctx, orgID, id)
	if err != nil {
		return nil, err
	}
	job, err := a.Store.BulkJob(ctx, orgID, id)
	if err != nil {
		return nil, err
	}
	if job.Status != BulkCompleted {
		return nil, fmt.Errorf("the bulk write %s was given up after %d of its %d rows", id, job.Processed, job.Total)
	}
	if len(did) == job.Total {
		return did, nil
	}
	return a.Store.BulkItems(ctx, orgID, id, 0, MaxBulkRows)
}

// Imported reports whether rows were taken in under an id and all of them are done.
func (a *Audience) Imported(ctx context.Context, orgID, id string) (bool, error) {
	job, err := a.Store.BulkJob(ctx, orgID, id)
	if isNotFound(err) {
		return false, nil
	}
	return job.Status == BulkCompleted, err
}

// TryImport says what Import would make of the rows, and changes nothing.
func (a *Audience) TryImport(ctx context.Context, orgID string, rows []json.RawMessage) ([]BulkItem, error) {
	read, items, err := a.readRows(ctx, orgID, BulkChunk{Rows: rows})
	if err != nil {
		return nil, err
	}
	state, err := a.loadState(ctx, orgID, read)
	if err != nil {
		return nil, err
	}
	for _, row := range read {
		if items[row.index] = state.decide(ctx, row); items[row.index].Status == ItemCreated {
			items[row.index].ContactID = "" // it is nobody's
		}
	}
	return items, nil
}

// AttributeNames are the registered attributes.
func (a *Audience) AttributeNames(ctx context.Context, orgID string) ([]string, error) {
	all, err := a.Attributes.Attributes(ctx, orgID)
	names := make([]string, len(all))
	for i, attribute := range all {
		names[i] = attribute.Name
	}
	return names, err
}
