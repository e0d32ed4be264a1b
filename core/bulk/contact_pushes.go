package bulk

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/core/workpool"
)

const (
	// pushEvery is the interval at which the job searches for consent that has not reached
	// the sending account.
	pushEvery   = 15 * time.Second
	pushTimeout = 10 * time.Minute
	// pushBatch is the number of pushes that one process claims at a time. A push is the
	// task to write one contact's consent to the sending account. The process locks the
	// addresses of all claimed pushes together.
	pushBatch = 200
	// pushReaders is the number of contacts that are read from the account concurrently.
	pushReaders = 8
	// pushLease is how long a process may work on the batch of pushes that it claimed. After
	// that, other processes may claim the pushes.
	pushLease    = 5 * time.Minute
	pushStoring  = 10 * time.Second // for each attempt to store the results of a batch
	pushFirst    = 10 * time.Second
	pushLongest  = time.Hour
	pushNoAnswer = 2 // a run ends after this number of batches in a row in which the account accepted nothing
)

// PushArgs has the arguments of the job that writes stored consent to the sending accounts.
type PushArgs struct {
	// OrgID is the organization whose consent is pushed; empty means all organizations.
	OrgID string `json:"org_id,omitempty"`
}

// Kind returns the name of the job that writes stored consent to the sending accounts.
func (PushArgs) Kind() string { return "contact_pushes" }

// PushWorker returns the job that writes to the sending accounts the consent that bulk
// writes have stored. For each contact it reads the account's consent, and merges it with
// the stored consent by the times at which the choices were stated; see
// [consent.Pending.Merge].
func (ps *Pushes) PushWorker() jobs.Worker[PushArgs] {
	return jobs.Worker[PushArgs]{Work: ps.pushAll, Every: pushEvery, Timeout: pushTimeout}
}

func (ps *Pushes) pushAll(ctx context.Context, args PushArgs) error {
	return jobs.ForEachOrg(ctx, args.OrgID, ps.Orgs, "pushes", func(ctx context.Context, org string) error {
		repaired, failed := ps.Repairs.Repair(ctx, org)
		if repaired > 0 {
			ps.Log.InfoContext(ctx, "failed writes repaired at the sending account", "org_id", org, "writes", repaired)
		}
		report, err := ps.Push(ctx, org)
		err = errors.Join(failed, err)
		if report != (PushReport{}) {
			ps.Log.InfoContext(ctx, "consent written to the sending account", "org_id", org,
				"settled", report.Settled, "refused", report.Refused, "put_off", report.PutOff)
		}
		return err
	})
}

// PushConfig has the dependencies of [Pushes]. A field may be nil only if its comment says
// what nil means; all others are required.
type PushConfig struct {
	Store PushStore
	// Contacts finds the contact that has an address at the time of the push.
	Contacts ContactReader
	Account  sending.Account
	// List is the contact list of the sending account.
	List PushedList
	// Locks serializes writers of the same address. The sync with the account must use the
	// same locks.
	Locks *sending.KeyedLocks
	// Repairs undoes, at the account, single writes of contacts that changed the account and
	// whose transaction then failed.
	Repairs Repairer
	// Orgs lists the ids of all organizations, for the periodic job.
	Orgs  func(context.Context) ([]string, error)
	Clock core.Clock
	Log   *slog.Logger
	// Wait waits until a time, or until ctx ends.
	Wait func(ctx context.Context, until time.Time)
	// Observe counts, for metrics, the outcomes of pushes: n pushes had the outcome. The
	// parameter what is always "contact_push". If Observe is nil, outcomes are not counted.
	Observe func(what, outcome string, n int)
}

// PushedList is the contact list of the sending account.
type PushedList interface {
	// Topics returns the account's topics, sorted by name. It returns nil if there is no
	// account or the account has no contact list.
	Topics(ctx context.Context, orgID string) ([]sending.Topic, error)
	// WriteToList calls write, which needs the account's contact list. If the account has no
	// list, WriteToList creates one and calls write again, with bare set to true: the new
	// list has no topics.
	WriteToList(ctx context.Context, orgID string, write func(bare bool) error) error
}

// Repairer undoes, at the account, single writes of contacts that changed the account and
// whose transaction then failed.
type Repairer interface {
	// Repair undoes the interrupted writes and returns their number. It is safe to call it
	// again, also after an error.
	Repair(ctx context.Context, orgID string) (int, error)
}

// Pushes copies consent from the database, where bulk writes stored it, to the sending
// accounts.
type Pushes struct {
	PushConfig
}

// NewPushes returns a Pushes.
func NewPushes(cfg PushConfig) *Pushes { return &Pushes{cfg} }

// PushReport has the number of pushes (writes of stored consent to the account) for each
// outcome.
type PushReport struct {
	// Settled is the number of pushes that the account accepted and that were deleted.
	// Refused is the number of pushes that failed for good, PutOff of those that are tried
	// again later.
	Settled, Refused, PutOff int
}

