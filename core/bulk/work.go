package bulk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/consent"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/lists"
)

const (
	// bulkEvery is the interval of the periodic run, which resumes bulk writes whose queued
	// job was lost.
	bulkEvery   = time.Minute
	bulkTimeout = 10 * time.Minute
	// bulkAttempts is the number of consecutive failures of a chunk after which the bulk
	// write gets the status failed.
	bulkAttempts = 10
	// bulkKept is how long a bulk write is stored after its end.
	bulkKept  = 7 * 24 * time.Hour
	bulkPurge = 100
)

// Args has the bulk write that a job processes. A job with empty Args resumes all
// unfinished bulk writes and deletes old ones.
type Args struct {
	OrgID string `json:"org_id,omitempty"`
	JobID string `json:"job_id,omitempty"`
}

// Kind returns the name of the job that processes bulk writes.
func (Args) Kind() string { return "contacts_bulk" }

// BulkWorker returns the job that processes bulk writes.
func (b *Bulk) BulkWorker() jobs.Worker[Args] {
	return jobs.Worker[Args]{Work: b.workBulk, Every: bulkEvery, Timeout: bulkTimeout}
}

func (b *Bulk) workBulk(ctx context.Context, args Args) error {
	if args.JobID != "" {
		_, err := b.finishBulk(ctx, args.OrgID, args.JobID)
		return err
	}
	return jobs.ForEachOrg(ctx, "", b.Orgs, "bulk writes", func(ctx context.Context, org string) error {
		forgotten, err := b.Store.DeleteBulkJobs(ctx, org, b.Clock().Add(-bulkKept), bulkPurge)
		if err != nil {
			return err
		}
		if forgotten > 0 {
			b.Log.InfoContext(ctx, "old bulk writes deleted", "org_id", org, "jobs", forgotten)
		}
		open, err := b.Store.OpenBulkJobs(ctx, org)
		for _, id := range open {
			_, failed := b.finishBulk(ctx, org, id)
			err = errors.Join(err, failed)
		}
		return err
	})
}

// finishBulk processes the remaining chunks of a bulk write, and returns the outcomes of
// the chunks that this call processed. It may be interrupted and repeated, also by several
// processes at once: the transaction that stores a chunk's contacts and outcomes locks the
// bulk write.
func (b *Bulk) finishBulk(ctx context.Context, org, id string) ([]Item, error) {
	var did []Item
	chunks := &chunkReader{bulk: b, org: org, job: id}
	defer chunks.close()
	for {
		job, err := b.Store.BulkJob(ctx, org, id)
		if core.IsNotFound(err) {
			return did, nil // the job was deleted since
		}
		if err != nil || job.CompletedAt != nil {
			return did, err
		}
		outcomes, err := b.bulkStep(ctx, org, job, chunks)
		if err != nil {
			if ctx.Err() != nil {
				return did, context.Cause(ctx)
			}
			return did, errors.Join(err, b.noteBulkFailure(ctx, org, id, err))
		}
		did = append(did, outcomes...)
	}
}

// bulkStep processes the chunk that begins at job.Processed, unless another process has
// already done so. While it writes the chunk, it reads the next one.
func (b *Bulk) bulkStep(ctx context.Context, org string, job Job, chunks *chunkReader) ([]Item, error) {
	chunk, err := chunks.chunk(ctx, job.Processed)
	if err != nil {
		return nil, err
	}
	if next := chunk.first + len(chunk.items); next < job.Total {
		chunks.prefetch(ctx, next)
	}
	var after Job
	var outcomes []Item
	err = b.Transactor.InTx(ctx, func(ctx context.Context) error {
		after, outcomes = Job{}, nil // the transaction may run again
		locked, err := b.Store.BulkJob(ctx, org, job.ID)
		if err != nil || locked.CompletedAt != nil || locked.Processed != job.Processed {
			return err
		}
		outcomes = slices.Clone(chunk.items)
		if err := b.writeRows(ctx, org, locked.source(), chunk.rows, outcomes, chunk.first); err != nil {
			return err
		}
		if err := b.reportWritten(ctx, org, locked.Caller, outcomes); err != nil {
			return err
		}
		if err := b.Store.FinishBulkChunk(ctx, org, job.ID, chunk.first, outcomes); err != nil {
			return err
		}
		locked.count(outcomes, b.Clock())
		after = locked
		return b.Store.UpdateBulkJob(ctx, org, locked)
	})
	if err == nil && after.ID != "" {
		b.observeBulk(ctx, org, job, after)
	}
	return outcomes, err
}

