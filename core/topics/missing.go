package topics

import (
	"context"
	"hash/maphash"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// maxRepairs is the maximum number of lost contacts that one sync writes to an account
// again, because accounts accept few calls a second. The next sync continues with the rest.
const maxRepairs = 500

// repairPage is the number of contacts that a sync reads from the database in one query
// when it searches for contacts that the account lost.
const repairPage = 1000

// seenAddresses has the addresses that the account listed in one sync, as hashes of 64
// bits. The chance that two of a million addresses have the same hash is one in forty
// million. If an address that the account lost has the hash of a listed one, this sync does
// not notice the loss. The next sync uses another seed and finds it.
type seenAddresses struct {
	seed   maphash.Seed
	hashes []uint64
}

func newSeenAddresses() *seenAddresses { return &seenAddresses{seed: maphash.MakeSeed()} }

func (s *seenAddresses) add(page []sending.Contact) {
	for _, c := range page {
		s.hashes = append(s.hashes, maphash.String(s.seed, core.EmailKey(c.Email)))
	}
}

// sort sorts the hashes. Call it before the method has, which searches in the sorted
// hashes.
func (s *seenAddresses) sort() { slices.Sort(s.hashes) }

func (s *seenAddresses) has(email string) bool {
	_, found := slices.BinarySearch(s.hashes, maphash.String(s.seed, core.EmailKey(email)))
	return found
}

// pushMissing writes to the account the stored contacts that the account did not list. It
// skips contacts that exist only because the account listed them once. It also skips
// contacts that were written after began, the start of the sync.
func (s *Sync) pushMissing(ctx context.Context, orgID string, began time.Time, seen *seenAddresses, report *SyncReport) error {
	seen.sort()
	for after := ""; ; {
		page, err := s.Subscribers.MirroredAddresses(ctx, orgID, after, repairPage)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, at := range page {
			if at.Shell || !at.UpdatedAt.Before(began) || seen.has(at.Email) {
				continue
			}
			if report.Pushed+report.Refused == maxRepairs {
				report.Left++
				continue
			}
			if err := s.pushOne(ctx, orgID, at, report); err != nil {
				return err
			}
		}
		after = page[len(page)-1].ContactID
	}
}

// pushOne writes one contact to the account while it holds the lock on the contact's
// address. It does nothing if the stored contact has changed since the caller read it, or
// if the account lists the contact now.
func (s *Sync) pushOne(ctx context.Context, orgID string, at MirroredAddress, report *SyncReport) error {
	release, err := s.locks.Lock(ctx, sending.AddressLockKey(orgID, at.Email))
	if err != nil {
		return err
	}
	defer release()
	contact, err := s.Subscribers.SubscriberByID(ctx, orgID, at.ContactID)
	if isNotFound(err) || err == nil && (contact.Archived || !contact.UpdatedAt.Equal(at.UpdatedAt)) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := s.account.Contact(ctx, orgID, contact.Consent.Email); !sending.IsNotFound(err) {
		return err
	}
	consent, err := s.live.DropUnknownTopics(ctx, orgID, contact.Consent)
	if err != nil {
		return err
	}
	err = s.account.PutContact(ctx, orgID, consent)
	if sending.IsRefusedObject(err) {
		report.Refused++
		s.Log.WarnContext(ctx, "the sending account refused to add a contact", "org_id", orgID, "contact_id", contact.ID, "error", err)
		return nil
	}
	if err != nil {
		return err
	}
	report.Pushed++
	return s.takeBackErased(ctx, orgID, contact)
}

// takeBackErased deletes a contact that the sync has just written to the account, if its person was erased in the
// meantime; see [sending.TakeBackErased].
func (s *Sync) takeBackErased(ctx context.Context, orgID string, written Subscriber) error {
	_, err := s.Subscribers.SubscriberByID(ctx, orgID, written.ID)
	return sending.TakeBackErased(ctx, s.account, orgID, written.Consent.Email, err)
}

func isNotFound(err error) bool {
	return err != nil && core.AsError(err).Code == core.CodeNotFound
}
