package admin

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/installation"
	"github.com/mailhelm/mailhelm/core/sending"
)

// connectionJSON is the form in which --json prints a connection to a sending account. It
// leaves out the secret. Scripts rely on its members, so do not rename them.
type connectionJSON struct {
	OrgID    string           `json:"org_id"`
	Provider sending.Provider `json:"provider"`
	// AccountID is the account's id at Amazon. It is "" until the operator gives it to the
	// connect command or the verify command looks it up.
	AccountID   string `json:"account_id"`
	Region      string `json:"region"`
	Endpoint    string `json:"endpoint"`
	AccessKeyID string `json:"access_key_id"`
	// HasSecret reports whether a secret is stored. The secret itself is never printed.
	HasSecret  bool     `json:"has_secret"`
	RoleARN    string   `json:"role_arn"`
	ExternalID string   `json:"external_id"`
	TopicARN   string   `json:"topic_arn"`
	Identities []string `json:"identities"`
	// Max24HourSend (recipients) and MaxSendRate (messages a second) are the limits of
	// an account on an SMTP server; 0 means no limit.
	Max24HourSend int64 `json:"max_24_hour_send"`
	MaxSendRate   int64 `json:"max_send_rate"`
	// TemplateVersion is the version of the infrastructure template that the customer
	// applied, 0 if none is recorded. LatestVersion is the newest version that this program
	// knows.
	TemplateVersion int `json:"template_version"`
	LatestVersion   int `json:"latest_template_version"`
	// IngestAddress is the path to which the account's events are posted. The public address
	// of the API followed by this path is the full URL.
	IngestAddress string    `json:"ingest_address"`
	HasIngestKey  bool      `json:"has_ingest_key"`
	CreatedAt     time.Time `json:"created_at"`
	UpdatedAt     time.Time `json:"updated_at"`
	// IngestKey is the key that a request with unsigned events must present. It is set only
	// in the output of the command that created it.
	IngestKey string `json:"ingest_key,omitempty"`
}

// ingestAddress is the path prefix, on the API's address, to which events of a sending
// account are posted. The organization's own ingest path follows it.
const ingestAddress = "/ingest/ses/"

// newConnectionJSON returns the printed form of a connection to a sending account.
// ingestKey is the new ingest key in clear text, or "" if the command created none. The
// field Identities of the result is never nil, so that its JSON is a list and not null.
func newConnectionJSON(c sending.Connection, ingestKey string) connectionJSON {
	return connectionJSON{
		OrgID: c.OrgID, Provider: c.Provider, AccountID: c.AccountID, Region: c.Region, Endpoint: c.Endpoint,
		AccessKeyID: c.AccessKeyID, HasSecret: c.Secret != "", RoleARN: c.RoleARN, ExternalID: c.ExternalID, TopicARN: c.TopicARN,
		Identities: append([]string{}, c.Identities...), Max24HourSend: c.Max24HourSend, MaxSendRate: c.MaxSendRate,
		TemplateVersion: c.TemplateVersion, LatestVersion: sending.LatestTemplateVersion,
		IngestAddress: ingestAddress + c.IngestPath, HasIngestKey: c.IngestKeyHash != nil,
		CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt, IngestKey: ingestKey,
	}
}

// printConnection prints a connection to a sending account, as JSON with --json and
// otherwise as a table without empty fields. If ingestKey is not "", the table also shows
// it, with a hint to keep it.
func printConnection(s *installation.Session, c sending.Connection, ingestKey string) error {
	shown := newConnectionJSON(c, ingestKey)
	if s.JSON {
		return s.PrintJSON(shown)
	}
	rows := [][]string{{"provider", string(shown.Provider)}}
	for _, row := range [][]string{
		{"account", shown.AccountID},
		{"region", shown.Region},
		{"endpoint", shown.Endpoint},
		{"access key id", shown.AccessKeyID},
		{"role", shown.RoleARN},
		{"external id", externalIDWords(c)},
		{"topic", shown.TopicARN},
		{"identities", strings.Join(shown.Identities, ", ")},
		{"limit in 24 hours", limitWords(shown.Max24HourSend, "recipients")},
		{"limit per second", limitWords(shown.MaxSendRate, "messages")},
	} {
		if row[1] != "" {
			rows = append(rows, row)
		}
	}
	if c.Provider != sending.SMTP { // an SMTP server has no infrastructure template and sends no events
		rows = append(rows,
			[]string{"template", templateWords(shown.TemplateVersion, shown.LatestVersion)},
			[]string{"ingest address", cmp.Or(s.Published(s.Ctx).API, "{base_url}") + shown.IngestAddress})
	}
	if ingestKey != "" {
		rows = append(rows, []string{"ingest key", ingestKey}, []string{"", "Store it now: it is not shown again."})
	}
	return s.PrintTable("", rows)
}

// externalIDWords returns the connection's external id. It returns "" for other providers
// than Amazon SES, because only IAM roles at Amazon use an external id.
func externalIDWords(c sending.Connection) string {
	if c.Provider != sending.SES {
		return ""
	}
	return c.ExternalID
}

// templateWords describes the applied version of the infrastructure template and the newest
// version, such as "12 of 13".
func templateWords(applied, latest int) string {
	if applied == 0 {
		return fmt.Sprintf("none recorded; %d is the newest", latest)
	}
	return fmt.Sprintf("%d of %d", applied, latest)
}

// limitWords describes a sending limit, such as "at most 5 messages"; it returns "" for 0.
// The parameter of is the unit: recipients or messages.
func limitWords(limit int64, of string) string {
	if limit == 0 {
		return ""
	}
	return fmt.Sprintf("at most %d %s", limit, of)
}

// accountShow is `mailhelm admin account show`. It reads the stored connection and does
// not contact the account.
type accountShow struct{ accountTarget }

// Run prints the stored connection. It fails if the organization has no connected sending
// account.
func (c *accountShow) Run(p *cli.Program) error {
	return c.on(p, func(ctx context.Context, s accountSession) error {
		connected, err := s.connection(ctx)
		if err != nil {
			return err
		}
		return printConnection(s.Session, connected, "")
	})
}

// accountTemplateVersion is `mailhelm admin account template-version`. It records which
// version of the infrastructure template the customer has applied. The operator runs it
// after each upgrade of the template.
type accountTemplateVersion struct {
	accountTarget
	Version int `arg:"" field:"template_version" help:"Number of the template."`
}

// Run stores the version number of the infrastructure template that the customer has
// applied. It fails for an unknown version, and if the organization has no connected
// sending account. It may be repeated.
func (c *accountTemplateVersion) Run(p *cli.Program) error {
	return c.on(p, func(ctx context.Context, s accountSession) error {
		connected, err := s.connecting.SetTemplateVersion(ctx, s.org.ID, c.Version)
		if err != nil {
			return err
		}
		return printConnection(s.Session, connected, "")
	})
}

// accountDisconnect is `mailhelm admin account disconnect`. It deletes the organization's
// connection. The organization then uses the simulated account of the installation.
type accountDisconnect struct{ accountTarget }

// Run deletes the connection, with its stored credentials and its ingest address. It
// changes nothing in the customer's account at the provider.
func (c *accountDisconnect) Run(p *cli.Program) error {
	return c.on(p, func(ctx context.Context, s accountSession) error {
		if err := s.connecting.Disconnect(ctx, s.org.ID); err != nil {
			return err
		}
		if s.JSON {
			return s.PrintJSON(map[string]any{"org_id": s.org.ID, "connected": false})
		}
		return s.PrintTable("", [][]string{{"org", s.org.Slug}, {"connected", "no"}})
	})
}
