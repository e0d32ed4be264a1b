package contacts

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/topics"
)

// write is a [Plan] between its two halves. The first half runs before the transaction:
// it reads the mirror, checks everything that can be refused, and brings the consent to
// the account. The second half runs inside: it reads the mirror again, applies the plan
// to what is there now, and stores it with the consent that the account accepted.
type write struct {
	Plan
	Told
}

// Told is what the first half of a write read and wrote at the account.
type Told struct {
	// Consent is the consent that the account accepted, with the address it belongs to.
	Consent sending.Contact
	// Shell is the id of the shell at the address that the contact moves to. Each lookup
	// sets it again.
	Shell string
	// IsNew is true if the contact did not exist.
	IsNew bool
	// Left is the address that the contact had before the write.
	Left string
	// Spared is true if the account was not called, because the contact stays a stub.
	Spared bool
	// Note is the id of the note about the write to the account.
	Note string
}

// settles reports whether the account is right once the contact is stored: push wrote
// the new address and removed the old one. If another process has moved the contact to a
// third address, consent would remain at an address without a contact.
func (w *write) settles(existing *Contact) bool {
	if existing == nil {
		return true
	}
	key := EmailKey(existing.Email)
	return key == EmailKey(w.Consent.Email) || key == EmailKey(w.Left)
}

// ContactWritten is the result of a write to one contact.
type ContactWritten struct {
	Contact Contact `json:"contact"`
	Result  string  `json:"result"` // created, updated or reactivated
	// VisitorID appears in the answer and is not stored with it for repeated calls: it
	// is a credential.
	VisitorID string `json:"-"`
}

// RESTView returns the contact alone.
func (w ContactWritten) RESTView() Contact { return w.Contact }

// WasCreated reports whether the contact is new.
func (w ContactWritten) WasCreated() bool { return w.Result == "created" }

// existing returns the contact that the write names, nil if it does not exist.
func (w *write) existing(ctx context.Context, store contactFinder, org string) (*Contact, error) {
	existing, shell, err := w.find(ctx, store, org)
	w.Shell = shell
	return existing, err
}

// writer writes contacts at the account and in the mirror.
type writer struct{ *Config }

func (wr writer) consents() consentReader { return consentReader(wr) }

// push is the first half of a write. It writes the consent to the account and records in
// w what the account accepted. It locks the addresses, including the contact's current
// one, until the call ends.
func (wr writer) push(ctx context.Context, c *core.Call, w *write) error {
	org := c.Principal.Org.ID
	existing, err := wr.hold(ctx, c, w)
	if err != nil {
		return err
	}
	if w.IsNew = existing == nil; !w.IsNew {
		w.Left = existing.Email
	}
	after, err := w.Apply(existing)
	if err != nil {
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
	w.Consent = w.DecideConsent(existing, inForce)
	w.Consent.Email = after.Email
	err = wr.List.WriteToList(ctx, org, func(bare bool) error {
		if bare { // choices about topics of a deleted list are deleted with it
			w.Consent.Preferences = nil
		}
		return wr.Account.PutContact(ctx, org, w.Consent)
	})
	if err != nil {
		return topics.Unavailable(err)
	}
	// The account may store the address with an internationalized domain in its other
	// form.
	if existing != nil && !strings.EqualFold(existing.Email, after.Email) {
		return topics.Unavailable(wr.Account.DeleteContact(ctx, org, existing.Email))
	}
	return nil
}

const maxMoves = 5

// hold locks all names of the write and returns the contact as it is then. If the
// contact has another address by then, hold releases the addresses and locks that one
// too. It keeps the lock on the external id throughout: that one is always taken before
// any address.
func (wr writer) hold(ctx context.Context, c *core.Call, w *write) (*Contact, error) {
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
		existing, err := w.existing(ctx, wr.Store, org)
		if err != nil || existing == nil || slices.Contains(keys, addressKey(c, existing.Email)) {
			c.Defer(release)
			return existing, err
		}
		release()
		keys = append(keys, addressKey(c, existing.Email))
	}
	return nil, &core.Error{
		Code: core.CodeContactClaimRace, RetryAfter: time.Second,
		Message: "The contact's address changed again and again while this call waited for its turn.",
	}
}

