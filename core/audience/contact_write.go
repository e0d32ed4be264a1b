package audience

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

// Told is what the first half of a write found and what it told the account.
type Told struct {
	// Consent is what the account accepted, with the address that it has it for.
	Consent sending.Contact
	// Shell is the contact that stands where the contact moves to; the latest look sets it.
	Shell string
	// IsNew is true if no contact was there.
	IsNew bool
	// Left is the address that the contact had.
	Left string
	// Spared is true if the account was not asked, because a stub stays one.
	Spared bool
	// Note is the id of the note about what the account was told.
	Note string
}

// settles reports whether the account has what it should once the contact is stored:
// push wrote the address it gets and took back the one it had. A contact that another
// process has given a third would leave somebody's consent where no contact is.
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
	// VisitorID is shown and not remembered with the result: it is a credential.
	VisitorID string `json:"-"`
}

// RESTView is the contact alone.
func (w ContactWritten) RESTView() Contact { return w.Contact }

// WasCreated reports whether the contact is new.
func (w ContactWritten) WasCreated() bool { return w.Result == "created" }

// existing returns the contact that the write is about, nil if it does not exist.
func (w *write) existing(ctx context.Context, store contactFinder, org string) (*Contact, error) {
	existing, shell, err := w.find(ctx, store, org)
	w.Shell = shell
	return existing, err
}

// push is the first half: it asks the account and returns with the consent
// stored there. It holds the addresses, and the one that the contact has now,
// until the call is over.
func (a *Audience) push(ctx context.Context, c *core.Call, w *write) error {
	org := c.Principal.Org.ID
	existing, err := a.hold(ctx, c, w)
	if err != nil {
		return err
	}
	if w.IsNew = existing == nil; !w.IsNew {
		w.Left = existing.Email
	}
	after, err := w.apply(existing)
	if err != nil {
		return err
	}
	if w.keepsStub(existing, w.Shell) {
		w.Spared, w.Consent.Email = true, after.Email
		return nil
	}
	inForce, listed, err := a.consentInForce(ctx, org, existing, after.Email)
	if err != nil {
		return err
	}
	if w.Note, err = a.noteWrite(ctx, org, existing, after.Email, listed); err != nil {
		return err
	}
	w.Consent = w.decide(existing, inForce)
	w.Consent.Email = after.Email
	err = a.List.OnList(ctx, org, func(bare bool) error {
		if bare { // choices about topics of a list that is gone went with it
			w.Consent.Preferences = nil
		}
		return a.Account.PutContact(ctx, org, w.Consent)
	})
	if err != nil {
		return topics.Unavailable(err)
	}
	// An account may have the address spelled with an internationalized domain.
	if existing != nil && !strings.EqualFold(existing.Email, after.Email) {
		return topics.Unavailable(a.Account.DeleteContact(ctx, org, existing.Email))
	}
	return nil
}

const maxMoves = 5

// hold takes the turn for all names of the write and returns the contact as it is
// then. While it waits the contact may move to an address that nobody holds; then
// it lets go of the addresses and takes that one too. The external id it keeps
// meanwhile, which is always waited for before any address.
func (a *Audience) hold(ctx context.Context, c *core.Call, w *write) (*Contact, error) {
	org := c.Principal.Org.ID
	var keys []string
	if w.Claim.Email != "" {
		keys = append(keys, turnOf(c, w.Claim.Email))
	}
	if w.Claim.ExternalID != "" {
		release, err := a.Turns.Lock(ctx, org+"#"+w.Claim.ExternalID)
		if err != nil {
			return nil, err
		}
		c.After(release)
	}
	for range maxMoves {
		release, err := a.Turns.Lock(ctx, keys...)
		if err != nil {
			return nil, err
		}
		existing, err := w.existing(ctx, a.Store, org)
		if err != nil || existing == nil || slices.Contains(keys, turnOf(c, existing.Email)) {
			c.After(release)
			return existing, err
		}
		release()
		keys = append(keys, turnOf(c, existing.Email))
	}
	return nil, &core.Error{
		Code: core.CodeContactClaimRace, RetryAfter: time.Second,
		Message: "The contact's address changed again and again while this call waited for its turn.",
	}
}

// turnOf is the key under which writers of an address take turns.
func turnOf(c *core.Call, address string) string {
	return sending.AddressTurn(c.Principal.Org.ID, address)
}