// reportWritten calls Config.OnWrite with the contacts that a chunk changed.
func (b *Bulk) reportWritten(ctx context.Context, org, caller string, outcomes []Item) error {
	if _, _, called := consent.Source(caller).Caller(); b.OnWrite == nil || !called {
		return nil
	}
	ids := make([]string, 0, len(outcomes))
	for _, item := range outcomes {
		if item.Status != ItemFailed {
			ids = append(ids, item.ContactID)
		}
	}
	return b.OnWrite(ctx, org, caller, ids)
}

// count adds the outcomes of a chunk to the job's counts, and completes the job after its
// last row.
func (j *Job) count(outcomes []Item, now time.Time) {
	for _, item := range outcomes {
		j.Processed++
		if item.Status == ItemFailed {
			j.Failed++
		} else {
			j.Succeeded++
		}
	}
	j.Attempts, j.Status = 0, Processing
	if j.Processed >= j.Total {
		j.Status, j.CompletedAt = Completed, &now
	}
}

func (b *Bulk) observeBulk(ctx context.Context, org string, before, after Job) {
	if b.Observe != nil {
		b.Observe("bulk_row", "stored", after.Succeeded-before.Succeeded)
		b.Observe("bulk_row", "failed", after.Failed-before.Failed)
	}
	if after.CompletedAt != nil {
		b.Log.InfoContext(ctx, "bulk write finished", "org_id", org, "job_id", after.ID, "status", after.Status,
			"rows", after.Total, "succeeded", after.Succeeded, "failed", after.Failed, "took", after.CompletedAt.Sub(after.CreatedAt))
	}
}

// noteBulkFailure counts a failed attempt to process a chunk of a bulk write. After
// bulkAttempts failures without a success between them, it sets the bulk write's status to
// Failed.
func (b *Bulk) noteBulkFailure(ctx context.Context, org, id string, failure error) error {
	return b.Transactor.InTx(ctx, func(ctx context.Context) error {
		job, err := b.Store.BulkJob(ctx, org, id)
		if err != nil || job.CompletedAt != nil {
			return err
		}
		if job.Attempts++; job.Attempts >= bulkAttempts {
			now := b.Clock()
			job.Status, job.CompletedAt = Failed, &now
			b.Log.ErrorContext(ctx, "bulk write abandoned", "org_id", org, "job_id", id, "processed", job.Processed, "rows", job.Total, "error", failure)
		}
		return b.Store.UpdateBulkJob(ctx, org, job)
	})
}

