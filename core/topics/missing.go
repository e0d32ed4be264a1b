package topics

import (
	"context"
	"hash/maphash"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// maxRepairs is the maximum number of contacts that one sync pushes to an account, because
// accounts accept few calls a second. The next sync continues.
const maxRepairs = 500

// repairPage is the number of contacts that one query reads from the mirror.
const repairPage = 1000

// seenAddresses has the addresses that the account listed in one sync, as hashes of 64
// bits. The chance that two of a million addresses have the same hash is one in forty
// million. A missing address with the hash of a listed one is then overlooked. The next
// sync uses another seed and finds it.
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

// sort sorts the hashes. Call it before has.
func (s *seenAddresses) sort() { slices.Sort(s.hashes) }

func (s *seenAddresses) has(email string) bool {
	_, found := slices.BinarySearch(s.hashes, maphash.String(s.seed, core.EmailKey(email)))
	return found
}

// pushMissing pushes the contacts of the mirror that the account did not list. It skips
// shells, which exist only because the account listed them, and contacts that were written
// after began, the start of the sync.
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

// pushOne pushes one contact to the account while it holds the lock on the contact's
// address. It does nothing if the contact has changed since at was read, or if the account
// lists it now.
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
	if sending.IsInvalid(err) {
		report.Refused++
		s.Log.WarnContext(ctx, "the sending account does not take a contact", "org_id", orgID, "contact_id", contact.ID, "error", err)
		return nil
	}
	if err == nil {
		report.Pushed++
	}
	return err
}

func isNotFound(err error) bool {
	return err != nil && core.AsError(err).Code == core.CodeNotFound
}
