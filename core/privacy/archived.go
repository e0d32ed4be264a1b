package privacy

import (
	"context"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// ArchivedStore has what erasing archived contacts needs beyond [Store].
type ArchivedStore interface {
	Store
	// HoldArchived returns the address of a contact in the form of core.EmailKey if the contact
	// is archived and was last changed before a time. It locks the contact until the transaction
	// ends.
	HoldArchived(ctx context.Context, orgID, contactID string, before time.Time) (key string, held bool, err error)
	// HideRecipient replaces the contact by the pseudonym among the recipients of broadcasts and
	// workflows. Mail that is not sent yet is not sent to them.
	HideRecipient(ctx context.Context, s Search) error
	// HandingOver reports whether a message to the contact is on its way to the account.
	HandingOver(ctx context.Context, s Search) (bool, error)
}

// Archive erases archived contacts whose retention has ended; see core/retention. It does less
// than [Privacy.Erase], because no person has asked for it and it must not slow other writes
// down: it erases the tables that an index leads to from the contact. What only mentions the
// address, such as messages and the audit log, is deleted after its own period. The sending
// account keeps its opt-outs and its suppression list. All fields are required.
type Archive struct {
	Store      ArchivedStore
	Tombstones TombstoneStore
	// Hasher is called only for addresses that must be refused.
	Hasher     func() (Hasher, error)
	Runs       Runs
	Transactor core.Transactor
	Clock      core.Clock
}

// archivedTables are the tables of the register that Archive erases, in which an index leads
// from a contact to its rows.
var archivedTables = []string{
	"account_notes", "activities", "activity_claims", "contact_pushes", "contact_slots", "contact_topics", "list_members", "segment_members", "segment_touched",
	"visitor_ids", "workflow_entries", "workflow_mails", "workflow_runs", "workflow_touched", "contacts",
}

// OfArchived returns the tables that [Archive.EraseArchived] erases, in the order of the register.
func OfArchived() []Table {
	return slices.DeleteFunc(OfRecipients(), func(t Table) bool { return !slices.Contains(archivedTables, t.Name) })
}

// EraseArchived erases a contact if it is still archived and was last changed before a time. It
// reports whether it did. An address that must be refused later leaves a tombstone.
func (a Archive) EraseArchived(ctx context.Context, orgID, contactID string, before time.Time) (bool, error) {
	erased := false
	err := a.Transactor.InTx(ctx, func(ctx context.Context) error {
		var err error
		erased, err = a.erase(ctx, orgID, contactID, before)
		return err
	})
	return erased && err == nil, err
}

// erase erases a contact in the transaction of ctx.
func (a Archive) erase(ctx context.Context, orgID, contactID string, before time.Time) (bool, error) {
	key, held, err := a.Store.HoldArchived(ctx, orgID, contactID, before)
	if err != nil || !held {
		return false, err
	}
	person, err := a.Store.Person(ctx, orgID, key)
	if err != nil {
		return false, err
	}
	s := NewSearch(orgID, person)
	if busy, err := a.Store.HandingOver(ctx, s); err != nil || busy {
		return false, err
	}
	if err := a.keepRefusal(ctx, s); err != nil {
		return false, err
	}
	if err := a.Runs.EndRunsOf(ctx, orgID, contactID, a.Clock()); err != nil {
		return false, err
	}
	if err := a.Store.Leave(ctx, orgID, contactID); err != nil {
		return false, err
	}
	if err := a.Store.HideRecipient(ctx, s); err != nil {
		return false, err
	}
	for _, t := range OfArchived() {
		if _, err := a.Store.Erase(ctx, s, t); err != nil {
			return false, err
		}
	}
	return true, nil
}

// keepRefusal stores a tombstone if mail to the person must be refused.
func (a Archive) keepRefusal(ctx context.Context, s Search) error {
	reason := refusal(s.Person, AccountData{})
	if reason == Allowed {
		return nil
	}
	hasher, err := a.Hasher()
	if err != nil {
		return err
	}
	return a.Tombstones.PutTombstone(ctx, s.OrgID, Tombstone{Hash: hasher.Hash(s.OrgID, s.Person.Key), Refuses: reason, ErasedAt: a.Clock()})
}

// Scrub removes remnants of erased rows from the files of the database.
func (a Archive) Scrub(ctx context.Context) error { return a.Store.Scrub(ctx) }
