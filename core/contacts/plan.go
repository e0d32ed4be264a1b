package contacts

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/consent"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/topics"
)

// Plan describes a write of one contact. Every write is a Plan: of a single contact, of a
// row of a bulk write or import, of an identified visitor, and of a stub. It is built from
// the request before the transaction, and applied to the stored contact inside it. Its
// methods have no side effects, so they return the same in both steps.
type Plan struct {
	Way   Way
	Claim Claim
	// Attributes has the values to change by attribute name, in the attributes' types. nil
	// clears a value.
	Attributes map[string]any
	Topics     topics.Choices
	Stated
	// Lists is the change of list memberships, nil for none.
	Lists *lists.Change
	// Read has the read-only members of a contact that the caller read earlier and sent
	// back; nil for none.
	Read *ReadBack
}

// Way is the kind of a write. It decides what the write does with a contact that exists.
type Way string

// The kinds of writes.
const (
	// Creating sets the whole contact. It fails if the contact is active, unless only a sync
	// or an activity has created it.
	Creating Way = "create"
	// Replacing replaces the whole contact, or creates the contact if it does not exist.
	Replacing Way = "replace"
	// Updating changes parts of an active contact, and fails if there is none.
	Updating Way = "update"
	// Upserting changes parts of the contact with the given address or external id, or
	// creates it.
	Upserting Way = "upsert"
	// Identifying creates the contact of a website visitor or sets its external id. It
	// changes no consent and fails for an archived contact.
	Identifying Way = "identify"
	// Stubbing creates a contact that an activity names and that has given no consent.
	Stubbing Way = "stub"
)

// find returns the contact that the plan names, nil if it does not exist. shell is the id
// of another contact that has the plan's address and that only a sync has created, "" for
// none. The write may delete that contact.
func (p Plan) find(ctx context.Context, store contactFinder, org string) (existing *Contact, shell string, err error) { //nolint:nonamedreturns // says which
	var c Contact
	if p.Way == Identifying {
		c, err = p.Claim.findVisitor(ctx, store, org)
	} else {
		c, shell, err = p.Claim.Find(ctx, store, org)
	}
	if core.IsNotFound(err) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	return &c, shell, nil
}

// Apply returns the contact with the changes of the plan, except for its consent and
// status. existing is nil for a contact that the write creates. It fails if this kind of
// write (Way) is not allowed for the contact.
func (p Plan) Apply(existing *Contact) (Contact, error) {
	if err := p.check(existing); err != nil {
		return Contact{}, err
	}
	switch p.Way {
	case Creating, Replacing:
		stated := Contact{}
		if existing != nil {
			stated = *existing
		}
		stated.Email = canonicalEmail(p.Claim.Email)
		return p.Stated.replace(stated.withOnlyAttributes(p.Attributes)), nil
	case Updating:
		return p.Stated.apply(existing.withAttributes(p.Attributes)), nil
	}
	claimed, err := p.Claim.apply(existing)
	return p.Stated.apply(claimed.withAttributes(p.Attributes)), err
}

// check fails if this kind of write (Way) is not allowed for the contact in its present
// state.
func (p Plan) check(existing *Contact) error {
	switch {
	case p.Way == Creating && existing != nil && existing.isInUse():
		return core.Conflict("A contact with this address exists.", "Use PATCH to change it or PUT to replace it.")
	case p.Way == Updating && existing == nil:
		return core.NotFound("contact")
	case p.Way == Updating && existing.Status == Archived:
		return core.Conflict("The contact is archived.", "Reactivate it with POST or PUT.")
	case p.Way == Identifying && existing != nil && existing.Status == Archived:
		return errArchivedVisitor()
	case p.Read != nil:
		return p.Read.check(existing)
	}
	return nil
}

// isInUse reports whether the contact is active and was written by a caller, not only by a
// sync or an activity.
func (c Contact) isInUse() bool { return c.Status == Active && !c.Shell && !c.Stub }

// StatedConsent returns the consent that the plan states.
func (p Plan) StatedConsent() consent.Statement {
	return consent.Statement{UnsubscribeAll: p.UnsubscribeAll, Topics: topics.ChoicesByTopic(p.Topics)}
}

// KeepsStub reports whether the contact is a stub before and after the write. A stub is
// known only from activities. After a write that creates or replaces the contact or states
// consent, it is no longer a stub.
//
// shell is the id of another contact that only a sync has created and whose address the
// write sets; "" for none. After a write that sets such an address, the contact is no stub
// either.
func (p Plan) KeepsStub(existing *Contact, shell string) bool {
	return existing != nil && existing.Stub && p.Way != Creating && p.Way != Replacing && p.StatedConsent().IsEmpty() && shell == ""
}

// DecideConsent returns the consent to store. inForce is the consent before the write.
func (p Plan) DecideConsent(existing *Contact, inForce sending.Contact) sending.Contact {
	return p.StatedConsent().Decide(inForce, p.keepsEarlier(existing))
}

// keepsEarlier says which earlier choices about topics the write leaves in force. A caller
// that creates a contact cannot know of earlier opt-outs, so they stay. A caller that
// replaces an active contact can read them first.
func (p Plan) keepsEarlier(existing *Contact) consent.Earlier {
	switch {
	case p.Way == Replacing && existing != nil && existing.isInUse():
		return consent.KeepNone
	case p.Way == Creating || p.Way == Replacing:
		return consent.KeepOptOuts
	}
	return consent.KeepAll
}

// ConsentChanges returns the consent changes to store with after, the result of the plan.
// was is the contact before, nil for a new one. stated is the change of a choice that the
// plan states. updated is the time at which the sending account last changed the contact; the
// zero time means that it is unknown.
func (p Plan) ConsentChanges(was *Contact, after Contact, stated consent.Change, updated time.Time) consent.Changes {
	before := Contact{}
	if was != nil {
		before = *was
	}
	return before.ConsentChanges.ByStatement(ConsentOf(before), ConsentOf(after), p.StatedConsent(), stated, updated)
}

// StubOf returns a new stub: the contact that an activity creates if no contact has the
// address or external id in its request. at is the time of creation. A stub has not
// consented, so it is not mailable.
func StubOf(id string, claim Claim, at time.Time) (Contact, error) {
	stub, err := Plan{Way: Stubbing, Claim: claim}.Apply(nil)
	if err != nil {
		return Contact{}, err
	}
	stub.ID, stub.CreatedAt = id, at
	return stub.Activate(sending.Contact{}, true, at), nil
}
