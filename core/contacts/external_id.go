package contacts

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Claim names a contact by external id, by address or by both. A write with both may create
// the contact, change its address, or give it the external id. External ids are compared
// byte for byte and are unique in an organization, including archived contacts.
type Claim struct {
	Email, ExternalID string
	// Rebind allows the write to replace the external id of the contact that has the
	// address.
	Rebind bool
	// Bound is true if the operation has no argument that sets Rebind. The error for a
	// contact with another external id then suggests the REST route that has this argument.
	Bound bool
}

// contactFinder is the part of [Store] that finds the contact that a [Claim] names.
type contactFinder interface {
	ContactByEmail(ctx context.Context, orgID, email string) (Contact, error)
	ContactByExternalID(ctx context.Context, orgID, externalID string) (Contact, error)
	HasActivities(ctx context.Context, orgID, contactID string) (bool, error)
}

// Find returns the contact with the claim's external id. If no contact has this id, it
// returns the contact with the claim's address. It fails if that contact has another
// external id and Rebind is false.
//
// Find also fails if the external id and the address belong to two contacts, unless the
// contact with the address is a shell (only a sync has written it) without activities. Then
// it also returns the id of the shell, which the write may delete.
func (cl Claim) Find(ctx context.Context, store contactFinder, org string) (Contact, string, error) {
	if cl.ExternalID == "" {
		c, err := store.ContactByEmail(ctx, org, cl.Email)
		return c, "", err
	}
	byID, err := store.ContactByExternalID(ctx, org, cl.ExternalID)
	if cl.Email == "" || err != nil && !core.IsNotFound(err) {
		return byID, "", err
	}
	if err == nil && EmailKey(byID.Email) == EmailKey(cl.Email) {
		return byID, "", nil
	}
	byEmail, errEmail := store.ContactByEmail(ctx, org, cl.Email)
	switch {
	case errEmail != nil && !core.IsNotFound(errEmail):
		return Contact{}, "", errEmail
	case core.IsNotFound(err) && errEmail == nil:
		return byEmail, "", cl.mayTake(byEmail)
	case core.IsNotFound(err):
		return Contact{}, "", err
	case errEmail != nil:
		return byID, "", nil
	case byEmail.Shell:
		if kept, err := store.HasActivities(ctx, org, byEmail.ID); err != nil || !kept {
			return byID, byEmail.ID, err
		}
	}
	taken := &core.Error{Code: core.CodeContactEmailTaken, Message: "The contact with this external id cannot get this address: another contact has it."}
	return Contact{}, "", taken.WithCall("contacts_lookup", map[string]any{"external_id": cl.ExternalID})
}

// mayTake fails with contact_external_id_mismatch if incumbent, the contact that has the
// address, has another external id and Rebind is false.
func (cl Claim) mayTake(incumbent Contact) error {
	if cl.Rebind || incumbent.ExternalID == nil || *incumbent.ExternalID == cl.ExternalID {
		return nil
	}
	next := "" // if next is "", the error has the default next step of its error code
	if cl.Bound {
		next = "Leave `external_id` out to change the contact of this address as it is, or send the external id that it has. " +
			"To give it another external id, call `PUT /v1/contacts/by-external-id/{external_id}` with `rebind_external_id`."
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

// apply returns the contact with the claim's address and external id. existing is nil for a
// new contact. A new contact needs an address: without one, apply fails with
// unknown_external_id.
func (cl Claim) apply(existing *Contact) (Contact, error) {
	if existing == nil && cl.Email == "" {
		return Contact{}, &core.Error{Code: core.CodeUnknownExternalID, Message: "No contact has this external id, and no address was given to create one."}
	}
	changed := Contact{}
	if existing != nil {
		changed = *existing
	}
	if cl.Email != "" {
		changed.Email = canonicalEmail(cl.Email)
	}
	if cl.ExternalID != "" {
		changed.ExternalID = &cl.ExternalID
	}
	return changed, nil
}

// raceError returns contact_claim_race if err is a conflict, and err itself otherwise. A
// conflict means that another process took the address or external id after Prepare had
// found it free.
func raceError(err error) error {
	if !core.IsConflict(err) {
		return err
	}
	return &core.Error{
		Code: core.CodeContactClaimRace, RetryAfter: time.Second, Err: err,
		Message: "Another write claimed the address or the external id at the same moment.",
	}
}
