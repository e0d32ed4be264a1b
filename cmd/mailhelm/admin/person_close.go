package admin

import (
	"context"
	"strconv"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/installation"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/closing"
	closingstore "github.com/mailhelm/mailhelm/storage/closing"
)

// closedJSON is the form in which --json prints a person who was disabled or deleted. Scripts
// rely on its members.
type closedJSON struct {
	ID     string `json:"id"`
	Email  string `json:"email"`
	DryRun bool   `json:"dry_run,omitempty"`
	// DisabledAt is missing for a person who may sign in.
	DisabledAt *time.Time `json:"disabled_at,omitempty"`
	Sessions   int        `json:"sessions_ended"`
	Grants     int        `json:"grants_revoked"`
	// Keys are the working API keys that the person created.
	Keys        []closedKeyJSON `json:"api_keys"`
	KeysRevoked bool            `json:"api_keys_revoked"`
	// LastOwnerOf are the slugs of the organizations in which no other owner can sign in.
	LastOwnerOf []string `json:"last_owner_of"`
	// Tables are the rows that are deleted, by table. Only a deletion has them.
	Tables []closing.TableRows `json:"tables,omitempty"`
}

// closedKeyJSON is one API key that a person created.
type closedKeyJSON struct {
	ID     string `json:"id"`
	OrgID  string `json:"org_id"`
	Name   string `json:"name"`
	Prefix string `json:"prefix"`
}

// newClosedJSON returns the printed form of what a person had.
func newClosedJSON(a closing.Access) closedJSON {
	shown := closedJSON{
		ID: a.User.ID, Email: a.User.Email, DisabledAt: a.User.DisabledAt, Sessions: a.Sessions, Grants: a.Grants,
		Keys: []closedKeyJSON{}, KeysRevoked: a.KeysRevoked, LastOwnerOf: []string{},
	}
	for _, k := range a.Keys {
		name := access.KeyName{Environment: k.Environment, Prefix: k.Prefix}
		shown.Keys = append(shown.Keys, closedKeyJSON{k.ID, k.OrgID, k.Name, name.String()})
	}
	for _, org := range a.LastOwnerOf {
		shown.LastOwnerOf = append(shown.LastOwnerOf, org.Slug)
	}
	return shown
}

// printClosed prints a person who was disabled or deleted, as JSON with --json and otherwise
// as tables. The parameter done is the word for what happened, such as "disabled".
func printClosed(s *installation.Session, shown closedJSON, done string) error {
	if s.JSON {
		return s.PrintJSON(shown)
	}
	rows := [][]string{
		{done, shown.Email},
		{"id", shown.ID},
		{"sessions ended", strconv.Itoa(shown.Sessions)},
		{"grants revoked", strconv.Itoa(shown.Grants)},
	}
	for _, slug := range shown.LastOwnerOf {
		rows = append(rows, []string{"last owner of", slug})
	}
	state := "key stays valid"
	if shown.KeysRevoked {
		state = "key revoked"
	}
	for _, k := range shown.Keys {
		rows = append(rows, []string{state, k.Prefix + " " + k.Name + " " + k.ID})
	}
	for _, t := range shown.Tables {
		if t.Rows > 0 {
			rows = append(rows, []string{"rows of " + t.Table, strconv.Itoa(t.Rows)})
		}
	}
	return s.PrintTable("", rows)
}

// personTarget holds the argument that selects one person.
type personTarget struct {
	installation.Target
	Email string `arg:"" help:"The person's address."`
}

// withPerson finds the person and calls the function do with the operations on people.
func (t personTarget) withPerson(p *cli.Program, do func(context.Context, *installation.Session, closing.People, access.User) error) error {
	return t.With(p, func(ctx context.Context, s *installation.Session) error {
		user, err := s.PersonByEmail(ctx, t.Email)
		if err != nil {
			return err
		}
		return do(ctx, s, peopleClosing(s), user)
	})
}

