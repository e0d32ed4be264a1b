package demodata

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/usage"
)

// assistantDays is the number of past days, including today, with calls of the assistant.
const assistantDays = 14

// toolCalls are the calls of one tool on a day when the assistant called it.
type toolCalls struct {
	tool           string
	every          int // the assistant called the tool on one day of so many
	calls, refused int64
}

// calledTools are the tools that the demo's assistant called.
var calledTools = []toolCalls{
	{"reports_get_sending_health", 1, 2, 0},
	{"contacts_lookup", 1, 6, 1},
	{"messages_search", 2, 4, 0},
	{"messages_diagnose", 3, 2, 0},
	{"segments_preview_predicate", 3, 5, 2},
	{"suppressions_check_address", 4, 1, 0},
	{"contacts_set_list_membership", 1, 3, 0},
}

// assistant creates an assistant to which the owner of the organization granted access, its
// calls of the last days, and entries in the audit log for its changes of today. The
// assistant has no token, so its access cannot be used.
func (p Past) assistant(ctx context.Context, orgID string) error {
	client, g, err := p.grantAssistant(ctx, orgID)
	if err != nil {
		return err
	}
	if err := p.DB.Usage().AddUsage(ctx, callsOf(g, p.Clock())); err != nil {
		return err
	}
	return p.auditAssistant(ctx, client)
}

// grantAssistant stores the assistant and the grant.
func (p Past) grantAssistant(ctx context.Context, orgID string) (access.Client, access.Grant, error) {
	owner, err := p.DB.Users().UserByEmail(ctx, userEmail)
	if err != nil {
		return access.Client{}, access.Grant{}, err
	}
	since := p.Clock().AddDate(0, 0, -assistantDays)
	client := access.Client{
		ID: core.NewID(), ClientID: access.MintClientID(core.Live), OrgID: orgID, Name: "Newsletter assistant", Environment: core.Live,
		Scopes: core.NewScopes(
			"api.reports.view", "api.contacts.view", "api.contacts.manage", "api.lists.view", "api.messages.view", "api.segments.view", "api.suppressions.view",
		),
		RedirectURIs: []string{"http://localhost/callback"}, CreatedAt: since,
	}
	g := access.Grant{
		ID: core.NewID(), OrgID: orgID, UserID: owner.ID, ClientID: client.ClientID, Resource: access.Agent, Scopes: client.Scopes, CreatedAt: since,
	}
	if err := p.DB.Clients().InsertClient(ctx, client); err != nil {
		return access.Client{}, access.Grant{}, err
	}
	if err := p.DB.Grants().InsertGrant(ctx, g); err != nil {
		return access.Client{}, access.Grant{}, err
	}
	// A grant whose authorization code was never redeemed is deleted after a while.
	code := access.AuthorizationCode{
		Hash: access.HashSecret(core.NewID()), GrantID: g.ID, OrgID: orgID, ClientID: g.ClientID, RedirectURI: client.RedirectURIs[0],
		Challenge: "redeemed", ExpiresAt: since.Add(time.Minute),
	}
	if err := p.DB.Tokens().InsertCode(ctx, code); err != nil {
		return access.Client{}, access.Grant{}, err
	}
	_, _, err = p.DB.Tokens().RedeemCode(ctx, code.Hash, since)
	return client, g, err
}

// callsOf returns the numbers of calls with a grant, in the order of [usage.Store.AddUsage].
func callsOf(g access.Grant, now time.Time) []usage.Row {
	var rows []usage.Row
	for _, called := range calledTools {
		for ago := 0; ago < assistantDays; ago += called.every {
			at := earlierThatDay(now.AddDate(0, 0, -ago), time.Hour)
			rows = append(rows, usage.Row{
				OrgID: g.OrgID, ClientID: g.ClientID, UserID: g.UserID, Operation: called.tool, Day: at.Truncate(24 * time.Hour),
				Counts: usage.Counts{Calls: called.calls, Refused: called.refused, LastAt: at},
			})
		}
	}
	slices.SortFunc(rows, func(a, b usage.Row) int {
		return cmp.Or(cmp.Compare(a.Operation, b.Operation), a.Day.Compare(b.Day))
	})
	return rows
}

// earlierThatDay returns the time before t by d, or the beginning of the UTC day of t if that
// is later. The demo may start shortly after midnight, and the dashboard shows what happened
// today.
func earlierThatDay(t time.Time, d time.Duration) time.Time {
	at, midnight := t.Add(-d).UTC(), t.UTC().Truncate(24*time.Hour)
	if at.Before(midnight) {
		return midnight
	}
	return at
}

// changesOfToday is the number of entries of the assistant in the audit log.
const changesOfToday = 3

// auditAssistant adds entries to the audit log for the changes of contacts that the
// assistant made today in the last half hour. The changed contacts are those with the newest
// ids.
func (p Past) auditAssistant(ctx context.Context, client access.Client) error {
	changed, err := p.DB.Contacts().Contacts(ctx, client.OrgID, contacts.ContactFilter{Limit: changesOfToday})
	if err != nil {
		return err
	}
	for i, c := range changed {
		err := p.DB.Audit().AppendAudit(ctx, access.AuditEvent{
			ID: core.NewID(), OrgID: client.OrgID, OccurredAt: earlierThatDay(p.Clock(), time.Duration(i+1)*10*time.Minute), Action: "contacts_set_list_membership",
			ActorKind: string(core.OAuthClient), ActorID: client.ID, Surface: core.Agent, SubjectID: c.ID, RequestID: core.NewID(), Detail: "{}",
		})
		if err != nil {
			return err
		}
	}
	return nil
}