// readRows parses the rows of a chunk and checks them without reading the contacts. It
// returns the valid rows. It also returns one outcome for each row, which is set for
// invalid rows and empty for valid ones.
func (b *Bulk) readRows(ctx context.Context, org string, chunk Chunk) ([]readRow, []Item, error) {
	r := &rowReader{bulk: b, org: org}
	items := make([]Item, len(chunk.Rows))
	parsed := make([]Row, len(chunk.Rows))
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

// rowReader checks rows against the attributes, topics and static lists of the
// organization.
type rowReader struct {
	bulk     *Bulk
	org      string
	registry attributes.Registry
	topics   []string          // names, sorted
	lists    map[string]string // ids of static lists, by id and by key
}

// load reads the attributes and topics of the organization if a row uses them, and the
// static lists that rows name.
func (r *rowReader) load(ctx context.Context, rows []Row) error {
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
		if r.registry, err = r.bulk.registry(ctx, r.org); err != nil {
			return err
		}
	}
	if topics {
		known, err := r.bulk.Topics.Topics(ctx, r.org)
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
	found, err := r.bulk.Lists.Find(ctx, r.org, refs)
	for _, l := range found {
		r.lists[l.Key] = l.ID
	}
	for _, l := range found {
		r.lists[l.ID] = l.ID
	}
	return err
}

// read checks one row and returns it with the contacts.Plan (the description of a write)
// made from it.
func (r *rowReader) read(row Row) (readRow, error) {
	read := readRow{plan: contacts.Plan{
		Way: contacts.Upserting, Claim: row.claim(), Attributes: row.Attributes, Topics: row.TopicPreferences, Stated: row.Stated,
	}}
	if len(row.Attributes) > 0 {
		if coerced, err := r.registry.Coerce(row.Attributes, nil); err != nil {
			read.misfit, read.registry = err, r.registry
		} else {
			read.plan.Attributes = coerced
		}
	}
	if faults := row.TopicPreferences.UnknownTopicFaults(r.topics); faults != nil {
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
			faults = append(faults, core.FieldError{Field: fmt.Sprintf("lists.%d", i), Reason: "is not a static list of this organization"})
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

// writeRows applies the rows in order and writes the changed contacts. It stores each row's
// outcome in the slice outcomes. The parameter first is the index of the row to which
// outcomes[0] belongs.
func (b *Bulk) writeRows(ctx context.Context, org string, by consent.Source, rows []readRow, outcomes []Item, first int) error {
	if err := b.applyRows(ctx, org, by, rows, outcomes, first); err != nil {
		return err
	}
	return b.withholdErased(ctx, org, outcomes)
}

// ErasedOutcome returns the outcome of a refused row of a person who was erased and must get no
// mail. It has nothing of what the row says.
func ErasedOutcome(index int) Item {
	return failedItem(index, contacts.Claim{}, contacts.ErasedRefusal())
}

// withholdErased removes what the caller sent about erased persons from the outcomes of refused
// rows, because outcomes are stored for days. The index tells the caller which row it is.
func (b *Bulk) withholdErased(ctx context.Context, org string, outcomes []Item) error {
	if b.ErasedAddresses == nil {
		return nil
	}
	var keys []string
	for _, item := range outcomes {
		if item.Status == ItemFailed && item.Email != "" {
			keys = append(keys, contacts.EmailKey(item.Email))
		}
	}
	if len(keys) == 0 {
		return nil
	}
	erased, err := b.ErasedAddresses(ctx, org, keys)
	for i, item := range outcomes {
		if item.Status == ItemFailed && erased[contacts.EmailKey(item.Email)] {
			outcomes[i] = ErasedOutcome(item.Index)
		}
	}
	return err
}

// applyRows decides the rows, stores the contacts, and sets the outcomes.
func (b *Bulk) applyRows(ctx context.Context, org string, by consent.Source, rows []readRow, outcomes []Item, first int) error {
	state, err := b.loadState(ctx, org, by, rows)
	if err != nil || len(rows) == 0 {
		return err
	}
	for _, row := range rows {
		if state.waits(row.plan.Claim) {
			if err := b.writeState(ctx, org, state); err != nil {
				return err
			}
		}
		outcomes[row.index-first] = state.decide(ctx, row)
	}
	return b.writeState(ctx, org, state)
}

// loadState reads every contact that the rows name by address or external id.
func (b *Bulk) loadState(ctx context.Context, org string, by consent.Source, rows []readRow) (*bulkState, error) {
	var keys, externalIDs []string
	for _, row := range rows {
		if row.plan.Claim.Email != "" {
			keys = append(keys, contacts.EmailKey(row.plan.Claim.Email))
		}
		if row.plan.Claim.ExternalID != "" {
			externalIDs = append(externalIDs, row.plan.Claim.ExternalID)
		}
	}
	known, err := b.Contacts.ContactsByKeys(ctx, org, keys, externalIDs)
	state := newBulkState(b.Clock(), by, known)
	if err == nil && b.ErasedAddresses != nil {
		state.erased, err = b.ErasedAddresses(ctx, org, keys)
	}
	return state, err
}

func (b *Bulk) writeState(ctx context.Context, org string, state *bulkState) error {
	if len(state.touched) == 0 {
		return nil
	}
	w := state.takeWrite()
	if err := b.Contacts.WriteContacts(ctx, org, w); err != nil {
		return err
	}
	if ids := w.ids(); b.OnChange != nil && len(ids) > 0 {
		return b.OnChange(ctx, org, ids)
	}
	return nil
}