// Push writes one organization's stored consent to its account. It ends when no push is
// due, or after two batches in a row in which the account accepted nothing.
func (ps *Pushes) Push(ctx context.Context, org string) (PushReport, error) {
	var report PushReport
	for barren := 0; barren < pushNoAnswer; {
		now := ps.Clock()
		until := now.Add(pushLease)
		pushes, err := ps.Store.ClaimPushes(ctx, org, now, until, pushBatch)
		if err != nil || len(pushes) == 0 {
			return report, err
		}
		b := &pushedBatch{pushes: ps, org: org, until: until}
		if err := b.work(ctx, pushes); err != nil {
			return report, err
		}
		report.Settled += b.report.Settled
		report.Refused += b.report.Refused
		report.PutOff += b.report.PutOff
		if b.report.Settled+b.report.Refused > 0 {
			barren = 0
		} else {
			barren++
		}
	}
	return report, nil
}

// pushedBatch is a batch of contacts. One process has claimed the task to write their
// consent to the sending account. The field until is the time at which the claim ends.
type pushedBatch struct {
	pushes *Pushes
	org    string
	until  time.Time
	report PushReport
}

// work writes the consent of a batch of contacts to the sending account. It first locks the
// address of every contact, so that no other write of one of these contacts happens while
// the account's consent is read, merged and written.
func (b *pushedBatch) work(ctx context.Context, pushes []Push) error {
	var keys []string
	for _, p := range pushes {
		for _, address := range append([]string{p.Contact.Email}, p.Consent.OldEmails...) {
			keys = append(keys, sending.AddressLockKey(b.org, address))
		}
	}
	release, err := b.pushes.Locks.Lock(ctx, keys...)
	if err != nil {
		return b.finish(ctx, pushes, slices.Repeat([]error{err}, len(pushes)))
	}
	defer release()
	failures := b.ask(ctx, pushes)
	b.writeConsent(ctx, pushes, failures)
	return b.finish(ctx, pushes, failures)
}

// ask reads from the account the consent of each contact that is not archived, and merges
// it with the consent of the contact's push. It returns one error for each push, nil if
// the read succeeded.
func (b *pushedBatch) ask(ctx context.Context, pushes []Push) []error {
	failures := make([]error, len(pushes))
	known, err := b.pushes.List.Topics(ctx, b.org)
	var readers sync.WaitGroup
	free := make(chan struct{}, pushReaders)
	for i := range pushes {
		if failures[i] = err; err != nil || pushes[i].Contact.Status == contacts.Archived {
			continue
		}
		free <- struct{}{}
		readers.Go(func() {
			defer func() { <-free }()
			held, err := b.pushes.accountConsent(ctx, b.org, pushes[i])
			if failures[i] = err; err == nil {
				merged := pushes[i].Consent.Merge(held, contacts.ConsentOf(pushes[i].Contact))
				pushes[i].Contact = pushes[i].Contact.WithAccountConsent(withTopics(merged, known), b.pushes.Clock())
			}
		})
	}
	readers.Wait()
	return failures
}

// withTopics removes from the consent the choices about topics that the account does not
// have, and returns the consent. With such a choice, the account would refuse the whole
// contact.
func withTopics(consent sending.Contact, known []sending.Topic) sending.Contact {
	for topic := range consent.Preferences {
		if !slices.ContainsFunc(known, func(t sending.Topic) bool { return t.Name == topic }) {
			delete(consent.Preferences, topic)
		}
	}
	return consent
}

// accountConsent returns the consent that the account has for the contact's address and for
// its earlier addresses together. An opt-out at any of them counts. It returns nil if the
// account lists none of the addresses.
func (ps *Pushes) accountConsent(ctx context.Context, org string, p Push) (*sending.Contact, error) {
	var held *sending.Contact
	addresses := p.Consent.OldEmails
	if !p.Consent.Fresh {
		addresses = append([]string{p.Contact.Email}, addresses...)
	}
	for _, address := range addresses {
		c, err := ps.Account.Contact(ctx, org, address)
		if sending.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if held != nil {
			updated := c.UpdatedAt
			if held.UpdatedAt.After(updated) {
				updated = held.UpdatedAt
			}
			c = topics.JoinConsent(*held, c)
			c.UpdatedAt = updated
		}
		held = &c
	}
	return held, nil
}

