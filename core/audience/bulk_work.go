package audience

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/lists"
)

const (
	// bulkEvery is the longest time until a bulk write whose job was lost is resumed.
	bulkEvery   = time.Minute
	bulkTimeout = 10 * time.Minute
	// bulkAttempts is how many failures of one chunk in a row end a bulk write as
	// failed.
	bulkAttempts = 10
	// bulkKept is how long a finished bulk write can be read.
	bulkKept  = 7 * 24 * time.Hour
	bulkPurge = 100
)

// BulkArgs names the bulk write to process. Empty arguments resume all unfinished bulk
// writes and delete old ones.
type BulkArgs struct {
	OrgID string `json:"org_id,omitempty"`
	JobID string `json:"job_id,omitempty"`
}

// Kind returns the name of the job.
func (BulkArgs) Kind() string { return "contacts_bulk" }

// BulkWorker returns the worker that processes bulk writes.
func (a *Audience) BulkWorker() jobs.Worker[BulkArgs] {
	return jobs.Worker[BulkArgs]{Work: a.workBulk, Every: bulkEvery, Timeout: bulkTimeout}
}

func (a *Audience) workBulk(ctx context.Context, args BulkArgs) error {
	if args.JobID != "" {
		_, err := a.finishBulk(ctx, args.OrgID, args.JobID)
		return err
	}
	return jobs.ForEachOrg(ctx, "", a.Orgs, "bulk writes", func(ctx context.Context, org string) error {
		forgotten, err := a.Store.DeleteBulkJobs(ctx, org, a.Clock().Add(-bulkKept), bulkPurge)
		if err != nil {
			return err
		}
		if forgotten > 0 {
			a.Log.InfoContext(ctx, "old bulk writes forgotten", "org_id", org, "jobs", forgotten)
		}
		open, err := a.Store.OpenBulkJobs(ctx, org)
		for _, id := range open {
			_, failed := a.finishBulk(ctx, org, id)
			err = errors.Join(err, failed)
		}
		return err
	})
}

// finishBulk processes the rest of a bulk write, chunk by chunk. It may be interrupted
// and repeated, also by several processes at once: one transaction locks the job and
// stores a chunk's contacts and outcomes. It returns the outcomes of the chunks that
// this call processed.
func (a *Audience) finishBulk(ctx context.Context, org, id string) ([]BulkItem, error) {
	var did []BulkItem
	chunks := &chunkReader{audience: a, org: org, job: id}
	defer chunks.close()
	for {
		job, err := a.Store.BulkJob(ctx, org, id)
		if isNotFound(err) {
			return did, nil // the job was deleted since
		}
		if err != nil || job.CompletedAt != nil {
			return did, err
		}
		outcomes, err := a.bulkStep(ctx, org, job, chunks)
		if err != nil {
			if ctx.Err() != nil {
				return did, context.Cause(ctx)
			}
			return did, errors.Join(err, a.noteBulkFailure(ctx, org, id, err))
		}
		did = append(did, outcomes...)
	}
}

// bulkStep processes the chunk at job.Processed, unless another process has done so.
// While it writes, it reads the next chunk.
func (a *Audience) bulkStep(ctx context.Context, org string, job BulkJob, chunks *chunkReader) ([]BulkItem, error) {
	chunk, err := chunks.chunk(ctx, job.Processed)
	if err != nil {
		return nil, err
	}
	if next := chunk.first + len(chunk.items); next < job.Total {
		chunks.ahead(ctx, next)
	}
	var after BulkJob
	var outcomes []BulkItem
	err = a.Transactor.InTx(ctx, func(ctx context.Context) error {
		after, outcomes = BulkJob{}, nil // the transaction may run again
		locked, err := a.Store.BulkJob(ctx, org, job.ID)
		if err != nil || locked.CompletedAt != nil || locked.Processed != job.Processed {
			return err
		}
		outcomes = slices.Clone(chunk.items)
		if err := a.writeRows(ctx, org, chunk.rows, outcomes, chunk.first); err != nil {
			return err
		}
		if err := a.written(ctx, org, locked.Caller, outcomes); err != nil {
			return err
		}
		if err := a.Store.FinishBulkChunk(ctx, org, job.ID, chunk.first, outcomes); err != nil {
			return err
		}
		locked.count(outcomes, a.Clock())
		after = locked
		return a.Store.UpdateBulkJob(ctx, org, locked)
	})
	if err == nil && after.ID != "" {
		a.observeBulk(ctx, org, job, after)
	}
	return outcomes, err
}