// consentInForce is the consent a write to an address starts from. It gathers
// what is known: of an active contact what holds now, of an archived one what it left
// with, and of the address whatever the account has, be
// it new to the mirror or another than before. A no from anywhere counts.
// listed is false when the account does not list the address, of another contact than
// an active one that has it.
func (a *Audience) consentInForce(ctx context.Context, org string, existing *Contact, email string) (sending.Contact, bool, error) {
	var inForce sending.Contact
	switch {
	case existing != nil && existing.Status == Active:
		var err error
		if inForce, err = a.liveConsent(ctx, org, *existing); err != nil {
			return inForce, false, err
		}
		if EmailKey(existing.Email) == EmailKey(email) {
			return inForce, true, nil
		}
	case existing != nil:
		var err error
		if inForce, err = a.rememberedConsent(ctx, org, *existing); err != nil {
			return inForce, false, err
		}
		if EmailKey(existing.Email) != EmailKey(email) {
			left, err := a.Account.Contact(ctx, org, existing.Email)
			if err != nil && !sending.IsNotFound(err) {
				return inForce, false, topics.Unavailable(err)
			}
			inForce = topics.JoinConsent(inForce, left)
		}
	}
	known, err := a.Account.Contact(ctx, org, email)
	if sending.IsNotFound(err) {
		return inForce, false, nil
	}
	return topics.JoinConsent(inForce, known), true, topics.Unavailable(err)
}

// store is the second half. A sync may end between its look for the contact and
// its write, and leave a shell where nothing was; then it looks once more.
func (a *Audience) store(ctx context.Context, c *core.Call, w *write) (ContactWritten, error) {
	org := c.Principal.Org.ID
	existing, err := w.existing(ctx, a.Store, org)
	if err != nil {
		return ContactWritten{}, err
	}
	if !w.settles(existing) {
		return ContactWritten{}, &core.Error{
			Code: core.CodeContactClaimRace, RetryAfter: time.Second,
			Message: "Another write gave the contact another address at the same moment.",
		}
	}
	written, err := a.put(ctx, c, w, existing)
	if isConflict(err) {
		found, errFound := w.existing(ctx, a.Store, org)
		if errFound == nil && (w.Shell != "" || found != nil && (found.Shell || found.Stub)) {
			written, err = a.put(ctx, c, w, found)
		}
	}
	if err != nil {
		return ContactWritten{}, err
	}
	if err := a.dropNote(ctx, org, w.Note); err != nil {
		return ContactWritten{}, err
	}
	c.About(written.Contact.ID)
	if written.Contact.Lists, err = a.Lists.ApplyChange(ctx, c.Principal.Org.ID, written.Contact.ID, written.Contact.Lists, w.Lists); err != nil {
		return ContactWritten{}, err
	}
	return written, a.changed(ctx, org, written.Contact.ID)
}

// put stores the edited contact in place of the existing one, nil when there is none.
func (a *Audience) put(ctx context.Context, c *core.Call, w *write, existing *Contact) (ContactWritten, error) {
	org := c.Principal.Org.ID
	after, err := w.apply(existing)
	if err != nil {
		return ContactWritten{}, err
	}
	if w.Shell != "" {
		if err := a.Store.DropShell(ctx, org, w.Shell); err != nil {
			return ContactWritten{}, err
		}
	}
	// Dated now and not when the call began: a sync tells by this date that the
	// page it read from the account meanwhile is older than the mirror.
	now := a.Clock()
	consent := w.Consent
	if w.Spared && existing != nil {
		consent = consentOf(*existing) // also where it is no stub any more
	}
	after = after.stored(consent, w.Spared && after.Stub, now)
	if existing == nil {
		return ContactWritten{Contact: after, Result: "created"}, a.Store.InsertContact(ctx, org, after)
	}
	result := "updated"
	switch {
	case existing.Status == Archived:
		result = "reactivated"
	case (existing.Shell || existing.Stub) && w.IsNew:
		result = "created" // a sync found at the account what push had put there, or an activity came first
	}
	return ContactWritten{Contact: after, Result: result}, a.Store.UpdateContact(ctx, org, after)
}

// stored returns the contact in use with this consent, as it is stored at a time. A new
// contact gets an id.
func (c Contact) stored(consent sending.Contact, stub bool, at time.Time) Contact {
	c.Status, c.UpdatedAt, c.Shell, c.Stub = Active, at, false, stub
	if c.ID == "" {
		c.ID, c.CreatedAt = core.NewID(), at
	}
	return c.withConsent(consent)
}