// peopleClosing returns the operations that disable, enable and delete people. A running
// server applies a change within five seconds.
func peopleClosing(s *installation.Session) closing.People {
	return closing.People{
		Store: closingstore.NewPersonStore(s.DB.DB), Users: s.DB.Users(), Members: s.DB.Members(), Grants: s.DB.Grants(),
		Keys:  closing.Keys{List: s.DB.Keys(), Revoke: s.Operator().Lifecycle().RevokeKey},
		Audit: s.DB.Audit(), Transactor: s.DB, Clock: s.Config.Clock,
	}
}

// userDisable is `mailhelm admin user disable`.
type userDisable struct {
	personTarget
	RevokeKeys bool `help:"Also revoke the API keys that the person created. Without it they stay valid, because they belong to the organization." once:""`
}

// Help returns the text that --help shows below the summary.
func (userDisable) Help() string {
	return `The person can sign in neither with the password nor with a passkey nor after a reset of the password. Sessions, reset links and the access that the person granted to applications end. A running server applies this within five seconds, on PostgreSQL usually within one.`
}

// Run disables the person and prints what ended. It may be repeated.
func (c *userDisable) Run(p *cli.Program) error {
	return c.withPerson(p, func(ctx context.Context, s *installation.Session, people closing.People, user access.User) error {
		ended, err := people.Disable(ctx, s.Operator().Actor, user.ID, closing.Options{RevokeKeys: c.RevokeKeys})
		if err != nil {
			return err
		}
		return printClosed(s, newClosedJSON(ended), "disabled")
	})
}

// userEnable is `mailhelm admin user enable`.
type userEnable struct{ personTarget }

// Run lets the person sign in again. Sessions, grants and keys that ended stay ended. It may
// be repeated.
func (c *userEnable) Run(p *cli.Program) error {
	return c.withPerson(p, func(ctx context.Context, s *installation.Session, people closing.People, user access.User) error {
		enabled, err := people.Enable(ctx, s.Operator().Actor, user.ID)
		if err != nil {
			return err
		}
		if s.JSON {
			return s.PrintJSON(map[string]any{"id": enabled.ID, "email": enabled.Email, "disabled_at": nil})
		}
		return s.PrintTable("", [][]string{{"enabled", enabled.Email}, {"id", enabled.ID}})
	})
}

// userDelete is `mailhelm admin user delete`.
type userDelete struct {
	personTarget
	DryRun     bool `help:"Print the rows that would be deleted, by table, and change nothing." once:""`
	RevokeKeys bool `help:"Also revoke the API keys that the person created. Without it they stay valid, because they belong to the organization." once:""`
}

// Help returns the text that --help shows below the summary.
func (userDelete) Help() string {
	return `A deleted person cannot be restored. Sessions, second factors, passkeys, known devices, reset links, memberships, invitations, subscriptions and verified senders of the person are deleted, and grants are revoked. The audit log keeps the id of the person.

The last owner of an organization cannot be deleted: make another member an owner with 'mailhelm admin user set-role', or delete the organization.`
}

// Run deletes the person and prints the number of rows by table.
func (c *userDelete) Run(p *cli.Program) error {
	return c.withPerson(p, func(ctx context.Context, s *installation.Session, people closing.People, user access.User) error {
		done, run := "deleted", func() (closing.Deleted, error) {
			return people.Delete(ctx, s.Operator().Actor, user.ID, closing.Options{RevokeKeys: c.RevokeKeys})
		}
		if c.DryRun {
			done, run = "would delete", func() (closing.Deleted, error) {
				plan, err := people.PlanDelete(ctx, user.ID)
				plan.KeysRevoked = c.RevokeKeys
				return plan, err
			}
		}
		deleted, err := run()
		if err != nil {
			return err
		}
		shown := newClosedJSON(deleted.Access)
		shown.DryRun, shown.Tables = c.DryRun, deleted.Tables
		return printClosed(s, shown, done)
	})
}
