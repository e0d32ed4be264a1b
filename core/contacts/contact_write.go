package contacts

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/consent"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/topics"
)

// write is one write of a contact, in two steps. push runs before the transaction. It reads
// the contact, checks everything that can be refused, and writes the consent to the sending
// account. store runs inside the transaction. It reads the contact again, applies the
// [Plan] to it, and saves it with the consent that the account accepted.
type write struct {
	Plan
	Told
	// contactID names the contact to write; "" means that the claim of the plan names it.
	contactID string
	// by is the source of the stated consent; "" means the caller of the operation.
	by consent.Source
}

// Told has the results of the method push, which runs before the transaction of a write.
// The method store uses them inside the transaction.
type Told struct {
	// Consent is the consent that the sending account accepted, with the email address for
	// which it is stored there.
	Consent sending.Contact
	// AccountUpdated is the time at which the sending account had last changed the contact
	// before the write; the zero time if that is unknown.
	AccountUpdated time.Time
	// Shell is the id of another contact that has the address which this write sets. A sync
	// created that contact, and no caller has written it yet. The write deletes it. Shell is
	// "" if there is no such contact. Each lookup of the contact to write sets Shell again.
	Shell string
	// IsNew is true if the contact did not exist before the transaction.
	IsNew bool
	// OldEmail is the address that the contact had before the write.
	OldEmail string
	// Spared is true if push did not call the sending account. That is so if the contact is
	// a stub (known only from activities) and still is one after the write.
	Spared bool
	// Note is the id of the note that the step push stored before it changed the sending
	// account; "" if push stored no note. The step store deletes the note.
	Note string

	// stored is true after the step store.
	stored bool
}

// mayReplaceAddress reports whether the contact still has an address that this write may
// replace: the address that push wrote to the sending account, or the one that the contact
// had before. If another write has set a third address, the transaction must fail. If it
// replaced that address, the account would keep consent for an address without a contact.
func (w *write) mayReplaceAddress(existing *Contact) bool {
	if existing == nil {
		return true
	}
	key := EmailKey(existing.Email)
	return key == EmailKey(w.Consent.Email) || key == EmailKey(w.OldEmail)
}

// ContactWritten is the result of a write to one contact.
type ContactWritten struct {
	Contact Contact `json:"contact"`
	Result  string  `json:"result"` // created, updated or reactivated
	// VisitorID is part of the result of the call. It is a credential, so the result that is
	// stored for replays does not contain it.
	VisitorID string `json:"-"`
}

// RESTView returns only the contact.
func (w ContactWritten) RESTView() Contact { return w.Contact }

// WasCreated reports whether the contact is new.
func (w ContactWritten) WasCreated() bool { return w.Result == "created" }

// findExisting returns the contact that the write names, nil if it does not exist. It sets
// w.Shell to the id of the contact that the write may delete.
func (w *write) findExisting(ctx context.Context, store Store, org string) (*Contact, error) {
	if w.contactID != "" {
		c, err := store.ContactByID(ctx, org, w.contactID)
		if core.IsNotFound(err) {
			return nil, nil
		}
		return &c, err
	}
	existing, shell, err := w.find(ctx, store, org)
	w.Shell = shell
	return existing, err
}

// source returns who states the consent of the write.
func (w *write) source(c *core.Call) consent.Source {
	if w.by != "" {
		return w.by
	}
	return consent.Source(c.Principal.Caller())
}

// writer writes contacts to the sending account and to the database.
type writer struct{ *Config }

// push is the step of a write before the transaction. It writes the consent to the sending
// account and records in w what the account accepted. It locks the addresses of the write,
// including the contact's current one, until the call ends.
func (wr writer) push(ctx context.Context, c *core.Call, w *write) error {
	existing, err := wr.lockIdentifiers(ctx, c, w)
	if err != nil {
		return err
	}
	defer wr.followErasure(ctx, c, w, existing)
	return wr.pushLocked(ctx, c.Principal.Org.ID, w, existing)
}

// pushLocked is the part of push that follows lockIdentifiers. existing is the contact to
// write, nil for a new one.
func (wr writer) pushLocked(ctx context.Context, org string, w *write, existing *Contact) error {
	if w.IsNew = existing == nil; !w.IsNew {
		w.OldEmail = existing.Email
	}
	after, err := w.Apply(existing)
	if err != nil {
		return err
	}
	if err := wr.checkErased(ctx, org, existing, after.Email); err != nil {
		return err
	}
	if w.KeepsStub(existing, w.Shell) {
		w.Spared, w.Consent.Email = true, after.Email
		return nil
	}
	inForce, listed, err := wr.consents().consentInForce(ctx, org, existing, after.Email)
	if err != nil {
		return err
	}
	if w.Note, err = wr.noteWrite(ctx, org, existing, after.Email, listed); err != nil {
		return err
	}
	w.Consent, w.AccountUpdated = w.DecideConsent(existing, inForce), inForce.UpdatedAt
	w.Consent.Email = after.Email
	err = wr.List.WriteToList(ctx, org, func(bare bool) error {
		if bare { // the account's contact list was just created and has no topics
			w.Consent.Preferences = nil
		}
		return wr.Account.PutContact(ctx, org, w.Consent)
	})
	if err != nil {
		return topics.Unavailable(err)
	}
	// Compare the addresses as text, because two forms of an internationalized domain have
	// the same EmailKey. The sending account may still have a contact under the form in
	// existing.Email.
	if existing != nil && !strings.EqualFold(existing.Email, after.Email) {
		return topics.Unavailable(wr.Account.DeleteContact(ctx, org, existing.Email))
	}
	return nil
}

