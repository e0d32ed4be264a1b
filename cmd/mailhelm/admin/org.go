package admin

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/installation"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	closingstore "github.com/mailhelm/mailhelm/storage/closing"
)

// OrgCommands is `mailhelm admin org`.
type OrgCommands struct {
	Create         orgCreate         `cmd:"" help:"Create an organization. It has a simulated sending account until one is connected."`
	List           orgList           `cmd:"" help:"List the organizations."`
	Edit           orgEdit           `cmd:"" help:"Change the name, the requirement of second factors, and platform mode."`
	StopMail       orgStopMail       `cmd:"" help:"Stop all mail of an organization: broadcasts pause, and test sends are refused."`
	AllowMail      orgAllowMail      `cmd:"" help:"Allow the mail of an organization again. Broadcasts that wait go on."`
	MailStorage    orgMailStorage    `cmd:"" name:"mail-storage" help:"Choose and test where received mail of an organization is stored."`
	DisableInboxes orgDisableInboxes `cmd:"" help:"Refuse new temporary inboxes of an organization. Live ones stay until they expire."`
	EnableInboxes  orgEnableInboxes  `cmd:"" help:"Allow new temporary inboxes of an organization again."`
	Delete         orgDelete         `cmd:"" help:"Export and delete an organization. It can be restored for seven days."`
	Restore        orgRestore        `cmd:"" help:"Restore a deleted organization, within seven days."`
	SetLimit       orgSetLimit       `cmd:"" help:"Set or remove the limit of calls per minute."`
}

// Help returns the text that --help shows below the summary.
func (OrgCommands) Help() string {
	return `Examples:

    mailhelm admin org create acme --name "Acme Ltd" --tier team
    mailhelm admin org list
    mailhelm admin org edit acme --name "Acme Group" --require-second-factor
    mailhelm admin org set-limit acme 600
    mailhelm admin org set-limit acme none
    mailhelm admin org stop-mail acme
    mailhelm admin org allow-mail acme
    mailhelm admin org mail-storage show acme`
}

// orgJSON is the form in which --json prints an organization. Scripts rely on its
// members.
type orgJSON struct {
	ID   string `json:"id"`
	Slug string `json:"slug"`
	Name string `json:"name"`
	// Tier is the organization's tier, such as free or team. It determines RetentionDays,
	// the number of days for which analytics are kept.
	Tier          string `json:"tier"`
	RetentionDays int    `json:"retention_days"`
	// RateLimit is the number of calls allowed per minute; null means no limit.
	RateLimit *int `json:"rate_limit"`

	RequireSecondFactor bool `json:"require_second_factor"`
	PlatformMode        bool `json:"platform_mode"`

	// DeletedAt is missing unless the organization was deleted.
	DeletedAt *time.Time `json:"deleted_at,omitempty"`
}

// newOrgJSON returns the form in which --json prints an organization.
func newOrgJSON(o core.Org) orgJSON {
	return orgJSON{o.ID, o.Slug, o.Name, o.Tier, o.RetentionDays, o.RateLimit, o.RequireSecondFactor, o.PlatformMode, o.DeletedAt}
}

// printOrg prints one organization, as JSON with --json and otherwise as a table.
func printOrg(s *installation.Session, o core.Org) error {
	if s.JSON {
		return s.PrintJSON(newOrgJSON(o))
	}
	return s.PrintTable("", [][]string{
		{"id", o.ID},
		{"slug", o.Slug},
		{"name", o.Name},
		{"tier", o.Tier},
		{"retention", fmt.Sprintf("%d days", o.RetentionDays)},
		{"limit", limitText(o.RateLimit)},
		{"second factor", requiredText(o.RequireSecondFactor)},
		{"platform mode", onText(o.PlatformMode)},
	})
}

// requiredText returns the word for a setting in the table of an organization: "required"
// for true and "optional" for false.
func requiredText(required bool) string {
	if required {
		return "required"
	}
	return "optional"
}

