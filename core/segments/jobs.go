package segments

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/sending"
)

// The intervals of the jobs.
const (
	FollowEvery = 10 * time.Second
	SweepEvery  = 3 * time.Hour
)

const (
	// touchedAtOnce is the number of changed contacts that the job FollowWorker evaluates in
	// one round. After touchedRounds rounds for one organization, the job continues with the
	// next organization.
	touchedAtOnce = 1000
	touchedRounds = 20
)

// FollowArgs has the arguments of the job that evaluates changed contacts.
type FollowArgs struct {
	// OrgID is the organization whose contacts are evaluated; empty means all organizations.
	OrgID string `json:"org_id,omitempty"`
}

// Kind returns the name of the job.
func (FollowArgs) Kind() string { return "segments_follow" }

// SweepArgs has the arguments of the job that evaluates all contacts for all segments.
type SweepArgs struct {
	// OrgID is the organization whose contacts are evaluated; empty means all organizations.
	OrgID string `json:"org_id,omitempty"`
}

// Kind returns the name of the job that evaluates all contacts for segments.
func (SweepArgs) Kind() string { return "segments_sweep" }

// Org returns the id of the organization, or "" for all; see [jobs.OrgArgs].
func (a SweepArgs) Org() string { return a.OrgID }

// ObserveChange stores that contacts were written or had an activity, so that
// [Segments.Follow] evaluates them. Call it in the transaction of the change.
func (s *Segments) ObserveChange(ctx context.Context, orgID string, contactIDs []string) error {
	if len(contactIDs) == 0 {
		return nil
	}
	return s.Changes.Touch(ctx, orgID, contactIDs)
}

// ObserveEvents stores that the recipients of the events have changed, so that a job
// evaluates them again for all segments; see [messages.Recorder].
func (s *Segments) ObserveEvents(ctx context.Context, orgID string, events []messages.Event) error {
	keys := make([]string, len(events))
	for i, e := range events {
		keys[i] = core.EmailKey(e.Recipient)
	}
	slices.Sort(keys)
	return s.Changes.TouchRecipients(ctx, orgID, slices.Compact(keys))
}

// ActivityProperties returns the properties of activities that predicates of the
// organization may test, with their types.
func (s *Segments) ActivityProperties(ctx context.Context, orgID string) (map[predicate.ActivityProperty]predicate.Type, error) {
	schema, err := s.Store.PredicateSchema(ctx, orgID)
	return schema.Properties, err
}

// FollowWorker returns the job that evaluates changed contacts for all segments, and all
// contacts for segments that were saved.
func (s *Segments) FollowWorker() jobs.Worker[FollowArgs] {
	work := func(ctx context.Context, args FollowArgs) error {
		return jobs.ForEachOrg(ctx, args.OrgID, s.Orgs, "segments", s.Follow)
	}
	return jobs.Worker[FollowArgs]{Work: work, Every: FollowEvery, Timeout: 10 * time.Minute}
}

// SweepWorker returns the job that evaluates all contacts for all segments.
func (s *Segments) SweepWorker() jobs.Worker[SweepArgs] {
	work := func(ctx context.Context, args SweepArgs) error {
		return jobs.ForEachOrg(ctx, args.OrgID, s.Orgs, "sweep of segments", s.Sweep)
	}
	return jobs.Worker[SweepArgs]{Work: work, Every: SweepEvery, Timeout: time.Hour}
}

// Follow evaluates all contacts of an organization for its stale segments, such as those
// that were saved. Then it evaluates the organization's changed contacts for all segments.
func (s *Segments) Follow(ctx context.Context, orgID string) error {
	e := evaluator{s.Config}
	definitions, err := e.definitions(ctx, orgID)
	if err != nil {
		return err
	}
	failures := []error{e.sweepAll(ctx, orgID, definitions, func(d definition) bool { return d.Stale })}
	for range touchedRounds {
		// Read the ids of changed contacts before the definitions. If a segment is saved
		// after its definition was read, all contacts are evaluated for it anyway.
		notes, err := s.Changes.Touches(ctx, orgID, touchedAtOnce)
		if err == nil && len(notes) == 0 {
			break
		}
		if err == nil {
			definitions, err = e.definitions(ctx, orgID)
		}
		if err == nil {
			err = e.settle(ctx, orgID, definitions, notes)
		}
		if err != nil {
			return errors.Join(append(failures, err)...)
		}
	}
	return errors.Join(failures...)
}

// sweepAll evaluates all contacts for each segment for which the function due returns true.
func (e evaluator) sweepAll(ctx context.Context, orgID string, definitions []definition, due func(definition) bool) error {
	tested := map[string]bool{}
	for _, d := range definitions {
		for _, id := range d.checked.References().Segments {
			tested[id] = true
		}
	}
	var failures []error
	for _, d := range definitions {
		if due(d) {
			failures = append(failures, nameSegment(d, e.sweep(ctx, orgID, d, tested[d.ID])))
		}
	}
	return errors.Join(failures...)
}

// settle evaluates the changed contacts in notes for all segments, and then deletes these
// notes from the store. After a failure the notes stay stored, so that another run repeats
// the evaluation.
func (e evaluator) settle(ctx context.Context, orgID string, definitions []definition, notes []Touch) error {
	contacts, ids := make([]string, 0, len(notes)), make([]string, 0, len(notes))
	for _, note := range notes {
		contacts, ids = append(contacts, note.ContactID), append(ids, note.ID)
	}
	slices.Sort(contacts)
	contacts = slices.Compact(contacts)
	for _, d := range definitions {
		if _, _, err := e.judge(ctx, orgID, d, contacts, false); err != nil {
			return nameSegment(d, err)
		}
	}
	return e.Changes.Untouch(ctx, orgID, ids)
}

// Sweep copies the sending account's suppression list, and then evaluates all contacts of
// an organization for all segments. If the account cannot be read, the earlier copy is
// used.
func (s *Segments) Sweep(ctx context.Context, orgID string) error {
	e := evaluator{s.Config}
	var failures []error
	if err := s.CopySuppressed(ctx, orgID); err != nil {
		failures = append(failures, fmt.Errorf("suppressed addresses: %w", err))
	}
	definitions, err := e.definitions(ctx, orgID)
	if err != nil {
		return errors.Join(append(failures, err)...)
	}
	failures = append(failures, e.sweepAll(ctx, orgID, definitions, func(definition) bool { return true }))
	return errors.Join(failures...)
}

func nameSegment(d definition, err error) error {
	if err != nil {
		return fmt.Errorf("segment %s: %w", d.ID, err)
	}
	return nil
}

// CopySuppressed copies the suppression list of the sending account, which expressions and numbers of
// recipients read. Without an account, the earlier copy stays.
func (s *Segments) CopySuppressed(ctx context.Context, orgID string) error {
	var keys []string
	for page, err := range sending.Pages(func(token string) ([]sending.Suppressed, string, error) {
		return s.Suppressions.SuppressedPage(ctx, orgID, time.Time{}, time.Time{}, token)
	}) {
		if sending.IsAbsent(err) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, entry := range page {
			keys = append(keys, core.EmailKey(entry.Email))
		}
	}
	slices.Sort(keys)
	return s.Changes.ReplaceSuppressed(ctx, orgID, slices.Compact(keys))
}