const maxMoves = 5

// lockIdentifiers locks the address and the external id that the write names. It returns
// the existing contact that one of them identifies, or nil.
//
// If the contact has an address that is not locked, lockIdentifiers releases the locks of
// addresses, locks them again together with the contact's address, and reads the contact
// again. The external id is locked before any address and stays locked.
func (wr writer) lockIdentifiers(ctx context.Context, c *core.Call, w *write) (*Contact, error) {
	org := c.Principal.Org.ID
	var keys []string
	if w.Claim.Email != "" {
		keys = append(keys, addressKey(c, w.Claim.Email))
	}
	if w.Claim.ExternalID != "" {
		release, err := wr.Locks.Lock(ctx, org+"#"+w.Claim.ExternalID)
		if err != nil {
			return nil, err
		}
		c.Defer(release)
	}
	for range maxMoves {
		release, err := wr.Locks.Lock(ctx, keys...)
		if err != nil {
			return nil, err
		}
		existing, err := w.findExisting(ctx, wr.Store, org)
		if err != nil || existing == nil || slices.Contains(keys, addressKey(c, existing.Email)) {
			c.Defer(release)
			return existing, err
		}
		release()
		keys = append(keys, addressKey(c, existing.Email))
	}
	return nil, &core.Error{
		Code: core.CodeContactClaimRace, RetryAfter: time.Second,
		Message: "Other calls kept changing the contact's address, so this call changed nothing.",
	}
}

// addressKey returns the key of the lock that a write of a contact with this address must
// hold.
func addressKey(c *core.Call, address string) string {
	return sending.AddressLockKey(c.Principal.Org.ID, address)
}

// store is the step of a write inside the transaction. Between its read and its insert, a
// sync or an activity may create a contact with the address. The insert then fails, and
// store reads and writes once more.
func (wr writer) store(ctx context.Context, c *core.Call, w *write) (ContactWritten, error) {
	org := c.Principal.Org.ID
	existing, err := w.findExisting(ctx, wr.Store, org)
	if err != nil {
		return ContactWritten{}, err
	}
	if existing == nil && !w.IsNew {
		// Its person was erased since push, which does not check the address of a contact that has it already.
		if err := wr.checkErased(ctx, org, nil, w.Consent.Email); err != nil {
			return ContactWritten{}, err
		}
	}
	if !w.mayReplaceAddress(existing) {
		return ContactWritten{}, &core.Error{
			Code: core.CodeContactClaimRace, RetryAfter: time.Second,
			Message: "Another write gave the contact another address at the same moment.",
		}
	}
	written, err := wr.put(ctx, c, w, existing)
	if core.IsConflict(err) {
		found, errFound := w.findExisting(ctx, wr.Store, org)
		if errFound == nil && (w.Shell != "" || found != nil && (found.Shell || found.Stub)) {
			written, err = wr.put(ctx, c, w, found)
		}
	}
	if err != nil {
		return ContactWritten{}, err
	}
	if err := wr.dropNote(ctx, org, w.Note); err != nil {
		return ContactWritten{}, err
	}
	c.SetSubject(written.Contact.ID)
	if written.Contact.Lists, err = wr.Lists.ApplyChange(ctx, c.Principal.Org.ID, written.Contact.ID, written.Contact.Lists, w.Lists); err != nil {
		return ContactWritten{}, err
	}
	w.stored = true
	return written, wr.reportChanged(ctx, org, written.Contact.ID)
}

// put applies the planned write to the contact and stores the result. It updates the
// contact in the parameter existing, or inserts a new contact if existing is nil.
func (wr writer) put(ctx context.Context, c *core.Call, w *write, existing *Contact) (ContactWritten, error) {
	org := c.Principal.Org.ID
	after, err := w.Apply(existing)
	if err != nil {
		return ContactWritten{}, err
	}
	if w.Shell != "" {
		if err := wr.Store.DropShell(ctx, org, w.Shell); err != nil {
			return ContactWritten{}, err
		}
	}
	// Use the present time, not the time when the call began. A sync compares the contact's
	// UpdatedAt with the time at which it read the account's contacts, to see which is
	// newer.
	now := wr.Clock()
	accepted := w.Consent
	if w.Spared && existing != nil {
		// push did not call the account, so w.Consent has no choices. Keep the stored
		// consent, which another write may have set when it ended the stub.
		accepted = ConsentOf(*existing)
	}
	after = after.Activate(accepted, w.Spared && after.Stub, now)
	after.ConsentChanges = w.ConsentChanges(existing, after, consent.ChangeAt(now, w.source(c)), w.AccountUpdated)
	if existing == nil {
		return ContactWritten{Contact: after, Result: "created"}, wr.Store.InsertContact(ctx, org, after)
	}
	result := "updated"
	switch {
	case existing.Status == Archived:
		result = "reactivated"
	case (existing.Shell || existing.Stub) && w.IsNew:
		result = "created" // a sync or an activity created the contact during this call
	}
	return ContactWritten{Contact: after, Result: result}, wr.Store.UpdateContact(ctx, org, after)
}

// Activate returns the contact as active, with this consent. The parameter at becomes the
// time of its last change. stub is true if the contact is a stub, which is known only from
// activities. A contact without an id gets one.
func (c Contact) Activate(given sending.Contact, stub bool, at time.Time) Contact {
	c.Status, c.UpdatedAt, c.Shell, c.Stub = Active, at, false, stub
	if c.ID == "" {
		c.ID, c.CreatedAt = core.NewID(), at
	}
	return c.WithConsent(given)
}
