package audience

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/topics"
)

// claim names a contact by external id, by address or by both, in a write that may
// create it, move it to the address or give it the id. An external id is compared
// byte for byte; no two contacts of an organization have the same, archived ones
// included.
type claim struct {
	email, externalID string
	// rebind takes the address's contact from the external id it is bound to.
	rebind bool
	// bound is true in a write that cannot rebind, so that no refusal advises it.
	bound bool
}

// contactFinder is as much of [Store] as it takes to judge a claim.
type contactFinder interface {
	ContactByEmail(ctx context.Context, orgID, email string) (Contact, error)
	ContactByExternalID(ctx context.Context, orgID, externalID string) (Contact, error)
}

// find looks for the external id first, then the address, and refuses what the two
// together make impossible. shell is the contact that stands where the one found
// moves to, when nobody has said anything about it here; it may be dropped.
func (cl claim) find(ctx context.Context, store contactFinder, org string) (Contact, string, error) {
	if cl.externalID == "" {
		c, err := store.ContactByEmail(ctx, org, cl.email)
		return c, "", err
	}
	byID, err := store.ContactByExternalID(ctx, org, cl.externalID)
	if cl.email == "" || err != nil && !isNotFound(err) {
		return byID, "", err
	}
	if err == nil && EmailKey(byID.Email) == EmailKey(cl.email) {
		return byID, "", nil
	}
	byEmail, errEmail := store.ContactByEmail(ctx, org, cl.email)
	switch {
	case errEmail != nil && !isNotFound(errEmail):
		return Contact{}, "", errEmail
	case isNotFound(err) && errEmail == nil:
		return byEmail, "", cl.mayTake(byEmail)
	case isNotFound(err):
		return Contact{}, "", err
	case errEmail != nil:
		return byID, "", nil
	case byEmail.Shell:
		return byID, byEmail.ID, nil
	}
	taken := &core.Error{Code: core.CodeContactEmailTaken, Message: "The contact with this external id cannot get this address: another contact has it."}
	return Contact{}, "", taken.WithCall("contacts_lookup", map[string]any{"external_id": cl.externalID})
}

// finder looks for the contact that the claim is about.
func (cl claim) finder(store contactFinder, org string) func(context.Context) (Contact, error) {
	return func(ctx context.Context) (Contact, error) {
		found, _, err := cl.find(ctx, store, org)
		return found, err
	}
}

// mayTake fails with contact_external_id_mismatch when the contact that has the
// address is bound to another external id.
func (cl claim) mayTake(incumbent Contact) error {
	if cl.rebind || incumbent.ExternalID == nil || *incumbent.ExternalID == cl.externalID {
		return nil
	}
	next := "" // the catalogue's
	if cl.bound {
		next = "Leave `external_id` out to change the contact of this address as it is, or send the external id that it has. " +
			"To give it another one, use the API's route by external id, which can rebind."
	}
	return &core.Error{
		Code: core.CodeContactExternalIDMismatch, Next: next,
		Message: "The contact with this address has another external id.",
		Extra: map[string]any{
			"incumbent_external_id": *incumbent.ExternalID,
			"incumbent_archived":    incumbent.Status == Archived,
		},
		Call: &core.NextCall{Operation: "contacts_lookup", Arguments: map[string]any{"external_id": *incumbent.ExternalID}},
	}
}

// apply is the contact with the address and the external id claimed for it; nil is
// a new one, which needs an address.
func (cl claim) apply(existing *Contact) (Contact, error) {
	if existing == nil && cl.email == "" {
		return Contact{}, &core.Error{Code: core.CodeUnknownExternalID, Message: "No contact has this external id, and no address was given to create one."}
	}
	changed := Contact{}
	if existing != nil {
		changed = *existing
	}
	if cl.email != "" {
		changed.Email = addressed(cl.email)
	}
	if cl.externalID != "" {
		changed.ExternalID = &cl.externalID
	}
	return changed, nil
}

// lostRace turns a name that was free in Prepare and is taken in Do into
// contact_claim_race: another process claimed it in between.
func (cl claim) lostRace(err error) error {
	if !isConflict(err) {
		return err
	}
	return &core.Error{
		Code: core.CodeContactClaimRace, RetryAfter: time.Second, Err: err,
		Message: "Another write claimed the address or the external id at the same moment.",
	}
}

// changes is what a write says about a contact besides who it is: what is named
// changes, the rest stays.
type changes struct {
	attributes     map[string]any
	topics         topics.Choices
	unsubscribeAll *bool
	lists          membershipEdit
}

// claimed is the write that applies changes to the contact claimed, or creates it.
func (a *Audience) claimed(org string, cl claim, ch changes) *contactWrite {
	w := &contactWrite{
		decide: decideConsent(ch.unsubscribeAll, mergeTopics(ch.topics)),
		states: ch.saysConsent(),
		lists:  ch.lists,
		claims: cl.externalID,
		edit: func(existing *Contact) (Contact, error) {
			changed, err := cl.apply(existing)
			return changed.withAttributes(ch.attributes), err
		},
	}
	if cl.email != "" {
		w.addresses = []string{cl.email}
	}
	w.find = func(ctx context.Context) (Contact, error) {
		found, shell, err := cl.find(ctx, a.Store, org)
		w.shell = shell
		return found, err
	}
	return w
}
