package audience

import (
	"context"
	"hash/maphash"
	"maps"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
)

// maxRepairs is how many contacts one sync pushes to an account at most: accounts
// take a few calls a second, and the next sync goes on.
const maxRepairs = 500

// repairPage is how many of the mirror's contacts are looked at in one statement.
const repairPage = 1000

// seenAddresses are the addresses that a walk of the account met, as eight bytes
// each: two of a million meet by chance once in forty million walks, and the one
// that is overlooked then is found by the next.
type seenAddresses struct {
	seed   maphash.Seed
	hashes []uint64
}

func newSeenAddresses() *seenAddresses { return &seenAddresses{seed: maphash.MakeSeed()} }

func (s *seenAddresses) add(page []sending.Contact) {
	for _, c := range page {
		s.hashes = append(s.hashes, maphash.String(s.seed, EmailKey(c.Email)))
	}
}

// sort makes the addresses ready for has.
func (s *seenAddresses) sort() { slices.Sort(s.hashes) }

func (s *seenAddresses) has(email string) bool {
	_, found := slices.BinarySearch(s.hashes, maphash.String(s.seed, EmailKey(email)))
	return found
}

// pushMissing brings contacts to the account that the mirror has and a whole walk of
// the account did not meet. Shells are left out: they are here only because the
// account had them. What was written since the walk began is none of its business.
func (a *Audience) pushMissing(ctx context.Context, orgID string, began time.Time, seen *seenAddresses, report *SyncReport) error {
	seen.sort()
	for after := ""; ; {
		page, err := a.Store.MirroredAddresses(ctx, orgID, after, repairPage)
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
			if err := a.pushOne(ctx, orgID, at, report); err != nil {
				return err
			}
		}
		after = page[len(page)-1].ContactID
	}
}

// pushOne pushes one contact, unless it turns out meanwhile that there is no need.
// It waits for its turn as every writer of the address does.
func (a *Audience) pushOne(ctx context.Context, orgID string, at MirroredAddress, report *SyncReport) error {
	release, err := a.writes.lock(ctx, orgID+"/"+EmailKey(at.Email))
	if err != nil {
		return err
	}
	defer release()
	contact, err := a.Store.ContactByID(ctx, orgID, at.ContactID)
	if isNotFound(err) || err == nil && (contact.Status == Archived || !contact.UpdatedAt.Equal(at.UpdatedAt)) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := a.Account.Contact(ctx, orgID, contact.Email); !sending.IsNotFound(err) {
		return err
	}
	consent, err := a.rememberedConsent(ctx, orgID, contact)
	if err != nil {
		return err
	}
	err = a.Account.PutContact(ctx, orgID, consent)
	if sending.IsInvalid(err) {
		report.Refused++
		a.Log.WarnContext(ctx, "the sending account does not take a contact", "org_id", orgID, "contact_id", contact.ID, "error", err)
		return nil
	}
	if err == nil {
		report.Pushed++
	}
	return err
}

// rememberedConsent is the mirror's memory of a contact's consent, without choices
// about topics that are gone, which no account takes.
func (a *Audience) rememberedConsent(ctx context.Context, orgID string, c Contact) (sending.Contact, error) {
	consent := consentOf(c)
	if len(consent.Preferences) == 0 {
		return consent, nil
	}
	topics, err := a.topics.get(ctx, orgID, a.Account)
	if err != nil || topics == nil { // without an account or a list nothing is gone
		return consent, err
	}
	maps.DeleteFunc(consent.Preferences, func(name string, _ sending.Subscription) bool { return indexOfTopic(topics, name) < 0 })
	return consent, nil
}

// MirroredAddress is as much of an active contact as a sync compares.
type MirroredAddress struct {
	ContactID string
	Email     string
	Shell     bool
	UpdatedAt time.Time
}

// mirrorPage takes a page of the account into the mirror.
func (a *Audience) mirrorPage(ctx context.Context, orgID string, page []sending.Contact, asked time.Time) (Mirrored, error) {
	var mirrored Mirrored
	err := a.Transactor.InTx(ctx, func(ctx context.Context) error {
		count, touched, err := a.Store.MirrorConsent(ctx, orgID, page, asked, a.Clock())
		if err != nil {
			return err
		}
		mirrored = count
		return a.changed(ctx, orgID, touched...)
	})
	return mirrored, err
}
