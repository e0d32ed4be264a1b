package topics

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/sending"
)

// SyncEvery is the interval at which contacts and topics are synced with the sending
// accounts.
const SyncEvery = 15 * time.Minute

// SyncConfig configures [Sync]. All fields are required, except those whose comment gives
// nil a meaning.
type SyncConfig struct {
	Store SyncStore
	// Subscribers stores the consent of contacts.
	Subscribers SubscriberStore
	// Topics stores Mailhelm's copy of the account's topics. The sync also uses the sending
	// account, the transactor and the locks of Topics.
	Topics *Topics
	// Orgs lists every organization.
	Orgs  func(context.Context) ([]string, error)
	Clock core.Clock
	Log   *slog.Logger

	// OnChange is called with the contacts whose consent changed, in the transaction of the
	// change. If OnChange is nil, changes are not reported.
	OnChange func(ctx context.Context, orgID string, contactIDs []string) error
	// Results stores how each sync of the periodic job ended. If it is nil, results are not
	// stored.
	Results sending.SyncRecorder
	// ErasedAddresses returns those of the addresses that must not become contacts again,
	// because a person was erased who must get no mail. nil means none.
	ErasedAddresses func(ctx context.Context, orgID string, emails []string) (map[string]bool, error)
}

// Sync copies topics and consent from the sending account into the database. If the account
// has lost contacts, Sync writes them to the account again.
type Sync struct {
	SyncConfig
	account    sending.Account
	live       *Live
	locks      *sending.KeyedLocks
	transactor core.Transactor
}

// NewSync returns a Sync that uses the configuration.
func NewSync(cfg SyncConfig) *Sync {
	t := cfg.Topics
	return &Sync{SyncConfig: cfg, account: t.Account, live: t.Live, locks: t.Locks, transactor: t.Transactor}
}

// SyncArgs has the arguments of the job that syncs contact lists.
type SyncArgs struct {
	// OrgID is the organization to sync; empty means all organizations.
	OrgID string `json:"org_id,omitempty"`
}

// Kind returns the name of the job.
func (SyncArgs) Kind() string { return "contact_list_sync" }

// Org returns the id of the organization, or "" for all; see [jobs.OrgArgs].
func (a SyncArgs) Org() string { return a.OrgID }

// SyncReport has the numbers of changes that one organization's sync made in the database
// and at the account.
type SyncReport struct {
	Topics, Pages int
	Mirrored
	// Pushed is the number of contacts that were missing at the account and that the account
	// accepted again. Refused is the number of missing contacts that the account did not
	// accept. Left is the number of missing contacts that wait for the next sync.
	Pushed, Refused, Left int
	// Repaired is the number of failed writes whose change at the account was undone. It
	// includes writes with nothing left to undo, and writes whose contact the account
	// refused as invalid.
	Repaired int
}

func (r *SyncReport) addPage(m Mirrored) {
	r.Pages++
	r.Created += m.Created
	r.Updated += m.Updated
	r.Unchanged += m.Unchanged
}

// Worker returns the job that syncs every organization, one after the other.
func (s *Sync) Worker() jobs.Worker[SyncArgs] {
	return jobs.Worker[SyncArgs]{Work: s.runAll, Every: SyncEvery, Timeout: SyncEvery}
}

// runAll syncs one organization, or all if args.OrgID is "".
func (s *Sync) runAll(ctx context.Context, args SyncArgs) error {
	return jobs.ForEachOrg(ctx, args.OrgID, s.Orgs, "sync", sending.RecordSync(s.Results, s.Clock, sending.ContactSync, func(ctx context.Context, org string) error {
		started := s.Clock()
		report, err := s.Run(ctx, org)
		if err != nil {
			return err
		}
		s.Log.InfoContext(ctx, "contact list synced", "org_id", org, "topics", report.Topics, "pages", report.Pages,
			"created", report.Created, "updated", report.Updated, "unchanged", report.Unchanged,
			"pushed", report.Pushed, "refused", report.Refused, "left", report.Left, "repaired", report.Repaired, "took", s.Clock().Sub(started))
		return nil
	}))
}

// Run syncs one organization. It copies the account's topics and consent into the database,
// and creates contacts for unknown addresses. It does not archive or erase contacts that
// the account no longer lists, but writes them to the account again. Without an account or
// a contact list, the stored data stays as it is. Run may be repeated.
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
	var asked time.Time
	for page, err := range sending.Pages(func(token string) ([]sending.Contact, string, error) {
		asked = s.Clock()
		return s.account.Contacts(ctx, orgID, token)
	}) {
		if err != nil {
			return report, err
		}
		mirrored, err := s.mirrorPage(ctx, orgID, page, asked)
		if err != nil {
			return report, err
		}
		report.addPage(mirrored)
		seen.add(page)
	}
	if err := s.saveList(ctx, orgID, list); err != nil {
		return report, err
	}
	return report, s.pushMissing(ctx, orgID, began, seen, &report)
}

// mirrorTopics replaces the stored topics by those of the account, and returns the
// account's contact list. It holds the lock of topic writes from the read of the account to
// the commit. Without the lock, it could replace the result of a later write with topics
// that it read before that write.
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

// mirrorPage stores the consent of a page of the account's contacts. asked is the time at
// which the page was requested.
func (s *Sync) mirrorPage(ctx context.Context, orgID string, page []sending.Contact, asked time.Time) (Mirrored, error) {
	page, err := s.withoutErased(ctx, orgID, page)
	if err != nil {
		return Mirrored{}, err
	}
	var mirrored Mirrored
	err = s.transactor.InTx(ctx, func(ctx context.Context) error {
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

// withoutErased returns the contacts of a page without those that must not become contacts
// again.
func (s *Sync) withoutErased(ctx context.Context, orgID string, page []sending.Contact) ([]sending.Contact, error) {
	if s.ErasedAddresses == nil {
		return page, nil
	}
	emails := make([]string, len(page))
	for i, c := range page {
		emails[i] = c.Email
	}
	erased, err := s.ErasedAddresses(ctx, orgID, emails)
	if err != nil || len(erased) == 0 {
		return page, err
	}
	return slices.DeleteFunc(slices.Clone(page), func(c sending.Contact) bool { return erased[c.Email] }), nil
}

// saveList stores the name, description and times of the account's contact list, with the
// present time as the time of the last sync.
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
