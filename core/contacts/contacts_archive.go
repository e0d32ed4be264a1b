package contacts

import (
	"context"
	"strconv"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/topics"
)

// ArchiveContactIn has the address or the external id of the contact to archive.
type ArchiveContactIn struct {
	Email      string `json:"email,omitempty" jsonschema:"format=idn-email,maxLength=254" jsonschema_description:"Address of the contact, in any case, such as ada@example.com."`
	ExternalID string `json:"external_id,omitempty" only:"agent" jsonschema:"minLength=1,maxLength=255" jsonschema_description:"Your own id of the contact. Send it instead of email."`

	// accountConsent is the contact's consent before archiving, nil if there is no
	// contact to archive. It is read from the sending account, because the database may
	// lack the contact's latest opt-out.
	accountConsent *sending.Contact
	note           string // id of the account note that prepareArchive stored, "" for none
}

// ArchivedContact is the result of archiving a contact.
type ArchivedContact struct {
	Archived bool   `json:"archived" jsonschema_description:"Whether this call archived the contact."`
	Summary  string `json:"summary" voice:"ours" jsonschema_description:"What happened, in a sentence."`
}

func (cs *Contacts) contactsArchive() core.Operation {
	return core.Declare(core.Op[ArchiveContactIn, ArchivedContact]{
		Name:  "contacts_archive",
		Title: "Archive a contact",
		Purpose: "Archives one contact: it leaves every list and gets no mail, and keeps its data and opt-outs. " +
			"Use it to remove a person from the audience; to stop mail only, set unsubscribe_all with contacts_upsert. " +
			"Returns whether this call archived a contact. It erases no data.",
		Example: `{"email": "noor.visser@example.com"}`,
		Effect:  core.Destroys,
		Scopes:  []core.Scope{core.ContactsManage},
		Fails:   []core.Code{core.CodeUpstreamUnavailable},
		Writes:  core.OneContact,
		Prepare: cs.prepareArchive,
		Do:      cs.archive,
	})
}

// prepareArchive removes the contact's address from the sending account's contact list. An
// address with an opt-out stays there, so that the account still refuses to send to it.
func (cs *Contacts) prepareArchive(ctx context.Context, c *core.Call, in ArchiveContactIn) (ArchiveContactIn, error) {
	if (in.Email == "") == (in.ExternalID == "") {
		return in, core.Invalid("email", "or `external_id` is required, and not both")
	}
	org := c.Principal.Org.ID
	existing, err := cs.writer().lockIdentifiers(ctx, c, &write{Plan: Plan{Claim: in.claim()}})
	if err != nil || existing == nil || existing.Status == Archived {
		return in, err
	}
	inForce, err := cs.consents().liveConsent(ctx, org, *existing)
	if err != nil {
		return in, err
	}
	if in.accountConsent = &inForce; topics.HasOptOut(inForce) || existing.Stub {
		return in, nil
	}
	if in.note, err = cs.writer().note(ctx, org, existing.ID, ""); err != nil {
		return in, err
	}
	err = cs.Account.DeleteContact(ctx, org, existing.Email)
	if sending.IsAbsent(err) {
		return in, nil // the sending account does not have the address
	}
	return in, topics.Unavailable(err)
}

func (cs *Contacts) archive(ctx context.Context, c *core.Call, in ArchiveContactIn) (ArchivedContact, error) {
	org := c.Principal.Org.ID
	contact, _, err := in.claim().Find(ctx, cs.Store, org)
	if core.IsNotFound(err) {
		return ArchivedContact{Summary: "There is no such contact; nothing was done."}, nil
	}
	if err != nil {
		return ArchivedContact{}, err
	}
	c.SetSubject(contact.ID)
	if contact.Status == Archived {
		return ArchivedContact{Summary: "The contact was archived already; nothing was done."}, nil
	}
	now := cs.Clock() // SetListMembership uses the same clock
	// The lists come first: a deletion sends the writes before it, which otherwise go together.
	listsLeft, err := cs.Lists.LeaveAll(ctx, org, contact.ID, now)
	if err != nil {
		return ArchivedContact{}, err
	}
	if in.accountConsent != nil {
		contact = contact.WithAccountConsent(*in.accountConsent, now)
	}
	contact.Status, contact.UpdatedAt = Archived, now
	if err := cs.Store.UpdateContact(ctx, org, contact); err != nil {
		return ArchivedContact{}, err
	}
	if err := cs.writer().dropNote(ctx, org, in.note); err != nil {
		return ArchivedContact{}, err
	}
	if err := cs.VisitorIDs.Revoke(ctx, org, contact.ID); err != nil {
		return ArchivedContact{}, err
	}
	return ArchivedContact{Archived: true, Summary: archivedSummary(listsLeft)}, cs.reportChanged(ctx, org, contact.ID)
}

// claim returns the address or external id that the call named.
func (in ArchiveContactIn) claim() Claim { return Claim{Email: in.Email, ExternalID: in.ExternalID} }

func archivedSummary(lists int) string {
	return "The contact is archived, is no longer mailable and left " + countOf(lists, "list") + ". Its address, external id, attributes and opt-outs are kept."
}

// countOf returns a number with its noun, in the plural unless it is 1: "1 list", "2
// lists".
func countOf(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