// written reports the contacts that a chunk changed to Config.Written.
func (a *Audience) written(ctx context.Context, org, caller string, outcomes []BulkItem) error {
	if a.Written == nil || caller == "" {
		return nil
	}
	ids := make([]string, 0, len(outcomes))
	for _, item := range outcomes {
		if item.Status != ItemFailed {
			ids = append(ids, item.ContactID)
		}
	}
	return a.Written(ctx, org, caller, ids)
}

// count adds a chunk's outcomes to the job.
func (j *BulkJob) count(outcomes []BulkItem, now time.Time) {
	for _, item := range outcomes {
		j.Processed++
		if item.Status == ItemFailed {
			j.Failed++
		} else {
			j.Succeeded++
		}
	}
	j.Attempts, j.Status = 0, BulkProcessing
	if j.Processed >= j.Total {
		j.Status, j.CompletedAt = BulkCompleted, &now
	}
}

func (a *Audience) observeBulk(ctx context.Context, org string, before, after BulkJob) {
	if a.Observe != nil {
		a.Observe("bulk_row", "stored", after.Succeeded-before.Succeeded)
		a.Observe("bulk_row", "failed", after.Failed-before.Failed)
	}
	if after.CompletedAt != nil {
		a.Log.InfoContext(ctx, "bulk write finished", "org_id", org, "job_id", after.ID, "status", after.Status,
			"rows", after.Total, "succeeded", after.Succeeded, "failed", after.Failed, "took", after.CompletedAt.Sub(after.CreatedAt))
	}
}

// noteBulkFailure counts a failed attempt at a chunk. After bulkAttempts failures it
// marks the job as failed.
func (a *Audience) noteBulkFailure(ctx context.Context, org, id string, failure error) error {
	return a.Transactor.InTx(ctx, func(ctx context.Context) error {
		job, err := a.Store.BulkJob(ctx, org, id)
		if err != nil || job.CompletedAt != nil {
			return err
		}
		if job.Attempts++; job.Attempts >= bulkAttempts {
			now := a.Clock()
			job.Status, job.CompletedAt = BulkFailed, &now
			a.Log.ErrorContext(ctx, "bulk write given up", "org_id", org, "job_id", id, "processed", job.Processed, "rows", job.Total, "error", failure)
		}
		return a.Store.UpdateBulkJob(ctx, org, job)
	})
}

// readRows parses the rows of a chunk and checks them without reading the contacts. It
// returns the valid rows, and the items with the outcomes of the invalid ones.
func (a *Audience) readRows(ctx context.Context, org string, chunk BulkChunk) ([]readRow, []BulkItem, error) {
	r := &rowReader{audience: a, org: org}
	items := make([]BulkItem, len(chunk.Rows))
	parsed := make([]BulkRow, len(chunk.Rows))
	for i, raw := range chunk.Rows {
		row, err := parseBulkRow(raw)
		if err != nil {
			items[i] = failedItem(chunk.First+i, row.claim(), err)
		}
		parsed[i] = row
	}
	if err := r.load(ctx, parsed); err != nil {
		return nil, nil, err
	}
	rows := make([]readRow, 0, len(parsed))
	for i, row := range parsed {
		if items[i].Status == ItemFailed {
			continue
		}
		read, err := r.read(row)
		if err != nil {
			items[i] = failedItem(chunk.First+i, row.claim(), err)
			continue
		}
		read.index = chunk.First + i
		rows = append(rows, read)
	}
	return rows, items, nil
}

// rowReader checks rows against the attributes, topics and lists of the organization.
type rowReader struct {
	audience *Audience
	org      string
	registry attributes.Registry
	topics   []string          // names, sorted
	lists    map[string]string // ids by id and by key
}

