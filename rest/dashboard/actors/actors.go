package actors

import (
	"cmp"
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
)

// Members finds the members of an organization.
type Members interface {
	// Member fails with core.CodeNotFound if the user is no member.
	Member(ctx context.Context, orgID, userID string) (members.Member, error)
}

// Users reads the account of a person.
type Users interface {
	// UserByID fails with core.CodeNotFound for an unknown id.
	UserByID(ctx context.Context, userID string) (access.User, error)
}

// Keys lists an organization's API keys, including expired and revoked ones.
type Keys interface {
	APIKeysOf(ctx context.Context, orgID string) ([]access.APIKey, error)
}

// Clients reads OAuth clients, including revoked ones.
type Clients interface {
	// ClientsOf returns the clients that an organization registered.
	ClientsOf(ctx context.Context, orgID string) ([]access.Client, error)
	// ClientByID returns a client by its UUID. orgID "" selects the clients that belong to no
	// organization, such as assistants that registered themselves. It fails with
	// core.CodeNotFound for an unknown id.
	ClientByID(ctx context.Context, orgID, id string) (access.Client, error)
}

// Actors reads the names of members and credentials. All fields are required.
type Actors struct {
	Members Members
	Users   Users
	Keys    Keys
	Clients Clients
}

// For returns the names that this visitor may see, of actors in the visitor's organization.
func (a Actors) For(v people.Visitor) *Names {
	return &Names{actors: a, records: a.Records(v.Org.ID), visitor: v, people: map[string]string{}}
}

// Names has the words for the actors of one page. It reads each person and each list of
// credentials only once. It must not be used concurrently.
type Names struct {
	actors  Actors
	records *Records
	visitor people.Visitor
	people  map[string]string
}

// anApplication stands for an application whose name the visitor may not see. It also stands
// for one that the organization did not register, because that application chose its name
// itself.
const anApplication = "an application"

// aFormerMember stands for a person who left, or who no longer has an account.
const aFormerMember = "a former member"

// Person returns the words for a person: "you" for the visitor, and the name or address of a
// member. For others it returns "a former member", unless the visitor may see their name.
func (n *Names) Person(ctx context.Context, userID string) (string, error) {
	if userID == n.visitor.User.ID {
		return "you", nil
	}
	words, read := n.people[userID]
	if read {
		return words, nil
	}
	words, err := n.readPerson(ctx, userID)
	switch {
	case core.IsNotFound(err):
		words = aFormerMember
	case err != nil:
		return "", err
	}
	n.people[userID] = words
	return words, nil
}

// readPerson returns the name or address of a person. It fails with core.CodeNotFound if the
// person is no member and the visitor may not see who was.
func (n *Names) readPerson(ctx context.Context, userID string) (string, error) {
	if !n.seesFormerMembers() {
		if _, err := n.actors.Members.Member(ctx, n.visitor.Org.ID, userID); err != nil {
			return "", err
		}
	}
	p, err := n.records.Person(ctx, userID)
	if err != nil {
		return "", err
	}
	return cmp.Or(p.Name, p.Email, aFormerMember), nil
}

// Author returns the words for the person or the credential that saved a version. kind and id
// are those of the principal, and userID is the person for whom it acted, "" for none.
func (n *Names) Author(ctx context.Context, kind, id, userID string) (string, error) {
	switch core.CredentialKind(kind) {
	case core.Person:
		return n.Person(ctx, id)
	case core.APIKey, core.OAuthClient:
		credential, err := n.Credential(ctx, id, userID)
		if err != nil || userID == "" {
			return credential, err
		}
		person, err := n.Person(ctx, userID)
		return credential + " for " + person, err
	}
	return "the operator", nil
}

// Credential returns the words for an API key or an application, such as "the API key Shop"
// or "an API key". userID is the person for whom it acted, "" for none. If that person is the
// visitor, the words have the application's name, because the visitor granted the access.
func (n *Names) Credential(ctx context.Context, credentialID, userID string) (string, error) {
	listed, err := n.records.Listed(ctx)
	if err != nil {
		return "", err
	}
	c, known := listed[credentialID]
	isClient := c.Kind == core.OAuthClient
	switch {
	case !known:
		return anApplication, nil
	case n.seesCredentials() || isClient && userID == n.visitor.User.ID:
		return "the " + c.String(), nil
	case isClient:
		return anApplication, nil
	}
	return "an API key", nil
}

func (n *Names) seesFormerMembers() bool {
	return n.visitor.Member.Has(members.MayManageMembers) || n.visitor.Member.Has(members.MayViewAudit)
}

func (n *Names) seesCredentials() bool {
	return n.visitor.Member.Has(members.MayManageCredentials) || n.visitor.Member.Has(members.MayViewAudit)
}