// addressKey returns the key under which writers of an address take turns.
func addressKey(c *core.Call, address string) string {
	return sending.AddressLockKey(c.Principal.Org.ID, address)
}

// consentInForce returns the consent that a write to an address starts from. It joins
// the live consent of an active contact, or the stored consent of an archived one, with
// the account's consent for the address. An opt-out from any source counts.
// listed is false when the account does not list the address. For an active contact that
// keeps its address, it is always true.
func (r consentReader) consentInForce(ctx context.Context, org string, existing *Contact, email string) (sending.Contact, bool, error) {
	var inForce sending.Contact
	switch {
	case existing != nil && existing.Status == Active:
		var err error
		if inForce, err = r.liveConsent(ctx, org, *existing); err != nil {
			return inForce, false, err
		}
		if EmailKey(existing.Email) == EmailKey(email) {
			return inForce, true, nil
		}
	case existing != nil:
		var err error
		if inForce, err = r.rememberedConsent(ctx, org, *existing); err != nil {
			return inForce, false, err
		}
		if EmailKey(existing.Email) != EmailKey(email) {
			left, err := r.Account.Contact(ctx, org, existing.Email)
			if err != nil && !sending.IsNotFound(err) {
				return inForce, false, topics.Unavailable(err)
			}
			inForce = topics.JoinConsent(inForce, left)
		}
	}
	known, err := r.Account.Contact(ctx, org, email)
	if sending.IsNotFound(err) {
		return inForce, false, nil
	}
	return topics.JoinConsent(inForce, known), true, topics.Unavailable(err)
}

// store is the second half of a write. A sync may create a shell between the read of the
// contact and the insert; store then tries once more.
func (wr writer) store(ctx context.Context, c *core.Call, w *write) (ContactWritten, error) {
	org := c.Principal.Org.ID
	existing, err := w.existing(ctx, wr.Store, org)
	if err != nil {
		return ContactWritten{}, err
	}
	if !w.settles(existing) {
		return ContactWritten{}, &core.Error{
			Code: core.CodeContactClaimRace, RetryAfter: time.Second,
			Message: "Another write gave the contact another address at the same moment.",
		}
	}
	written, err := wr.put(ctx, c, w, existing)
	if core.IsConflict(err) {
		found, errFound := w.existing(ctx, wr.Store, org)
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
	return written, wr.reportChanged(ctx, org, written.Contact.ID)
}

// put stores the edited contact in place of the existing one; existing is nil when there
// is none.
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
	// The time is that of the write, not of the call: a sync compares it with the time
	// of the page that it read, to see which is newer.
	now := wr.Clock()
	consent := w.Consent
	if w.Spared && existing != nil {
		consent = ConsentOf(*existing) // also for a contact that ceased to be a stub
	}
	after = after.Activate(consent, w.Spared && after.Stub, now)
	if existing == nil {
		return ContactWritten{Contact: after, Result: "created"}, wr.Store.InsertContact(ctx, org, after)
	}
	result := "updated"
	switch {
	case existing.Status == Archived:
		result = "reactivated"
	case (existing.Shell || existing.Stub) && w.IsNew:
		result = "created" // a sync stored the address that push had written, or an activity came first
	}
	return ContactWritten{Contact: after, Result: result}, wr.Store.UpdateContact(ctx, org, after)
}

// Activate returns the contact in use, with this consent and the time at which it is
// stored. A new contact gets an id.
func (c Contact) Activate(consent sending.Contact, stub bool, at time.Time) Contact {
	c.Status, c.UpdatedAt, c.Shell, c.Stub = Active, at, false, stub
	if c.ID == "" {
		c.ID, c.CreatedAt = core.NewID(), at
	}
	return c.WithConsent(consent)
}