// load reads the attributes, topics and lists that the rows name.
func (r *rowReader) load(ctx context.Context, rows []BulkRow) error {
	attributes, topics, names := false, false, map[string]bool{}
	for _, row := range rows {
		attributes = attributes || len(row.Attributes) > 0
		topics = topics || len(row.TopicPreferences) > 0
		if row.Lists != nil {
			for _, name := range *row.Lists {
				names[name] = true
			}
		}
	}
	var err error
	if attributes {
		if r.registry, err = r.audience.readRegistry(ctx, r.org); err != nil {
			return err
		}
	}
	if topics {
		known, err := r.audience.Topics.Topics(ctx, r.org)
		if err != nil {
			return err
		}
		for _, t := range known {
			r.topics = append(r.topics, t.Name)
		}
		slices.Sort(r.topics)
	}
	return r.loadLists(ctx, names)
}

func (r *rowReader) loadLists(ctx context.Context, names map[string]bool) error {
	r.lists = map[string]string{}
	if len(names) == 0 {
		return nil
	}
	refs := make([]string, 0, len(names))
	for name := range names {
		refs = append(refs, name)
	}
	found, err := r.audience.Lists.Find(ctx, r.org, refs)
	for _, l := range found {
		r.lists[l.Key] = l.ID
	}
	for _, l := range found {
		r.lists[l.ID] = l.ID
	}
	return err
}

// read checks one row and returns its plan.
func (r *rowReader) read(row BulkRow) (readRow, error) {
	read := readRow{plan: Plan{
		Way: Upserting, Claim: row.claim(), Attributes: row.Attributes, Topics: row.TopicPreferences, Stated: row.Stated,
	}}
	if len(row.Attributes) > 0 {
		if coerced, err := r.registry.Coerce(row.Attributes, nil); err != nil {
			read.misfit, read.registry = err, r.registry
		} else {
			read.plan.Attributes = coerced
		}
	}
	if faults := row.TopicPreferences.Unknown(r.topics); faults != nil {
		return read, core.InvalidFields(faults...)
	}
	if row.Lists == nil {
		return read, nil
	}
	ids := make([]string, 0, len(*row.Lists))
	var faults []core.FieldError
	for i, name := range *row.Lists {
		id, known := r.lists[name]
		if !known {
			faults = append(faults, core.FieldError{Field: fmt.Sprintf("lists.%d", i), Reason: "is no static list of this organization"})
		}
		ids = append(ids, id)
	}
	if faults != nil {
		return read, core.InvalidFields(faults...)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	read.plan.Lists = &lists.Change{Exactly: true, Join: ids}
	return read, nil
}

// writeRows decides the rows in order and writes the results. It stores each outcome in
// outcomes, whose first element belongs to the row with the index first.
func (a *Audience) writeRows(ctx context.Context, org string, rows []readRow, outcomes []BulkItem, first int) error {
	state, err := a.loadState(ctx, org, rows)
	if err != nil || len(rows) == 0 {
		return err
	}
	for _, row := range rows {
		if state.waits(row.plan.Claim) {
			if err := a.writeState(ctx, org, state); err != nil {
				return err
			}
		}
		outcomes[row.index-first] = state.decide(ctx, row)
	}
	return a.writeState(ctx, org, state)
}

// loadState reads every contact that the rows name.
func (a *Audience) loadState(ctx context.Context, org string, rows []readRow) (*bulkState, error) {
	var keys, externalIDs []string
	for _, row := range rows {
		if row.plan.Claim.Email != "" {
			keys = append(keys, EmailKey(row.plan.Claim.Email))
		}
		if row.plan.Claim.ExternalID != "" {
			externalIDs = append(externalIDs, row.plan.Claim.ExternalID)
		}
	}
	known, err := a.Store.ContactsNamed(ctx, org, keys, externalIDs)
	return newBulkState(a.Clock(), known), err
}

func (a *Audience) writeState(ctx context.Context, org string, state *bulkState) error {
	if len(state.touched) == 0 {
		return nil
	}
	w := state.written()
	if err := a.Store.WriteContacts(ctx, org, w); err != nil {
		return err
	}
	return a.changed(ctx, org, w.ids()...)
}
