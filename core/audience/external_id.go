package audience

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Claim names a contact by external id, by address or by both, in a write that may
// create it, move it to the address or give it the id. An external id is compared
// byte for byte; no two contacts of an organization have the same, archived ones
// included.
type Claim struct {
	Email, ExternalID string
	// Rebind takes the address's contact from the external id it is bound to.
	Rebind bool
	// Bound is true in a write that cannot rebind, so that no refusal advises it.
	Bound bool
}

// contactFinder is as much of [Store] as it takes to judge a claim.
type contactFinder interface {
	ContactByEmail(ctx context.Context, orgID, email string) (Contact, error)
	ContactByExternalID(ctx context.Context, orgID, externalID string) (Contact, error)
}

// find looks for the external id first, then the address, and refuses what the two
// together make impossible. shell is the contact that stands where the one found
// moves to, when nobody has said anything about it here; it may be dropped.
func (cl Claim) find(ctx context.Context, store contactFinder, org string) (Contact, string, error) {
	if cl.ExternalID == "" {
		c, err := store.ContactByEmail(ctx, org, cl.Email)
		return c, "", err
	}
	byID, err := store.ContactByExternalID(ctx, org, cl.ExternalID)
	if cl.Email == "" || err != nil && !isNotFound(err) {
		return byID, "", err
	}
	if err == nil && EmailKey(byID.Email) == EmailKey(cl.Email) {
		return byID, "", nil
	}
	byEmail, errEmail := store.ContactByEmail(ctx, org, cl.Email)
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
	return Contact{}, "", taken.WithCall("contacts_lookup", map[string]any{"external_id": cl.ExternalID})
}

// mayTake fails with contact_external_id_mismatch when the contact that has the
// address is bound to another external id.
func (cl Claim) mayTake(incumbent Contact) error {
	if cl.Rebind || incumbent.ExternalID == nil || *incumbent.ExternalID == cl.ExternalID {
		return nil
	}
	next := "" // the catalogue's
	if cl.Bound {
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
func (cl Claim) apply(existing *Contact) (Contact, error) {
	if existing == nil && cl.Email == "" {
		return Contact{}, &core.Error{Code: core.CodeUnknownExternalID, Message: "No contact has this external id, and no address was given to create one."}
	}
	changed := Contact{}
	if existing != nil {
		changed = *existing
	}
	if cl.Email != "" {
		changed.Email = addressed(cl.Email)
	}
	if cl.ExternalID != "" {
		changed.ExternalID = &cl.ExternalID
	}
	return changed, nil
}

// lostRace turns a name that was free in Prepare and is taken in Do into
// contact_claim_race: another process claimed it in between.
func lostRace(err error) error {
	if !isConflict(err) {
		return err
	}
	return &core.Error{
		Code: core.CodeContactClaimRace, RetryAfter: time.Second, Err: err,
		Message: "Another write claimed the address or the external id at the same moment.",
	}
}
