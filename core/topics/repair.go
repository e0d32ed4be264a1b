package topics

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Repair undoes what a write changed at the account if its transaction in Mailhelm's
// database failed. It does not undo opt-outs that the account accepted in the write. Repair
// returns the number of repaired writes, and may be repeated.
//
// If the account refuses one contact, Repair logs that and goes on with the next, so that
// this contact does not block the others. Any other failure ends it.
func (s *Sync) Repair(ctx context.Context, org string) (int, error) {
	notes, err := s.Store.AccountNotes(ctx, org, s.Clock().Add(-noteGrace), maxRepairs)
	if err != nil {
		return 0, err
	}
	repaired := 0
	for _, n := range notes {
		err := s.repairOne(ctx, org, n)
		if sending.IsRefusedObject(err) {
			s.Log.WarnContext(ctx, "the sending account refused to restore a contact", "org_id", org, "contact_id", n.ContactID, "error", err)
			if !sending.IsInvalid(err) {
				continue // the next repair tries again
			}
			err = s.Store.DropAccountNote(ctx, org, n.ID)
		}
		if err != nil {
			return repaired, err
		}
		repaired++
	}
	return repaired, nil
}

// repairOne repairs the failed write that the note n describes, while it holds the locks
// on the contact's addresses. If the contact is deleted or gets another address before the
// locks are held, the next repair handles the note.
func (s *Sync) repairOne(ctx context.Context, org string, n AccountNote) error {
	contact, err := s.Subscribers.SubscriberByID(ctx, org, n.ContactID)
	if isNotFound(err) {
		return s.Store.DropAccountNote(ctx, org, n.ID)
	}
	if err != nil {
		return err
	}
	keys := []string{sending.AddressLockKey(org, contact.Consent.Email)}
	if n.Put != "" {
		keys = append(keys, sending.AddressLockKey(org, n.Put))
	}
	release, err := s.locks.Lock(ctx, keys...)
	if err != nil {
		return err
	}
	defer release()
	locked, err := s.Subscribers.SubscriberByID(ctx, org, n.ContactID)
	if isNotFound(err) || err == nil && core.EmailKey(locked.Consent.Email) != core.EmailKey(contact.Consent.Email) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := s.repairContact(ctx, org, n, locked); err != nil {
		return err
	}
	return s.Store.DropAccountNote(ctx, org, n.ID)
}

// repairContact restores the contact at the account after a failed write. If the account
// still lists an active contact, its choices there stay, and the opt-outs of the address
// that the write was to set are added. If the account does not list it, its stored consent
// and these opt-outs are written again. An archived contact that the write added is
// removed, unless it has an opt-out.
func (s *Sync) repairContact(ctx context.Context, org string, n AccountNote, c Subscriber) error {
	remembered, err := s.live.DropUnknownTopics(ctx, org, c.Consent)
	if err != nil {
		return err
	}
	email := c.Consent.Email
	// whether the failed write was to add the contact's present address to the account's
	// list
	put := core.EmailKey(n.Put) == core.EmailKey(email)
	var optedOut sending.Contact
	if n.Put != "" && !put {
		if optedOut, err = s.takeBack(ctx, org, n, remembered); err != nil {
			return err
		}
	}
	held, listed, err := s.readListed(ctx, org, email)
	if err != nil {
		return err
	}
	joined := JoinConsent(JoinConsent(held, remembered), optedOut)
	switch {
	case c.Archived && !listed, c.Stub && !listed:
		return nil
	case c.Archived && put && !HasOptOut(joined):
		return s.account.DeleteContact(ctx, org, email)
	case !c.Archived && listed:
		// use the choices at the account, not the stored ones, and add the opt-outs of the
		// address that the failed write was to set
		joined = JoinConsent(held, optedOut)
	}
	joined.Email = email
	if listed && isSameConsent(held, joined) {
		return nil
	}
	if err := s.account.PutContact(ctx, org, joined); err != nil {
		return err
	}
	return s.takeBackErased(ctx, org, c)
}

// takeBack handles a failed change of a contact's address. It removes the new address from
// the account's list, and deletes the contact that a sync created for this address. If
// another contact has the address now, it changes nothing.
//
// The new address may have an opt-out that the contact's stored consent lacks. The address
// then stays in the list, and takeBack returns its opt-outs.
func (s *Sync) takeBack(ctx context.Context, org string, n AccountNote, remembered sending.Contact) (sending.Contact, error) {
	owner, err := s.Subscribers.SubscriberByEmail(ctx, org, n.Put)
	if err != nil && !isNotFound(err) {
		return sending.Contact{}, err
	}
	owned := err == nil
	if owned && !(owner.Shell && !owner.Archived) {
		return sending.Contact{}, nil // another contact has the address now, so the address stays at the account
	}
	held, listed, err := s.readListed(ctx, org, n.Put)
	if err != nil || !listed {
		return sending.Contact{}, err
	}
	if !isSameConsent(JoinConsent(remembered, optOuts(held)), remembered) {
		return optOuts(held), nil
	}
	if err := s.account.DeleteContact(ctx, org, n.Put); err != nil && !sending.IsAbsent(err) {
		return sending.Contact{}, err
	}
	if owned && !owner.CreatedAt.Before(n.NotedAt) {
		return sending.Contact{}, s.Subscribers.DropShell(ctx, org, owner.ID)
	}
	return sending.Contact{}, nil
}

// readListed returns the consent that the account has for an address, and whether the
// account lists the address.
func (s *Sync) readListed(ctx context.Context, org, email string) (sending.Contact, bool, error) {
	held, err := s.account.Contact(ctx, org, email)
	if sending.IsAbsent(err) {
		return sending.Contact{}, false, nil
	}
	return held, err == nil, err
}
