package credentials

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/installation"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// KeyCommands is `mailhelm admin key`. A running server applies each change within five
// seconds, on PostgreSQL within one second.
type KeyCommands struct {
	Create     keyCreate     `cmd:"" help:"Create an API key and print its secret once."`
	List       keyList       `cmd:"" help:"List an organization's API keys."`
	EditScopes keyEditScopes `cmd:"" name:"edit-scopes" help:"Replace the scopes of a key."`
	Rotate     keyRotate     `cmd:"" help:"Create the successor of a key; both work for 24 hours."`
	Revoke     keyRevoke     `cmd:"" help:"Revoke a key at once and permanently."`
}

// Help returns the text that --help shows below the summary.
func (KeyCommands) Help() string {
	return `Name a key by its id or by the first characters of its secret: sk_live_ or sk_test_ and eight more. Scopes are names separated by commas, or all, or read for every read-only scope.

Examples:

    mailhelm admin key create acme --name CI --scopes api.contacts.view,api.lists.view
    mailhelm admin key create acme --name Sandbox --scopes read --environment test
    mailhelm admin key list acme
    mailhelm admin key edit-scopes acme sk_live_ABCDEFGH --scopes all
    mailhelm admin key rotate acme sk_live_ABCDEFGH --json
    mailhelm admin key revoke acme sk_live_ABCDEFGH`
}

// keyJSON is the form in which --json prints an API key. Scripts rely on its members.
type keyJSON struct {
	ID          string           `json:"id"`
	OrgID       string           `json:"org_id"`
	Name        string           `json:"name"`
	Environment core.Environment `json:"environment"`
	// Prefix is the public part of the key: sk_live_ or sk_test_ and the first eight
	// characters of the secret.
	Prefix    string          `json:"prefix"`
	State     access.KeyState `json:"state"`
	Scopes    []string        `json:"scopes"`
	CreatedAt time.Time       `json:"created_at"`
	// ExpiresAt is the time, 24 hours after the rotation, at which a rotated key stops
	// working. It is null for other keys.
	ExpiresAt *time.Time `json:"expires_at"`
	RevokedAt *time.Time `json:"revoked_at"`
	// Secret is set only by create and rotate, which print it once. The database stores
	// only its hash.
	Secret string `json:"secret,omitempty"`
}

// newKeyJSON returns the printed form of an API key. The printed state is the key's state
// at the current time. secret is "" unless this command created the key.
func newKeyJSON(s *installation.Session, k access.APIKey, secret string) keyJSON {
	return keyJSON{
		ID: k.ID, OrgID: k.OrgID, Name: k.Name, Environment: k.Environment, Prefix: keyName(k), State: k.StateAt(s.Config.Clock()),
		Scopes: k.Scopes.Strings(), CreatedAt: k.CreatedAt, ExpiresAt: k.ExpiresAt, RevokedAt: k.RevokedAt, Secret: secret,
	}
}

// keyName returns the public name of an API key: its environment prefix and eight
// characters of its secret. Commands accept it in place of the id.
func keyName(k access.APIKey) string {
	return access.KeyName{Environment: k.Environment, Prefix: k.Prefix}.String()
}

// printKey prints one API key, as JSON with --json and otherwise as a table. If secret is
// not "", it prints the secret too, with a hint to keep it.
func printKey(s *installation.Session, k access.APIKey, secret string) error {
	shown := newKeyJSON(s, k, secret)
	if s.JSON {
		return s.PrintJSON(shown)
	}
	rows := [][]string{
		{"id", shown.ID},
		{"name", shown.Name},
		{"prefix", shown.Prefix},
		{"state", string(shown.State)},
		{"scopes", strings.Join(shown.Scopes, " ")},
	}
	if secret != "" {
		rows = append(rows, []string{"secret", secret}, []string{"", "Store it now: it is not shown again."})
	}
	return s.PrintTable("", rows)
}

