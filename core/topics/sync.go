package topics

import (
	"context"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/sending"
)

// SyncEvery is the interval of the sync with the sending account.
const SyncEvery = 15 * time.Minute

// SyncConfig configures the sync. All fields are required unless their comments say what nil
// means.
type SyncConfig struct {
	Store SyncStore
	// Subscribers are the contacts that the sync compares with the account.
	Subscribers SubscriberStore
	// Topics mirrors the account's topics. The sync uses its account, transactor and locks
	// too.
	Topics *Topics
	// Orgs lists every organization.
	Orgs  func(context.Context) ([]string, error)
	Clock core.Clock
	Log   *slog.Logger

	// OnChange reports contacts whose consent changed, in the transaction of the change.
	// With nil, changes are not reported.
	OnChange func(ctx context.Context, orgID string, contactIDs []string) error
}

// Sync updates the mirror from the sending account, and pushes to the account the contacts
// that it lacks.
type Sync struct {
	SyncConfig
	account    sending.Account
	live       *Live
	locks      *sending.KeyedLocks
	transactor core.Transactor
}

// NewSync returns a Sync with the configuration.
func NewSync(cfg SyncConfig) *Sync {
	t := cfg.Topics
	return &Sync{SyncConfig: cfg, account: t.Account, live: t.Live, locks: t.Locks, transactor: t.Transactor}
}

// SyncArgs are the arguments of the sync.
type SyncArgs struct {
	// OrgID is the organization to sync; empty means all.
	OrgID string `json:"org_id,omitempty"`
}

// Kind returns the name of the job.
func (SyncArgs) Kind() string { return "contact_list_sync" }

// SyncReport counts the effects of one organization's sync, in the mirror and at the
// account.
type SyncReport struct {
	Topics, Pages int
	Mirrored
	// Pushed counts contacts that the account lacked and accepted again. Refused counts
	// those that it did not accept, Left those that wait for the next sync.
	Pushed, Refused, Left int
	// Repaired counts writes that had reached the account before their transaction failed.
	Repaired int
}

func (r *SyncReport) addPage(m Mirrored) {
	r.Pages++
	r.Created += m.Created
	r.Updated += m.Updated
	r.Unchanged += m.Unchanged
}

// Worker returns the job that syncs every organization in turn.
func (s *Sync) Worker() jobs.Worker[SyncArgs] {
	return jobs.Worker[SyncArgs]{Work: s.runAll, Every: SyncEvery, Timeout: SyncEvery}
}

// runAll syncs one organization, or all.
func (s *Sync) runAll(ctx context.Context, args SyncArgs) error {
	return jobs.ForEachOrg(ctx, args.OrgID, s.Orgs, "sync", func(ctx context.Context, org string) error {
		started := s.Clock()
		report, err := s.Run(ctx, org)
		if err != nil {
			return err
		}
		s.Log.InfoContext(ctx, "contact list synced", "org_id", org, "topics", report.Topics, "pages", report.Pages,
			"created", report.Created, "updated", report.Updated, "unchanged", report.Unchanged,
			"pushed", report.Pushed, "refused", report.Refused, "left", report.Left, "repaired", report.Repaired, "took", s.Clock().Sub(started))
		return nil
	})
}

// Run syncs one organization. The mirror gets the account's consent and topics; contacts
// that it does not know become shells. No contact is archived or erased because the account
// does not list it: contacts that the account lost are pushed to it again. Without an
// account or a contact list, the mirror stays as it is. Run may be repeated.
func (s *Sync) Run(ctx context.Context, orgID string) (SyncReport, error) {
	list, err := s.mirrorTopics(ctx, orgID)
	if sending.IsAbsent(err) {
		return SyncReport{}, nil
	}
	if err != nil {
		return SyncReport{}, err
	}
	report := SyncReport{Topics: len(list.Topics)}
	if report.Repaired, err = s.Repair(ctx, orgID); err != nil {
		return report, err
	}
	began, seen := s.Clock(), newSeenAddresses()
	for token := ""; ; {
		asked := s.Clock()
		page, next, err := s.account.Contacts(ctx, orgID, token)
		if err != nil {
			return report, err
		}
		mirrored, err := s.mirrorPage(ctx, orgID, page, asked)
		if err != nil {
			return report, err
		}
		report.addPage(mirrored)
		seen.add(page)
		if next == "" || next == token {
			break
		}
		token = next
	}
	if err := s.saveList(ctx, orgID, list); err != nil {
		return report, err
	}
	return report, s.pushMissing(ctx, orgID, began, seen, &report)
}

// mirrorTopics replaces the mirror's topics by those of the account, and returns the
// account's contact list. It holds the lock of topic writes from the read of the account to
// the commit. Without the lock, a list read before a write could replace the result of that
// write in the mirror.
func (s *Sync) mirrorTopics(ctx context.Context, orgID string) (sending.ContactList, error) {
	release, err := s.locks.Lock(ctx, topicsLockKey(orgID))
	if err != nil {
		return sending.ContactList{}, err
	}
	defer release()
	list, err := s.account.ContactList(ctx, orgID)
	if err != nil {
		return sending.ContactList{}, err
	}
	return list, s.Topics.replaceMirrored(ctx, orgID, list.Topics, s.Clock())
}

// mirrorPage copies a page of the account into the mirror.
func (s *Sync) mirrorPage(ctx context.Context, orgID string, page []sending.Contact, asked time.Time) (Mirrored, error) {
	var mirrored Mirrored
	err := s.transactor.InTx(ctx, func(ctx context.Context) error {
		count, touched, err := s.Subscribers.MirrorConsent(ctx, orgID, page, asked, s.Clock())
		if err != nil {
			return err
		}
		mirrored = count
		if s.OnChange == nil || len(touched) == 0 {
			return nil
		}
		return s.OnChange(ctx, orgID, touched)
	})
	return mirrored, err
}

// saveList stores the account's contact list as synced now.
func (s *Sync) saveList(ctx context.Context, orgID string, list sending.ContactList) error {
	now := s.Clock()
	known, err := s.Store.ContactList(ctx, orgID)
	if err != nil && core.AsError(err).Code != core.CodeContactListNotSynced {
		return err
	}
	if err != nil {
		known.CreatedAt = now
	}
	known.Name, known.Description = list.Name, list.Description
	known.UpdatedAt, known.LastSyncedAt = list.UpdatedAt, now
	return s.Store.SaveContactList(ctx, orgID, known)
}
