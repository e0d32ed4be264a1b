package audience

import (
	"context"
	"encoding/json"
	"fmt"
)

// Import writes rows as contacts_bulk does, waits for the result and returns the
// outcomes. It takes at most MaxBulkRows. It may be repeated with the same id, which the
// caller chooses: rows stored under it are processed once.
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

// Imported reports whether the rows under an id were stored and all of them are
// processed.
func (a *Audience) Imported(ctx context.Context, orgID, id string) (bool, error) {
	job, err := a.Store.BulkJob(ctx, orgID, id)
	if isNotFound(err) {
		return false, nil
	}
	return job.Status == BulkCompleted, err
}

// TryImport returns the outcomes that Import would have, and changes nothing.
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
			items[row.index].ContactID = "" // the contact is not stored
		}
	}
	return items, nil
}

// AttributeNames returns the names of the registered attributes.
func (a *Audience) AttributeNames(ctx context.Context, orgID string) ([]string, error) {
	all, err := a.Attributes.Attributes(ctx, orgID)
	names := make([]string, len(all))
	for i, attribute := range all {
		names[i] = attribute.Name
	}
	return names, err
}