// onText returns the word for a setting in the table of an organization: "on" for true and
// "off" for false.
func onText(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// limitText describes a rate limit, such as "600 a minute". It returns "none" for nil.
func limitText(perMinute *int) string {
	if perMinute == nil {
		return "none"
	}
	return strconv.Itoa(*perMinute) + " a minute"
}

// orgCreate is `mailhelm admin org create`. The slug cannot be changed later.
type orgCreate struct {
	installation.Target
	Slug      string `arg:"" help:"Name for URLs: lower-case letters, digits and dashes."`
	Name      string `help:"Name for people. Default: the slug." once:""`
	Tier      string `help:"Plan. It sets how many days back analytics reach: free 30, team 90, others 365." enum:"free,team,business,admin,sponsored" default:"free" once:""`
	RateLimit *int   `help:"Calls per minute. Default: no limit." placeholder:"N" once:""`
}

// Help returns the text that --help shows below the summary.
func (orgCreate) Help() string {
	return `The organization has a simulated sending account, which delivers no mail, until 'mailhelm admin account connect' or the dashboard connects another one. On SQLite the command creates the simulated account in the data folder. On PostgreSQL each server creates it in its own data folder before the first use, so the command needs no data folder.`
}

// slugForm matches slugs of 1 to 63 characters, the maximum for one label of a host name.
var slugForm = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// Run creates the organization and its simulated sending account. It fails if the slug is
// taken or has the form of an id.
func (c *orgCreate) Run(p *cli.Program) error {
	// A slug must not look like an id, because commands accept a slug or an id as the name
	// of an organization.
	if !slugForm.MatchString(c.Slug) || core.IsID(c.Slug) {
		return fmt.Errorf("slug %q: give at most 63 lower-case letters, digits and dashes, with no dash at the ends", c.Slug)
	}
	if c.RateLimit != nil && *c.RateLimit < 1 {
		return fmt.Errorf("--rate-limit %d: give a number from 1 up", *c.RateLimit)
	}
	org := core.Org{Name: c.Name, Slug: c.Slug, Tier: c.Tier, RateLimit: c.RateLimit}
	if org.Name == "" {
		org.Name = c.Slug
	}
	return c.With(p, func(ctx context.Context, s *installation.Session) error {
		// The simulated account is in another database, outside the transaction. If the
		// commit fails, an unused account remains, which is harmless.
		err := s.DB.InTx(ctx, func(ctx context.Context) error {
			var err error
			if org, err = s.Operator().CreateOrg(ctx, org); err != nil {
				return err
			}
			return seedAccount(ctx, s, org.ID)
		})
		if err != nil {
			return err
		}
		return printOrg(s, org)
	})
}

// seedAccount creates the simulated sending account of a new organization, in the sandbox
// and with a small quota. It may be repeated. On PostgreSQL it does nothing: the server, which
// may have another data folder, creates the account before its first use; see
// [accounts.Prepare].
func seedAccount(ctx context.Context, s *installation.Session, orgID string) error {
	if s.Config.DatabaseURL != "" {
		return nil
	}
	account, err := simulator.Open(s.Config.AccountFile(), simulator.Options{Clock: s.Config.Clock})
	if err != nil {
		return err
	}
	defer account.Close() //nolint:errcheck // Seed has committed
	return account.Seed(ctx, orgID, simulator.Setup{})
}

// orgList is `mailhelm admin org list`.
type orgList struct{ installation.Target }

// Run lists all organizations of the installation, deleted ones last.
func (c *orgList) Run(p *cli.Program) error {
	return c.With(p, func(ctx context.Context, s *installation.Session) error {
		ids, err := s.DB.Orgs().OrgIDs(ctx)
		if err != nil {
			return err
		}
		deleted, err := closingstore.NewOrgStore(s.DB.DB).DeletedOrgs(ctx, s.Config.Clock())
		if err != nil {
			return err
		}
		ids = append(ids, deleted...)
		orgs := make([]core.Org, 0, len(ids))
		for _, id := range ids {
			org, err := s.DB.Orgs().Org(ctx, id)
			if err != nil {
				return err
			}
			orgs = append(orgs, org)
		}
		return installation.PrintList(s, "organizations", []string{"SLUG", "NAME", "TIER", "LIMIT", "ID", "DELETED"}, orgs, func(org core.Org) (orgJSON, []string) {
			return newOrgJSON(org), []string{org.Slug, org.Name, org.Tier, limitText(org.RateLimit), org.ID, installation.Instant(org.DeletedAt)}
		})
	})
}
