package contacts

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/topics"
)

// Plan is a write of one contact as data. Every write is a Plan: of one contact by its
// name, of a row of a bulk write or import, of an identified visitor, and of a stub. It
// is built from the request before the transaction, and applied to the stored contact
// inside it. Its methods are pure, so that both halves of a write have the same result.
type Plan struct {
	Way   Way
	Claim Claim
	// Attributes has values by name, converted to the types of the registry. nil clears
	// a value.
	Attributes map[string]any
	Topics     topics.Choices
	Stated
	// Lists is nil where memberships stay as they are.
	Lists *lists.Change
	// Read has the read-only members that the caller sent back from a read; nil for
	// none.
	Read *ReadBack
}

// Way is the rule by which a write treats the contact that exists.
type Way string

// The ways of writing a contact.
const (
	// Creating states the whole contact and refuses one that is in use.
	Creating Way = "create"
	// Replacing states the whole contact.
	Replacing Way = "replace"
	// Updating changes parts of a contact in use and refuses any other.
	Updating Way = "update"
	// Upserting changes parts of the contact that the claim names, or creates it.
	Upserting Way = "upsert"
	// Identifying is Upserting without consent; it refuses an archived contact.
	Identifying Way = "identify"
	// Stubbing creates a contact that has not consented, for an activity.
	Stubbing Way = "stub"
)

// find returns the contact that the plan names, nil if it does not exist. shell is the
// id of a shell at the address that the contact moves to; the write may drop it.
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

// Apply returns the contact as the plan leaves it, except for its consent and status.
// existing is nil for a contact that the write creates. It fails if the plan's way does
// not allow the write.
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
		return p.Stated.apply(stated.withOnlyAttributes(p.Attributes)), nil
	case Updating:
		return p.Stated.apply(existing.withAttributes(p.Attributes)), nil
	}
	claimed, err := p.Claim.apply(existing)
	return p.Stated.apply(claimed.withAttributes(p.Attributes)), err
}

// check refuses a contact in a state that the plan's way does not allow.
func (p Plan) check(existing *Contact) error {
	switch {
	case p.Way == Creating && existing != nil && existing.isInUse():
		return core.Conflict("A contact with this address exists.", "Use PATCH to change it or PUT to replace it.")
	case p.Way == Updating && existing == nil:
		return core.NotFound("contact")
	case p.Way == Updating && existing.Status == Archived:
		return core.Conflict("The contact is archived.", "Create it again with POST or PUT, which takes it back into use.")
	case p.Way == Identifying && existing != nil && existing.Status == Archived:
		return errArchivedVisitor()
	case p.Read != nil:
		return p.Read.check(existing)
	}
	return nil
}

// isInUse reports whether a caller has written the contact and not archived it since.
func (c Contact) isInUse() bool { return c.Status == Active && !c.Shell && !c.Stub }

// StatesConsent reports whether the plan names a choice about a topic or the global opt-out.
func (p Plan) StatesConsent() bool { return p.UnsubscribeAll != nil || len(p.Topics) > 0 }

// KeepsStub reports whether a stub stays a stub. It does if the plan states neither
// consent nor the whole contact, and the contact does not move to the address of a
// shell.
func (p Plan) KeepsStub(existing *Contact, shell string) bool {
	return existing != nil && existing.Stub && p.Way != Creating && p.Way != Replacing && !p.StatesConsent() && shell == ""
}

// DecideConsent returns the consent to store, given the consent in force. The global opt-out
// changes only if the plan states it.
func (p Plan) DecideConsent(existing *Contact, inForce sending.Contact) sending.Contact {
	decided := sending.Contact{UnsubscribeAll: inForce.UnsubscribeAll, Preferences: p.choices(existing, inForce.Preferences)}
	if p.UnsubscribeAll != nil {
		decided.UnsubscribeAll = *p.UnsubscribeAll
	}
	return decided
}

// choices returns the choices about topics that shall hold:
//
//   - Replacing a contact in use: exactly those of the plan.
//   - Creating and Replacing any other: those of the plan, and opt-outs in force about
//     other topics. A caller that creates a contact cannot know of earlier opt-outs.
//   - In every other way: those of the plan, and all in force about other topics.
func (p Plan) choices(existing *Contact, inForce map[string]sending.Subscription) map[string]sending.Subscription {
	named := topics.ChoicesByTopic(p.Topics)
	if p.Way == Replacing && existing != nil && existing.isInUse() {
		return named
	}
	states := p.Way == Creating || p.Way == Replacing
	for topic, choice := range inForce {
		if _, is := named[topic]; !is && (!states || choice == sending.OptOut) {
			named[topic] = choice
		}
	}
	return named
}

// StubOf returns the stub that an activity creates from the names it was sent with, at
// the time it is stored. A stub has not consented, so it is not mailable.
func StubOf(id string, claim Claim, at time.Time) (Contact, error) {
	stub, err := Plan{Way: Stubbing, Claim: claim}.Apply(nil)
	if err != nil {
		return Contact{}, err
	}
	stub.ID, stub.CreatedAt = id, at
	return stub.Activate(sending.Contact{}, true, at), nil
}
