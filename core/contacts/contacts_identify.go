package contacts

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// IdentifyContactIn has the address, the external id or both of a website visitor.
type IdentifyContactIn struct {
	Email      string `json:"email,omitempty" jsonschema:"nullable,format=idn-email,maxLength=254" jsonschema_description:"Address of the contact; a new address creates a contact."`
	ExternalID string `json:"external_id,omitempty" jsonschema:"nullable,minLength=1,maxLength=255" jsonschema_description:"Your own id of the contact. With email: bound to the contact with that address, if that has none."`

	write  *write
	pushed bool // true if Prepare has written to the sending account
}

// Identified is the result of contacts_identify: the visitor's contact and visitor id.
type Identified struct {
	ContactID string `json:"contact_id" jsonschema:"format=uuid"`
	Result    string `json:"result" jsonschema:"enum=created,enum=existing"`
	Mailable  bool   `json:"mailable"`
	// VisitorID is part of the result of the call. It is a credential, so the result that is
	// stored for replays does not contain it.
	VisitorID string `json:"-"`
}

// IdentifiedView is the form of [Identified] in a REST response.
type IdentifiedView struct {
	ContactID string `json:"contact_id" jsonschema:"format=uuid"`
	VisitorID string `json:"visitor_id" voice:"ours" jsonschema_description:"Identifies the contact on your website; the same until the contact is archived. Treat it as a credential."`
	Result    string `json:"result" jsonschema:"enum=created,enum=existing" jsonschema_description:"Whether the call created the contact."`
	Mailable  bool   `json:"mailable" jsonschema_description:"Whether the contact may get mail at all."`
}

// RESTView returns the result of the call, including the visitor id.
func (i Identified) RESTView() IdentifiedView {
	return IdentifiedView{ContactID: i.ContactID, VisitorID: i.VisitorID, Result: i.Result, Mailable: i.Mailable}
}

func (cs *Contacts) contactsIdentify() core.Operation {
	return core.Declare(core.Op[IdentifyContactIn, Identified]{
		Name:  "contacts_identify",
		Title: "Identify a website visitor",
		Purpose: "Finds the contact by address, external id or both, creates it if the address is new, and returns its visitor id, the same at every call. " +
			"Call it from your server when a person signs in to your website. An archived contact is refused with `conflict`. It changes no consent.",
		Example: `{"email": "milan.bakker@example.com", "external_id": "customer-1043"}`,
		Effect:  core.Writes,
		Scopes:  []core.Scope{core.ContactsManage},
		Fails:   []core.Code{core.CodeUnknownExternalID, core.CodeExternalIDConflict, core.CodeContactClaimRace, core.CodeUpstreamUnavailable},
		Writes:  core.OneContact,
		Prepare: cs.prepareIdentify,
		Do:      cs.identify,
		Recall: func(ctx context.Context, c *core.Call, out Identified) (Identified, error) {
			var err error
			out.VisitorID, err = cs.VisitorIDs.Current(ctx, c.Principal.Org.ID, out.ContactID)
			if err == nil && out.VisitorID == "" {
				err = core.Conflict("The visitor id that this call issued has been revoked.", "Call again with a fresh idempotency key to get a new visitor id.")
			}
			return out, err
		},
	})
}

// prepareIdentify checks whether the contact must be created or changed. Only then does it
// call the sending account. So while the account is unavailable, visitors whose contact
// needs no change can still be identified.
func (cs *Contacts) prepareIdentify(ctx context.Context, c *core.Call, in IdentifyContactIn) (IdentifyContactIn, error) {
	if in.Email == "" && in.ExternalID == "" {
		missing := core.Invalid("email", "or `external_id` is required")
		missing.Status = 400 // a request without address and external id counts as malformed
		return in, missing
	}
	org := c.Principal.Org.ID
	in.write = &write{Plan: Plan{Way: Identifying, Claim: Claim{Email: in.Email, ExternalID: in.ExternalID}}}
	existing, err := in.write.findExisting(ctx, cs.Store, org)
	if err != nil || existing != nil && in.isKnownAs(*existing) {
		return in, err
	}
	in.pushed = true
	return in, cs.writer().push(ctx, c, in.write)
}

// errArchivedVisitor returns the conflict error for a visitor whose contact is archived.
// The contact was archived on purpose, and signing in to a website is no consent.
func errArchivedVisitor() *core.Error {
	return core.Conflict("The contact is archived, and identifying a visitor does not reactivate it.",
		"Reactivate the contact first with `PUT /v1/contacts/{email}` or contacts_upsert, or leave it archived and set no visitor cookie.")
}

// isKnownAs reports whether the contact needs no write: it is active, has the external id
// of the call, if any, and was not created only by a sync. A contact that only a sync has
// created must be written. Otherwise a write of another contact could take over its address
// and delete it.
func (in IdentifyContactIn) isKnownAs(c Contact) bool {
	return c.Status == Active && !c.Shell && (in.ExternalID == "" || c.ExternalID != nil && *c.ExternalID == in.ExternalID)
}

// findVisitor returns the contact with the visitor's external id or address. It fails with
// external_id_conflict if the contact with the external id has another address. It also
// fails with this code if the contact with the address has another external id. Identifying
// a visitor changes neither the address nor the external id.
func (cl Claim) findVisitor(ctx context.Context, store contactFinder, org string) (Contact, error) {
	if cl.ExternalID == "" {
		return store.ContactByEmail(ctx, org, cl.Email)
	}
	byID, err := store.ContactByExternalID(ctx, org, cl.ExternalID)
	if cl.Email == "" || err != nil && !core.IsNotFound(err) {
		return byID, err
	}
	byEmail, errEmail := store.ContactByEmail(ctx, org, cl.Email)
	switch {
	case errEmail != nil && !core.IsNotFound(errEmail):
		return Contact{}, errEmail
	case err == nil && (errEmail != nil || byEmail.ID != byID.ID):
		return Contact{}, &core.Error{Code: core.CodeExternalIDConflict, Message: "The address and the external id belong to different contacts."}
	case errEmail == nil && byEmail.ExternalID != nil && *byEmail.ExternalID != cl.ExternalID:
		return Contact{}, &core.Error{Code: core.CodeExternalIDConflict, Message: "The contact with this address has another external id."}
	}
	return byEmail, errEmail
}

func (cs *Contacts) identify(ctx context.Context, c *core.Call, in IdentifyContactIn) (Identified, error) {
	org := c.Principal.Org.ID
	existing, err := in.write.findExisting(ctx, cs.Store, org)
	if err != nil {
		return Identified{}, err
	}
	found := Identified{Result: "existing"}
	switch {
	case existing != nil && existing.Status == Archived:
		return Identified{}, errArchivedVisitor()
	case existing != nil && in.isKnownAs(*existing):
		found.ContactID, found.Mailable = existing.ID, existing.withMailable().Mailable
		c.SetSubject(existing.ID)
	case !in.pushed:
		return Identified{}, &core.Error{
			Code: core.CodeContactClaimRace, RetryAfter: time.Second, Message: "Another call changed the contact's address or external id at the same moment.",
		}
	default:
		written, err := cs.writer().store(ctx, c, in.write)
		if err != nil {
			return Identified{}, raceError(err)
		}
		found.ContactID, found.Mailable = written.Contact.ID, written.Contact.Mailable
		if written.WasCreated() {
			found.Result = "created"
		}
	}
	found.VisitorID, err = cs.VisitorIDs.Issue(ctx, org, found.ContactID, c.Now)
	return found, err
}