// writeConsent writes the consent of active contacts to the account, and removes their
// earlier addresses from the account's list. If a push fails, it stores the error in the
// slice failures.
func (b *pushedBatch) writeConsent(ctx context.Context, pushes []Push, failures []error) {
	var put []sending.Contact
	var places []int
	for i, p := range pushes {
		if failures[i] == nil && p.Contact.Status == contacts.Active {
			put, places = append(put, contacts.ConsentOf(p.Contact)), append(places, i)
		}
	}
	if len(put) > 0 {
		var outcomes []*sending.Failure
		err := b.pushes.List.WriteToList(ctx, b.org, func(bool) error {
			var failed error
			outcomes, failed = b.pushes.Account.PutContacts(ctx, b.org, put)
			return failed
		})
		for j, i := range places {
			if err != nil {
				failures[i] = err
			} else if outcomes[j] != nil {
				failures[i] = outcomes[j]
			}
		}
	}
	for i, p := range pushes {
		for _, address := range p.Consent.OldEmails {
			if failures[i] == nil && !strings.EqualFold(address, p.Contact.Email) {
				failures[i] = b.leave(ctx, address)
			}
		}
	}
}

// leave deletes an address from the contact list of the sending account. If a contact has
// the address again, leave changes nothing.
func (b *pushedBatch) leave(ctx context.Context, address string) error {
	_, err := b.pushes.Contacts.ContactByEmail(ctx, b.org, address)
	if err == nil || !core.IsNotFound(err) {
		return err
	}
	return b.pushes.Account.DeleteContact(ctx, b.org, address)
}

// finish deletes the pushes that succeeded or failed permanently, and schedules a retry of
// the others. An outage of the database or the end of the process would otherwise cost all of them the rest
// of the claim, in which the account has an older consent.
func (b *pushedBatch) finish(ctx context.Context, pushes []Push, failures []error) error {
	now := b.pushes.Clock()
	var ended []Push
	later := map[time.Duration][]string{}
	var example error
	for i, p := range pushes {
		if failures[i] == nil || isFinal(failures[i]) {
			if failures[i] != nil {
				b.report.Refused++
				example = failures[i]
			}
			ended = append(ended, p)
			continue
		}
		example = failures[i]
		b.report.PutOff++
		pause := backOff(p.Attempts, failures[i])
		later[pause] = append(later[pause], p.Contact.ID)
	}
	var settled int
	storing := workpool.Persist{Clock: b.pushes.Clock, Timeout: pushStoring, Wait: b.pushes.Wait}
	err := storing.Until(ctx, b.until, func(ctx context.Context, _ bool) error {
		var err error
		settled, err = b.pushes.Store.SettlePushes(ctx, b.org, b.until, now, ended)
		return err
	})
	for pause, ids := range later {
		slices.Sort(ids)
		err = errors.Join(err, storing.Until(ctx, b.until, func(ctx context.Context, _ bool) error {
			return b.pushes.Store.PutOffPushes(ctx, b.org, b.until, now.Add(pause), ids)
		}))
	}
	b.report.Settled = max(settled-b.report.Refused, 0)
	if err == nil {
		b.observe(ctx, len(ended)-settled, example)
		if settled < len(ended) {
			err = b.takeBackErased(ctx, pushes, failures)
		}
	}
	return errors.Join(err, context.Cause(ctx))
}

// takeBackErased deletes at the account the contacts that the batch wrote there and whose persons were erased since the
// pushes were claimed; see [sending.TakeBackErased].
func (b *pushedBatch) takeBackErased(ctx context.Context, pushes []Push, failures []error) error {
	var failed error
	for i, p := range pushes {
		if failures[i] != nil || p.Contact.Status != contacts.Active {
			continue
		}
		_, err := b.pushes.Contacts.ContactByID(ctx, b.org, p.Contact.ID)
		failed = errors.Join(failed, sending.TakeBackErased(ctx, b.pushes.Account, b.org, p.Contact.Email, err))
	}
	return failed
}

func (b *pushedBatch) observe(ctx context.Context, overtaken int, example error) {
	if b.pushes.Observe != nil {
		b.pushes.Observe("contact_push", "settled", b.report.Settled)
		b.pushes.Observe("contact_push", "refused", b.report.Refused)
		b.pushes.Observe("contact_push", "put_off", b.report.PutOff+overtaken)
	}
	if example != nil && ctx.Err() == nil {
		b.pushes.Log.WarnContext(ctx, "consent not written to the sending account", "org_id", b.org,
			"refused", b.report.Refused, "put_off", b.report.PutOff, "error", fmt.Errorf("for example: %w", example))
	}
}

// isFinal reports whether a push failed permanently, so that it is not retried.
func isFinal(err error) bool {
	failure, ok := errors.AsType[*sending.Failure](err)
	return ok && !topics.IsWithoutList(err) && (failure.Kind == sending.Invalid || failure.Kind == sending.Unsupported)
}

// backOff returns the pause before a failed push is retried. It doubles with each attempt
// from 10 seconds up to an hour, and is longer if the account asks for it.
func backOff(attempts int, err error) time.Duration {
	pause := pushFirst << min(max(attempts-1, 0), 10)
	if failure, ok := errors.AsType[*sending.Failure](err); ok {
		pause = max(pause, failure.RetryAfter)
	}
	return min(pause, pushLongest)
}
