package audience

import (
	"context"
	"maps"

	"github.com/mailhelm/mailhelm/core/sending"
)

// repairNoted sets right what writes left at the account whose transaction failed: the
// account gets what it would have, had the write not begun, but for opt-outs. An
// opt-out that the account accepted holds, for the contact that the write was about.
// It returns how many writes it repaired.
func (a *Audience) repairNoted(ctx context.Context, org string) (int, error) {
	notes, err := a.Store.AccountNotes(ctx, org, a.Clock().Add(-noteGrace), maxRepairs)
	if err != nil {
		return 0, err
	}
	for i, n := range notes {
		err := a.repairOne(ctx, org, n)
		if sending.IsInvalid(err) {
			a.Log.WarnContext(ctx, "the sending account does not take a contact back", "org_id", org, "contact_id", n.ContactID, "error", err)
			err = a.Store.DropAccountNote(ctx, org, n.ID)
		}
		if err != nil {
			return i, err
		}
	}
	return len(notes), nil
}

// repairOne waits for its turn as every writer of the addresses does. A contact that
// moved before the turn came is left for the next time.
func (a *Audience) repairOne(ctx context.Context, org string, n AccountNote) error {
	contact, err := a.Store.ContactByID(ctx, org, n.ContactID)
	if isNotFound(err) {
		return a.Store.DropAccountNote(ctx, org, n.ID)
	}
	if err != nil {
		return err
	}
	keys := []string{org + "/" + EmailKey(contact.Email)}
	if n.Put != "" {
		keys = append(keys, org+"/"+EmailKey(n.Put))
	}
	release, err := a.writes.lock(ctx, keys...)
	if err != nil {
		return err
	}
	defer release()
	locked, err := a.Store.ContactByID(ctx, org, n.ContactID)
	if isNotFound(err) || err == nil && EmailKey(locked.Email) != EmailKey(contact.Email) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := a.repairContact(ctx, org, n, locked); err != nil {
		return err
	}
	return a.Store.DropAccountNote(ctx, org, n.ID)
}

func (a *Audience) repairContact(ctx context.Context, org string, n AccountNote, c Contact) error {
	remembered, err := a.rememberedConsent(ctx, org, c)
	if err != nil {
		return err
	}
	put := EmailKey(n.Put) == EmailKey(c.Email) // the write was to list the contact where it is
	var said sending.Contact
	if n.Put != "" && !put {
		if said, err = a.takeBack(ctx, org, n, remembered); err != nil {
			return err
		}
	}
	held, listed, err := a.listedAt(ctx, org, c.Email)
	if err != nil {
		return err
	}
	joined := withEveryNo(withEveryNo(held, remembered), said)
	switch {
	case c.Status == Archived && !listed, c.Stub && !listed:
		return nil
	case c.Status == Archived && put && !hasOptOut(joined):
		return a.Account.DeleteContact(ctx, org, c.Email)
	case c.Status == Active && listed:
		joined = withEveryNo(held, said) // the rest is the account's to say
	}
	joined.Email = c.Email
	if listed && sameConsent(held, joined) {
		return nil
	}
	return a.Account.PutContact(ctx, org, joined)
}

// takeBack takes the address of a move that failed off the account's list, and drops the
// shell that a sync has made of it since. An address stays listed when it has an opt-out
// that is not remembered; takeBack then returns the opt-outs of that address.
func (a *Audience) takeBack(ctx context.Context, org string, n AccountNote, remembered sending.Contact) (sending.Contact, error) {
	owner, err := a.Store.ContactByEmail(ctx, org, n.Put)
	if err != nil && !isNotFound(err) {
		return sending.Contact{}, err
	}
	owned := err == nil
	if owned && !(owner.Shell && owner.Status == Active) {
		return sending.Contact{}, nil // it is another contact's by now
	}
	held, listed, err := a.listedAt(ctx, org, n.Put)
	if err != nil || !listed {
		return sending.Contact{}, err
	}
	if !sameConsent(withEveryNo(remembered, noes(held)), remembered) {
		return noes(held), nil
	}
	if err := a.Account.DeleteContact(ctx, org, n.Put); err != nil && !sending.IsAbsent(err) {
		return sending.Contact{}, err
	}
	if owned && !owner.CreatedAt.Before(n.NotedAt) {
		return sending.Contact{}, a.Store.DropShell(ctx, org, owner.ID)
	}
	return sending.Contact{}, nil
}

// listedAt is what the account holds of an address.
func (a *Audience) listedAt(ctx context.Context, org, email string) (sending.Contact, bool, error) {
	held, err := a.Account.Contact(ctx, org, email)
	if sending.IsAbsent(err) {
		return sending.Contact{}, false, nil
	}
	return held, err == nil, err
}

// noes are the opt-outs of a consent alone.
func noes(c sending.Contact) sending.Contact {
	only := sending.Contact{UnsubscribeAll: c.UnsubscribeAll, Preferences: map[string]sending.Subscription{}}
	for topic, choice := range c.Preferences {
		if choice == sending.OptOut {
			only.Preferences[topic] = choice
		}
	}
	return only
}

func sameConsent(a, b sending.Contact) bool {
	return a.UnsubscribeAll == b.UnsubscribeAll && maps.Equal(a.Preferences, b.Preferences)
}
