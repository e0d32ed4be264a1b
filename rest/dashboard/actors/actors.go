package actors

import (
	"cmp"
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
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

// Clients lists an organization's OAuth clients, including revoked ones.
type Clients interface {
	ClientsOf(ctx context.Context, orgID string) ([]access.Client, error)
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
	return &Names{actors: a, visitor: v, people: map[string]string{}}
}

// Names has the words for the actors of one page. It reads each person and each list of
// credentials only once. It must not be used concurrently.
type Names struct {
	actors  Actors
	visitor people.Visitor
	people  map[string]string
	tokens  map[string]token // by id of the credential; nil if they are not read yet
}

// token is the words for a credential: with its name, and the kind alone.
type token struct {
	named, kind string
	isClient    bool
}

// anApplication is the words for an application without a name. Applications that no
// organization registered have no name that an organization confirmed.
const anApplication = "an application"

// Person returns the words for a person: "you" for the visitor, the name or address of a
// member, and "a former member" for others, unless the visitor may see their name.
func (n *Names) Person(ctx context.Context, userID string) (string, error) {
	if userID == n.visitor.User.ID {
		return "you", nil
	}
	words, read := n.people[userID]
	if read {
		return words, nil
	}
	words, err := n.readPerson(ctx, userID)
	if core.IsNotFound(err) {
		words, err = "a former member", nil
	}
	n.people[userID] = words
	return words, err
}

// readPerson returns the name or address of a person. It fails with core.CodeNotFound if
// there is no account, or if the person is no member and the visitor may not see who was.
func (n *Names) readPerson(ctx context.Context, userID string) (string, error) {
	if !n.seesFormerMembers() {
		if _, err := n.actors.Members.Member(ctx, n.visitor.Org.ID, userID); err != nil {
			return "", err
		}
	}
	user, err := n.actors.Users.UserByID(ctx, userID)
	return cmp.Or(frame.PlainName(user.Name), frame.PlainName(user.Email)), err
}

// Credential returns the words for an API key or an application, such as "the API key Shop"
// or "an API key". userID is the person for whom it acted, "" for none: the visitor granted
// the access of an application that acts for them, so they may see its name.
func (n *Names) Credential(ctx context.Context, credentialID, userID string) (string, error) {
	if n.tokens == nil {
		if err := n.readTokens(ctx); err != nil {
			return "", err
		}
	}
	t, known := n.tokens[credentialID]
	switch {
	case !known:
		return anApplication, nil
	case n.seesCredentials() || t.isClient && userID == n.visitor.User.ID:
		return t.named, nil
	}
	return t.kind, nil
}

// readTokens reads the organization's API keys and applications.
func (n *Names) readTokens(ctx context.Context) error {
	keys, err := n.actors.Keys.APIKeysOf(ctx, n.visitor.Org.ID)
	if err != nil {
		return err
	}
	clients, err := n.actors.Clients.ClientsOf(ctx, n.visitor.Org.ID)
	if err != nil {
		return err
	}
	n.tokens = map[string]token{}
	for _, key := range keys {
		n.tokens[key.ID] = token{"the API key " + frame.PlainName(key.Name), "an API key", false}
	}
	for _, client := range clients {
		n.tokens[client.ID] = token{"the application " + frame.PlainName(client.Name), anApplication, true}
	}
	return nil
}

func (n *Names) seesFormerMembers() bool {
	return n.visitor.Member.Has(members.MayManageMembers) || n.visitor.Member.Has(members.MayViewAudit)
}

func (n *Names) seesCredentials() bool {
	return n.visitor.Member.Has(members.MayManageCredentials) || n.visitor.Member.Has(members.MayViewAudit)
}
