package audience

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/sending"
)

// SyncEvery is how often the mirror follows the sending account.
const SyncEvery = 15 * time.Minute

// SyncArgs are the arguments of the contact-list sync.
type SyncArgs struct {
	// OrgID is the organization to sync; empty means all.
	OrgID string `json:"org_id,omitempty"`
}

// Kind names the job.
func (SyncArgs) Kind() string { return "contact_list_sync" }

// SyncReport counts what one organization's sync did: in the mirror, see Mirrored,
// and at the account.
type SyncReport struct {
	Topics, Pages int
	Mirrored
	// Pushed are contacts that the account lacked and got back, Refused those that
	// it does not take, Left those that have to wait for the next sync.
	Pushed, Refused, Left int
	// Repaired are writes that had reached the account when their transaction failed.
	Repaired int
}

// SyncWorker brings the account's contact list, topics and consent into the
// mirror, for every organization in turn.
func (a *Audience) SyncWorker() jobs.Worker[SyncArgs] {
	return jobs.Worker[SyncArgs]{Work: a.syncAll, Every: SyncEvery, Timeout: SyncEvery}
}

// syncAll is for one organization, or for all.
func (a *Audience) syncAll(ctx context.Context, args SyncArgs) error {
	return jobs.ForEachOrg(ctx, args.OrgID, a.Orgs, "sync", func(ctx context.Context, org string) error {
		started := a.Clock()
		report, err := a.Sync(ctx, org)
		if err != nil {
			return err
		}
		a.Log.InfoContext(ctx, "contact list synced", "org_id", org, "topics", report.Topics, "pages", report.Pages,
			"created", report.Created, "updated", report.Updated, "unchanged", report.Unchanged,
			"pushed", report.Pushed, "refused", report.Refused, "left", report.Left, "repaired", report.Repaired, "took", a.Clock().Sub(started))
		return nil
	})
}

// Sync brings one organization's mirror up to the account. Consent and topics are
// taken over; contacts the mirror does not know are added as shells; nothing is
// archived or erased because the account does not list it: what the account lost is
// pushed to it again. An account without a contact list,
// or none at all, leaves the mirror as it is.
func (a *Audience) Sync(ctx context.Context, orgID string) (SyncReport, error) {
	list, err := a.Account.ContactList(ctx, orgID)
	if sending.IsAbsent(err) {
		return SyncReport{}, nil
	}
	if err != nil {
		return SyncReport{}, err
	}
	report := SyncReport{Topics: len(list.Topics)}
	if report.Repaired, err = a.repairNoted(ctx, orgID); err != nil {
		return report, err
	}
	began, seen := a.Clock(), newSeenAddresses()
	if err := a.replaceTopics(ctx, orgID, list.Topics, a.Clock()); err != nil {
		return report, err
	}
	for token := ""; ; {
		asked := a.Clock()
		page, next, err := a.Account.Contacts(ctx, orgID, token)
		if err != nil {
			return report, err
		}
		mirrored, err := a.mirrorPage(ctx, orgID, page, asked)
		if err != nil {
			return report, err
		}
		report.add(mirrored)
		seen.add(page)
		if next == "" || next == token {
			break
		}
		token = next
	}
	if err := a.rememberList(ctx, orgID, list); err != nil {
		return report, err
	}
	return report, a.pushMissing(ctx, orgID, began, seen, &report)
}

func (r *SyncReport) add(m Mirrored) {
	r.Pages++
	r.Created += m.Created
	r.Updated += m.Updated
	r.Unchanged += m.Unchanged
}

func (a *Audience) rememberList(ctx context.Context, orgID string, list sending.ContactList) error {
	now := a.Clock()
	known, err := a.Store.ContactList(ctx, orgID)
	if err != nil && core.AsError(err).Code != core.CodeContactListNotSynced {
		return err
	}
	if err != nil {
		known.CreatedAt = now
	}
	known.Name, known.Description = list.Name, list.Description
	known.UpdatedAt, known.LastSyncedAt = list.UpdatedAt, now
	return a.Store.SaveContactList(ctx, orgID, known)
}
