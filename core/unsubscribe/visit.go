package unsubscribe

import (
	"cmp"
	"context"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Visit is what a recipient sees who opened a link.
type Visit struct {
	Token Token
	// OrgName is the name of the organization that sent the mail.
	OrgName string
	// IsGone is true if the organization was erased. The visit then has only the token.
	IsGone bool
	// Language is the organization's language, such as "de"; "" for none.
	Language string
	// Email is the masked address of the recipient; "" if IsKnown is false.
	Email string
	// IsKnown is false if the organization has no such contact, for example after erasure.
	IsKnown bool
	// IsOutOfAll is true if the recipient receives no mail about any topic.
	IsOutOfAll bool
	// Topics has all topics of the organization in the order of their titles.
	Topics []Topic
	// contactID is the contact whose choices these are. It is not that of the token if the
	// contact of the token was deleted and another one has its address.
	contactID string
}

// Topic is a topic, and whether the recipient receives mail about it.
type Topic struct {
	Name        string
	Title       string // the display name, or else the name
	Description string
	// IsIn is the explicit choice of the recipient, or else the default of the topic. It does
	// not include the global opt-out.
	IsIn bool
	// optedOut is true for an explicit choice against the topic.
	optedOut bool
	// onByDefault is true if contacts without a choice receive mail about the topic.
	onByDefault bool
}

// IsTest reports whether the link is that of a test mail, which has no contact.
func (v Visit) IsTest() bool { return v.Token.ContactID == "" }

// Topic returns the topic of the link. For a link without a topic it returns false. A topic
// that the organization no longer has, or that no sync has found yet, has only a name.
func (v Visit) Topic() (Topic, bool) {
	name := v.Token.Topic
	if name == "" {
		return Topic{}, false
	}
	if at := slices.IndexFunc(v.Topics, func(t Topic) bool { return t.Name == name }); at >= 0 {
		return v.Topics[at], true
	}
	return Topic{Name: name, Title: name}, true
}

// IsOut reports whether the recipient receives no mail about the topic of the link, or no
// mail at all if the link has no topic.
func (v Visit) IsOut() bool {
	topic, ofTopic := v.Topic()
	return !v.IsKnown || v.IsOutOfAll || ofTopic && !topic.IsIn
}

// Open returns what the recipient with this token sees. It changes nothing, and reads only
// the database: mailbox providers and virus scanners open links too, and must not use up the
// quota of the sending account. It fails with core.CodeNotFound if the token is invalid.
func (u *Unsubscribe) Open(ctx context.Context, token string) (Visit, error) {
	t, ok := u.Links.Parse(token)
	if !ok {
		return Visit{}, core.NotFound("link")
	}
	org, err := u.Orgs.Org(ctx, t.OrgID)
	if core.IsNotFound(err) {
		return Visit{Token: t, IsGone: true}, nil
	}
	if err != nil {
		return Visit{}, err
	}
	v := Visit{Token: t, OrgName: org.Name}
	if u.Languages != nil {
		if v.Language, err = u.Languages.Language(ctx, t.OrgID); err != nil {
			return Visit{}, err
		}
	}
	contact, err := u.contactOf(ctx, t)
	if err != nil {
		return Visit{}, err
	}
	return u.withContact(ctx, v, contact)
}

// contactOf returns the contact of a token, a contact without an id if there is none. A
// contact that only a sync created is deleted when another contact gets its address; then
// contactOf returns the other one, whose mailbox received the mail.
func (u *Unsubscribe) contactOf(ctx context.Context, t Token) (contacts.Contact, error) {
	if t.ContactID == "" {
		return contacts.Contact{}, nil
	}
	c, err := u.Contacts.ContactByID(ctx, t.OrgID, t.ContactID)
	if core.IsNotFound(err) && u.Addresses != nil && t.SendID != "" {
		var email string
		if email, err = u.Addresses.RecipientAddress(ctx, t.OrgID, t.SendID, t.ContactID); err == nil {
			c, err = u.Contacts.ContactByEmail(ctx, t.OrgID, email)
		}
	}
	if core.IsNotFound(err) {
		return contacts.Contact{}, nil
	}
	return c, err
}

// withContact returns the visit with the choices of the contact.
func (u *Unsubscribe) withContact(ctx context.Context, v Visit, c contacts.Contact) (Visit, error) {
	v.contactID, v.IsKnown, v.IsOutOfAll, v.Email = c.ID, c.ID != "", c.UnsubscribeAll, ""
	if v.IsKnown {
		v.Email = core.MaskAddress(c.Email)
	}
	known, err := u.Topics.Topics(ctx, v.Token.OrgID)
	if err != nil {
		return Visit{}, err
	}
	chosen := contacts.ConsentOf(c).Preferences
	v.Topics = make([]Topic, len(known))
	for i, t := range known {
		otherwise := t.Default
		if c.Stub { // known only from activities, and subscribed to nothing
			otherwise = sending.OptOut
		}
		choice := cmp.Or(chosen[t.Name], otherwise)
		v.Topics[i] = Topic{
			Name: t.Name, Title: cmp.Or(t.DisplayName, t.Name), Description: t.Description,
			IsIn: choice == sending.OptIn, optedOut: chosen[t.Name] == sending.OptOut, onByDefault: t.Default == sending.OptIn,
		}
	}
	slices.SortStableFunc(v.Topics, func(a, b Topic) int { return cmp.Compare(a.Title, b.Title) })
	return v, nil
}
