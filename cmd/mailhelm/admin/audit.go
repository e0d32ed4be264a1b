package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/installation"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// AuditCommands is `mailhelm admin audit`. Its commands only read the audit log.
type AuditCommands struct {
	List auditList `cmd:"" help:"List the latest events of an organization, newest first."`
}

// Help returns the text that --help shows below the summary.
func (AuditCommands) Help() string {
	return `Examples:

    mailhelm admin audit list acme
    mailhelm admin audit list acme --actor ada@example.com --since 24h
    mailhelm admin audit list acme --action api_key.created --limit 1000 --json`
}

// auditJSON is the form in which --json prints an event of the audit log. Scripts rely
// on its members.
type auditJSON struct {
	ID         string    `json:"id"`
	OccurredAt time.Time `json:"occurred_at"`
	// Action names what was done: the name of an operation, or for credentials a word such
	// as api_key.created.
	Action string `json:"action"`
	// ActorKind is the kind of the actor: api_key, oauth_client, user, operator or system.
	// ActorID is the id of the key, the client or the person. For an operator or the system
	// it is a fixed name.
	ActorKind string `json:"actor_kind"`
	ActorID   string `json:"actor_id"`
	// SubjectID is the id of the object that was changed; it may be empty.
	SubjectID string `json:"subject_id"`
	Surface   string `json:"surface"`
	RequestID string `json:"request_id"`
	// Detail is a JSON object. Its members depend on the action.
	Detail json.RawMessage `json:"detail"`
}

// auditList is `mailhelm admin audit list`. It lists the events that match all given
// filters.
type auditList struct {
	installation.Target
	Org   string `arg:"" help:"Slug or id."`
	Limit int    `help:"Maximum number of rows." default:"100" placeholder:"N" once:""`

	Action string `help:"Only events with this action: api_key.created, member.removed, the name of an operation." placeholder:"NAME" once:""`
	Actor  string `help:"Only events of this actor: the address or id of a person, the id of a key or client, operator, or mailhelm." placeholder:"WHO" once:""`
	Since  string `help:"Only events since a date, an instant, or a duration ago such as 24h." placeholder:"WHEN" once:""`
}

// Run lists the events of the organization's audit log, newest first, at most --limit of
// them. It fails if --actor is an email address that belongs to no person.
func (c *auditList) Run(p *cli.Program) error {
	if err := installation.CheckLimit(c.Limit); err != nil {
		return err
	}
	return c.WithOrg(p, c.Org, func(ctx context.Context, s *installation.Session, org core.Org) error {
		var err error
		f := access.AuditFilter{Action: c.Action, Limit: c.Limit}
		if f.ActorID, err = auditActor(ctx, s, c.Actor); err != nil {
			return err
		}
		if f.From, err = since(c.Since, s.Config.Clock()); err != nil {
			return err
		}
		events, err := s.DB.Audit().FindAudit(ctx, org.ID, f)
		if err != nil {
			return err
		}
		return installation.PrintList(s, "events", []string{"TIME", "ACTION", "ACTOR", "SUBJECT", "DETAIL"}, events, func(e access.AuditEvent) (auditJSON, []string) {
			return auditJSON{
				e.ID, e.OccurredAt, e.Action, e.ActorKind, e.ActorID, e.SubjectID, string(e.Surface), e.RequestID, json.RawMessage(e.Detail),
			}, []string{installation.Instant(&e.OccurredAt), e.Action, e.ActorKind + " " + e.ActorID, e.SubjectID, e.Detail}
		})
	})
}

// auditActor returns the actor id to filter the audit log by. It replaces an email address
// by the id of that person, and returns other texts unchanged. "" matches every actor.
func auditActor(ctx context.Context, s *installation.Session, who string) (string, error) {
	if !core.IsEmail(who) {
		return who, nil
	}
	user, err := s.PersonByEmail(ctx, who)
	return user.ID, err
}

// since parses the earliest time of a filter: a date, a time in RFC 3339 or a duration
// before now. It returns the zero time for "". A date means midnight UTC. A duration must
// be positive and in Go's form, such as 24h or 90m. It fails for other texts.
func since(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if ago, err := time.ParseDuration(text); err == nil && ago > 0 {
		return now.Add(-ago), nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf("--since %q: give a date such as 2026-01-31, an instant such as 2026-01-31T12:00:00Z, or how long ago, such as 24h", text)
}
