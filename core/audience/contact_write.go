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

// contactWrite is a contact write between its two halves. The first half runs
// before the transaction: it reads the mirror, checks everything that can be
// refused, and brings the consent to the account. The second runs inside: it
// reads the mirror again, repeats the edit on what is there now, and stores it
// with the consent that the account accepted.
type contactWrite struct {
	// find is how the contact is looked up, in both halves.
	find func(ctx context.Context) (Contact, error)
	// edit is pure. It gets the contact that exists (Status says whether it is
	// archived) or nil, and returns what shall be stored.
	edit func(existing *Contact) (Contact, error)
	// decide returns the consent that shall hold, given the contact that exists, if
	// any, and the consent in force.
	decide func(existing *Contact, inForce sending.Contact) sending.Contact
	// states is true when the write says what the contact consents to, or states the
	// whole contact as POST and PUT of an address do. Any other leaves a stub what it
	// is, and the account without it.
	states bool
	// lists is nil when membership is untouched.
	lists membershipEdit
	// addresses, and the external id that is claimed, are what the write waits its
	// turn for, besides the address that the contact has.
	addresses []string
	claims    string

	consent sending.Contact // what the account accepted; set by push
	shell   string          // a shell that stands where the contact moves to; set by find
	isNew   bool            // nothing was there in the first half; set by push
	left    string          // the address that the contact had then; set by push
	spared  bool            // the account was not asked, because a stub stays one; set by push
	note    string          // of what the account is about to be told; set by push
}

