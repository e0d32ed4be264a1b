package actors

import (
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// Records reads the people and credentials of an organization for one page, each once. It
// does not check what a visitor may see: pages use it only for visitors who may read the
// audit log, and [Names] otherwise. It must not be used concurrently.
type Records struct {
	actors Actors
	orgID  string
	people map[string]Person
	// credentials has those that were read, by id. isListed is true if it has all API keys
	// and all applications that the organization registered.
	credentials map[string]Credential
	isListed    bool
}

// Records returns the people and credentials of an organization.
func (a Actors) Records(orgID string) *Records {
	return &Records{actors: a, orgID: orgID, people: map[string]Person{}, credentials: map[string]Credential{}}
}

// Person is a person whom a page names. Both fields are "" for a person without an account.
// The name is also "" for a person who stated none.
type Person struct{ Name, Email string }

// String returns the name with the email address, such as "Ada (ada@example.com)".
func (p Person) String() string {
	if p.Name == "" || p.Name == p.Email {
		return p.Email
	}
	return p.Name + " (" + p.Email + ")"
}

// Person returns a person, and the zero Person for an unknown id.
func (r *Records) Person(ctx context.Context, userID string) (Person, error) {
	if p, read := r.people[userID]; read {
		return p, nil
	}
	user, err := r.actors.Users.UserByID(ctx, userID)
	if err != nil && !core.IsNotFound(err) {
		return Person{}, fmt.Errorf("name of a person: %w", err)
	}
	p := Person{Name: core.OnlyVisible(user.Name), Email: core.OnlyVisible(user.Email)}
	r.people[userID] = p
	return p, nil
}

// Credential is an API key or an application. The zero Credential stands for an unknown one.
type Credential struct {
	Kind core.CredentialKind // core.APIKey or core.OAuthClient
	Name string
	// ClientID is the public id of an application.
	ClientID string
}

// String returns the kind and the name, such as "API key Shop", and "" for the zero
// Credential.
func (c Credential) String() string {
	switch c.Kind {
	case core.APIKey:
		return "API key " + c.Name
	case core.OAuthClient:
		return "application " + c.Name
	}
	return ""
}

// applicationOf returns the application of an OAuth client.
func applicationOf(c access.Client) Credential {
	return Credential{Kind: core.OAuthClient, Name: core.OnlyVisible(c.Name), ClientID: c.ClientID}
}

// Listed returns all API keys, and the applications that the organization registered, by
// their ids. Callers must not change the map.
func (r *Records) Listed(ctx context.Context) (map[string]Credential, error) {
	if r.isListed {
		return r.credentials, nil
	}
	keys, err := r.actors.Keys.APIKeysOf(ctx, r.orgID)
	if err != nil {
		return nil, fmt.Errorf("names of API keys: %w", err)
	}
	clients, err := r.actors.Clients.ClientsOf(ctx, r.orgID)
	if err != nil {
		return nil, fmt.Errorf("names of applications: %w", err)
	}
	for _, k := range keys {
		r.credentials[k.ID] = Credential{Kind: core.APIKey, Name: core.OnlyVisible(k.Name)}
	}
	for _, c := range clients {
		r.credentials[c.ID] = applicationOf(c)
	}
	r.isListed = true
	return r.credentials, nil
}

// Credential returns the API key or application with this id, and the zero Credential for an
// unknown id. It also finds applications that no organization registered, such as assistants
// that registered themselves.
func (r *Records) Credential(ctx context.Context, id string) (Credential, error) {
	listed, err := r.Listed(ctx)
	if err != nil {
		return Credential{}, err
	}
	if c, known := listed[id]; known {
		return c, nil
	}
	client, err := r.actors.Clients.ClientByID(ctx, "", id)
	var found Credential
	switch {
	case err == nil:
		found = applicationOf(client)
	case !core.IsNotFound(err):
		return Credential{}, fmt.Errorf("name of an application: %w", err)
	}
	r.credentials[id] = found
	return found, nil
}
