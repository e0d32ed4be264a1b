package contacts

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// LookupContactIn has the address, the external id or the contact id of the contact to
// read. Exactly one of them must be set.
type LookupContactIn struct {
	Email      string `json:"email,omitempty" jsonschema:"format=idn-email,maxLength=254" jsonschema_description:"Whole address, in any case, such as ada@example.com."`
	ExternalID string `json:"external_id,omitempty" only:"agent" jsonschema:"minLength=1,maxLength=255" jsonschema_description:"Your own id of the contact. Send it instead of email."`
	ContactID  string `json:"contact_id,omitempty" only:"agent" jsonschema:"format=uuid" jsonschema_description:"UUID that Mailhelm gave the contact. Send exactly one of the three."`

	found   Contact
	details Details
}

// FoundContact is one contact with all its details. Results for agents have all three
// fields; a REST response has only the field Contact.
type FoundContact struct {
	Contact   Contact
	VisitorID string
	Segments  int
	// Suppressed says that the sending account suppresses the address. Broadcasts and workflows
	// use the same stored copy of its list.
	Suppressed bool
}

// LookupView is the result of the MCP tool contacts_lookup. The REST route returns only the
// contact.
type LookupView struct {
	Contact      Contact `json:"contact"`
	MailableNote string  `json:"mailable_note" voice:"ours" jsonschema_description:"Whether mail may be sent to the contact, and why not."`
	VisitorID    string  `json:"visitor_id,omitempty" voice:"ours" jsonschema_description:"Recognizes the contact on your website. Treat it as a credential."`
	Segments     int     `json:"segments_count" jsonschema_description:"How many segments the contact is in."`
}

// RESTView returns only the contact.
func (f FoundContact) RESTView() Contact { return f.Contact }

// AgentView returns the result for agents, with a sentence on whether the contact is
// mailable.
func (f FoundContact) AgentView() LookupView {
	note := f.Contact.MailableNote()
	if f.Suppressed && f.Contact.Mailable {
		note = "Not mailable: the sending account suppresses the address. Call suppressions_check_address for the reason."
	}
	return LookupView{Contact: f.Contact, MailableNote: note, VisitorID: f.VisitorID, Segments: f.Segments}
}

func (cs *Contacts) contactsLookup() core.Operation {
	return core.Declare(core.Op[LookupContactIn, FoundContact]{
		Name:  "contacts_lookup",
		Title: "Look up a contact",
		Purpose: "Reads one contact by whole address, external id or contact id, archived ones too. " +
			"Use it before changing a contact. " +
			"Returns `status`, attributes, topic choices, opt-out and lists, with the account's current consent. It does not search.",
		Example: `{"email": "ada.almeida@example.com"}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.ContactsView},
		Fails:   []core.Code{core.CodeNotFound, core.CodeUpstreamUnavailable},
		Prepare: cs.prepareLookup,
		Do:      cs.lookup,
	})
}

func (cs *Contacts) lookup(_ context.Context, c *core.Call, in LookupContactIn) (FoundContact, error) {
	found := FoundContact{Contact: in.found}
	if c.Surface != core.Agent {
		return found, nil
	}
	found.Segments, found.Suppressed = in.details.Segments, in.details.Suppressed
	var err error
	if in.details.SealedVisitorID != nil {
		found.VisitorID, err = cs.VisitorIDs.Open(c.Principal.Org.ID, in.found.ID, in.details.SealedVisitorID)
	}
	return found, err
}

func (cs *Contacts) prepareLookup(ctx context.Context, c *core.Call, in LookupContactIn) (LookupContactIn, error) {
	org := c.Principal.Org.ID
	key, err := in.key()
	if err != nil {
		return in, err
	}
	found, details, err := cs.Store.LookUp(ctx, org, key)
	if err != nil {
		return in, err
	}
	live, err := cs.consents().liveConsent(ctx, org, found)
	if err != nil {
		return in, err
	}
	in.found, in.details = found.WithConsent(live), details
	return in, nil
}

// key returns the address, external id or contact id of the input. It fails with
// core.CodeValidationFailed unless exactly one of them is set.
func (in LookupContactIn) key() (Key, error) {
	named := 0
	for _, value := range []string{in.Email, in.ExternalID, in.ContactID} {
		if value != "" {
			named++
		}
	}
	if named != 1 {
		return Key{}, core.Invalid("email", "or `external_id` or `contact_id` is required, exactly one of them")
	}
	return Key{Email: in.Email, ExternalID: in.ExternalID, ID: in.ContactID}, nil
}