// settles reports whether the account has what it should once the contact is stored:
// push wrote the address it gets and took back the one it had. A contact that another
// process has given a third would leave somebody's consent where no contact is.
func (w *contactWrite) settles(existing *Contact) bool {
	if existing == nil {
		return true
	}
	key := EmailKey(existing.Email)
	return key == EmailKey(w.consent.Email) || key == EmailKey(w.left)
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

// existing is the contact a write is about, nil when there is none.
func (w *contactWrite) existing(ctx context.Context) (*Contact, error) {
	c, err := w.find(ctx)
	if isNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &c, nil
}

// push is the first half: it asks the account and returns with the consent
// stored there. It holds the addresses, and the one that the contact has now,
// until the call is over.
func (a *Audience) push(ctx context.Context, c *core.Call, w *contactWrite) error {
	org := c.Principal.Org.ID
	existing, err := a.hold(ctx, c, w)
	if err != nil {
		return err
	}
	if w.isNew = existing == nil; !w.isNew {
		w.left = existing.Email
	}
	after, err := w.edit(existing)
	if err != nil {
		return err
	}
	if existing != nil && existing.Stub && !w.states && w.shell == "" {
		w.spared, w.consent.Email = true, after.Email
		return nil
	}
	inForce, listed, err := a.consentInForce(ctx, org, existing, after.Email)
	if err != nil {
		return err
	}
	if w.note, err = a.noteWrite(ctx, org, existing, after.Email, listed); err != nil {
		return err
	}
	w.consent = w.decide(existing, inForce)
	w.consent.Email = after.Email
	err = a.List.OnList(ctx, org, func(bare bool) error {
		if bare { // choices about topics of a list that is gone went with it
			w.consent.Preferences = nil
		}
		return a.Account.PutContact(ctx, org, w.consent)
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
func (a *Audience) hold(ctx context.Context, c *core.Call, w *contactWrite) (*Contact, error) {
	var keys []string
	for _, address := range w.addresses {
		keys = append(keys, turnOf(c, address))
	}
	if w.claims != "" {
		release, err := a.Turns.Lock(ctx, c.Principal.Org.ID+"#"+w.claims)
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
		existing, err := w.existing(ctx)
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
func (a *Audience) store(ctx context.Context, c *core.Call, w *contactWrite) (ContactWritten, error) {
	existing, err := w.existing(ctx)
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
		found, errFound := w.existing(ctx)
		if errFound == nil && (w.shell != "" || found != nil && (found.Shell || found.Stub)) {
			written, err = a.put(ctx, c, w, found)
		}
	}
	if err != nil {
		return ContactWritten{}, err
	}
	if err := a.dropNote(ctx, c.Principal.Org.ID, w.note); err != nil {
		return ContactWritten{}, err
	}
	c.About(written.Contact.ID)
	if written.Contact.Lists, err = a.applyMembership(ctx, c, written.Contact, w.lists); err != nil {
		return ContactWritten{}, err
	}
	return written, a.changed(ctx, c.Principal.Org.ID, written.Contact.ID)
}

// put stores the edited contact in place of the existing one, nil when there is none.
func (a *Audience) put(ctx context.Context, c *core.Call, w *contactWrite, existing *Contact) (ContactWritten, error) {
	org := c.Principal.Org.ID
	after, err := w.edit(existing)
	if err != nil {
		return ContactWritten{}, err
	}
	if w.shell != "" {
		if err := a.Store.DropShell(ctx, org, w.shell); err != nil {
			return ContactWritten{}, err
		}
	}
	// Dated now and not when the call began: a sync tells by this date that the
	// page it read from the account meanwhile is older than the mirror.
	now := a.Clock()
	consent := w.consent
	if w.spared && existing != nil {
		consent = consentOf(*existing) // also where it is no stub any more
	}
	after.Status, after.UpdatedAt, after.Shell, after.Stub = Active, now, false, w.spared && after.Stub
	after = after.withConsent(consent)
	if existing == nil {
		after.ID, after.CreatedAt = core.NewID(), now
		return ContactWritten{Contact: after, Result: "created"}, a.Store.InsertContact(ctx, org, after)
	}
	result := "updated"
	switch {
	case existing.Status == Archived:
		result = "reactivated"
	case (existing.Shell || existing.Stub) && w.isNew:
		result = "created" // a sync found at the account what push had put there, or an activity came first
	}
	return ContactWritten{Contact: after, Result: result}, a.Store.UpdateContact(ctx, org, after)
}

// decideConsent is the usual decision: the global opt-out changes only when it is
// said, and topics says what becomes of the choices in force.
func decideConsent(unsubscribeAll *bool, topics func(inForce map[string]sending.Subscription) map[string]sending.Subscription) func(*Contact, sending.Contact) sending.Contact {
	return func(_ *Contact, inForce sending.Contact) sending.Contact {
		decided := sending.Contact{UnsubscribeAll: inForce.UnsubscribeAll, Preferences: topics(inForce.Preferences)}
		if unsubscribeAll != nil {
			decided.UnsubscribeAll = *unsubscribeAll
		}
		return decided
	}
}

// replaceTopics leaves exactly these choices; the rest follow their defaults.
func replaceTopics(choices topics.Choices) func(map[string]sending.Subscription) map[string]sending.Subscription {
	return func(map[string]sending.Subscription) map[string]sending.Subscription { return topics.ByTopic(choices) }
}

// newTopics are the choices of a contact that the write makes, or takes back into use.
// Opt-outs in force hold unless the write names their topic: a caller that creates a
// contact cannot know of earlier opt-outs.
func newTopics(choices topics.Choices) func(map[string]sending.Subscription) map[string]sending.Subscription {
	return func(inForce map[string]sending.Subscription) map[string]sending.Subscription {
		named := topics.ByTopic(choices)
		for topic, choice := range inForce {
			if _, is := named[topic]; !is && choice == sending.OptOut {
				named[topic] = choice
			}
		}
		return named
	}
}

// mergeTopics changes the choices that are named and leaves the others.
func mergeTopics(choices topics.Choices) func(map[string]sending.Subscription) map[string]sending.Subscription {
	return func(inForce map[string]sending.Subscription) map[string]sending.Subscription {
		merged := topics.ByTopic(choices)
		for topic, choice := range inForce {
			if _, named := merged[topic]; !named {
				merged[topic] = choice
			}
		}
		return merged
	}
}