// findKey returns the API key of an organization by its id or public name, even if the key is
// expired or revoked. It fails if there is no such key. It also fails if several keys have
// the same public name.
func findKey(ctx context.Context, s *installation.Session, orgRef, ref string) (access.APIKey, error) {
	org, err := s.Org(ctx, orgRef)
	if err != nil {
		return access.APIKey{}, err
	}
	keys, err := s.DB.Keys().APIKeysOf(ctx, org.ID)
	if err != nil {
		return access.APIKey{}, err
	}
	var found []access.APIKey
	for _, k := range keys {
		if k.ID == ref || keyName(k) == ref {
			found = append(found, k)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return access.APIKey{}, fmt.Errorf("there is no such API key in %s: 'mailhelm admin key list %s' shows them", org.Slug, org.Slug)
	}
	return access.APIKey{}, fmt.Errorf("several API keys begin with %s: name one by its id", ref)
}

// keyCreate is `mailhelm admin key create`. The operator may give the key any scope.
type keyCreate struct {
	installation.Target
	Org         string   `arg:"" help:"Slug or id."`
	Name        string   `help:"Name for people." required:"" once:""`
	Scopes      []string `help:"Scope names separated by commas, or all, or read." required:"" once:""`
	Environment string   `help:"live or test." enum:"live,test" default:"live" once:""`
}

// Run creates the API key and prints its secret, which cannot be shown again. Each run
// creates another key, so repeating it after an error can leave two keys. For an unknown
// scope it fails before it opens the database.
func (c *keyCreate) Run(p *cli.Program) error {
	scopes, err := parseScopes(c.Scopes)
	if err != nil {
		return err
	}
	return c.WithOrg(p, c.Org, func(ctx context.Context, s *installation.Session, org core.Org) error {
		key, secret, err := s.Operator().Lifecycle().CreateKey(ctx, s.Operator().Actor, access.NewKey{
			OrgID: org.ID, Name: c.Name, Environment: core.Environment(c.Environment), Scopes: scopes,
		})
		if err != nil {
			return err
		}
		return printKey(s, key, secret)
	})
}

// keyList is `mailhelm admin key list`, which lists the API keys of an organization.
type keyList struct {
	installation.Target
	Org string `arg:"" help:"Slug or id."`
}

// Run lists the organization's API keys, including expired and revoked ones, without their
// secrets. The column SCOPES shows the number of scopes; --json prints their names.
func (c *keyList) Run(p *cli.Program) error {
	return c.WithOrg(p, c.Org, func(ctx context.Context, s *installation.Session, org core.Org) error {
		keys, err := s.DB.Keys().APIKeysOf(ctx, org.ID)
		if err != nil {
			return err
		}
		return installation.PrintList(s, "keys", []string{"PREFIX", "NAME", "STATE", "SCOPES", "CREATED", "EXPIRES", "ID"}, keys, func(k access.APIKey) (keyJSON, []string) {
			one := newKeyJSON(s, k, "")
			return one, []string{
				one.Prefix, one.Name, string(one.State), fmt.Sprint(len(one.Scopes)), installation.Instant(&one.CreatedAt), installation.Instant(one.ExpiresAt), one.ID,
			}
		})
	})
}

// keyTarget holds the arguments that select one API key.
type keyTarget struct {
	installation.Target
	Org string `arg:"" help:"Slug or id of the organization."`
	Key string `arg:"" help:"Id of the key, or the first characters of its secret."`
}

// on finds the API key, passes it to the function do, and prints the key that do returns.
// The string that do returns is a new secret, or "" if the secret is unchanged. If do
// fails, on prints nothing and returns the error.
func (c keyTarget) on(p *cli.Program, do func(context.Context, *installation.Session, access.APIKey) (access.APIKey, string, error)) error {
	return c.With(p, func(ctx context.Context, s *installation.Session) error {
		key, err := findKey(ctx, s, c.Org, c.Key)
		if err != nil {
			return err
		}
		changed, secret, err := do(ctx, s, key)
		if err != nil {
			return err
		}
		return printKey(s, changed, secret)
	})
}

// keyEditScopes is `mailhelm admin key edit-scopes`. It replaces all scopes of the key.
type keyEditScopes struct {
	keyTarget
	Scopes []string `help:"Scope names separated by commas, or all, or read." required:"" once:""`
}

// Run replaces the scopes of the API key; its secret stays valid. It fails if the key is
// expired or revoked. It may be repeated.
func (c *keyEditScopes) Run(p *cli.Program) error {
	scopes, err := parseScopes(c.Scopes)
	if err != nil {
		return err
	}
	return c.on(p, func(ctx context.Context, s *installation.Session, k access.APIKey) (access.APIKey, string, error) {
		changed, err := s.Operator().Lifecycle().EditKeyScopes(ctx, s.Operator().Actor, k.OrgID, k.ID, scopes)
		return changed, "", err
	})
}

// keyRotate is `mailhelm admin key rotate`. The old key works for another 24 hours, so that
// programs can switch to the new one.
type keyRotate struct{ keyTarget }

// Run creates the successor of an API key and prints it with its secret. It fails if the
// key is expired or revoked, or was rotated before.
func (c *keyRotate) Run(p *cli.Program) error {
	return c.on(p, func(ctx context.Context, s *installation.Session, k access.APIKey) (access.APIKey, string, error) {
		return s.Operator().Lifecycle().RotateKey(ctx, s.Operator().Actor, k.OrgID, k.ID)
	})
}

// keyRevoke is `mailhelm admin key revoke`. Revocation cannot be undone.
type keyRevoke struct{ keyTarget }

// Run revokes the API key. It may be repeated: a key that is already expired or revoked
// stays unchanged.
func (c *keyRevoke) Run(p *cli.Program) error {
	return c.on(p, func(ctx context.Context, s *installation.Session, k access.APIKey) (access.APIKey, string, error) {
		changed, err := s.Operator().Lifecycle().RevokeKey(ctx, s.Operator().Actor, k.OrgID, k.ID)
		return changed, "", err
	})
}
