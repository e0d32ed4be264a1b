package home_test

import (
	"context"
	"flag"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/account"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/receiving"
	"github.com/mailhelm/mailhelm/core/reports"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/suppression"
	"github.com/mailhelm/mailhelm/rest/dashboard/actors"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	"github.com/mailhelm/mailhelm/rest/dashboard/home"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var update = flag.Bool("update", false, "write the golden files again")

// hostile is text as an attacker would write it.
const hostile = "<script>alert(1)</script>\u202e"

// stock is a store with an active, a rotated and a revoked API key and an OAuth client. It
// also has a grant of the visitor and a grant of another member. If broken is set, reports,
// the audit log, the members and the sending account fail with it.
type stock struct {
	log     io.Writer // nil discards the log
	visitor string
	broken  error
	sent    []reports.DayCounts
	synced  []sending.SyncResult
	// moreGrants is the number of further grants by another person.
	moreGrants int
}

func (stock) APIKeysOf(context.Context, string) ([]access.APIKey, error) {
	ended, ends := frametest.Now(), frametest.Now().Add(5*time.Hour)
	return []access.APIKey{{ID: "1", Name: "shop"}, {ID: "2", RevokedAt: &ended}, {ID: "6", Name: hostile, ExpiresAt: &ends}}, nil
}

func (stock) ClientsOf(context.Context, string) ([]access.Client, error) {
	return []access.Client{{ID: "3", ClientID: "oc_3", Name: hostile + "Helper"}}, nil
}

func (stock) ClientByID(_ context.Context, orgID, id string) (access.Client, error) {
	if orgID == "" && id == "7" {
		return access.Client{ID: "7", ClientID: "https://assistant.example/client", Name: "Assistant" + hostile}, nil
	}
	return access.Client{}, core.NotFound("client")
}

func (s stock) SyncResults(context.Context, string) ([]sending.SyncResult, error) {
	return s.synced, s.broken
}

func (s stock) Grants(_ context.Context, _ string, f access.GrantFilter) ([]access.Grant, error) {
	grants := []access.Grant{{ID: "4", UserID: s.visitor}, {ID: "5", UserID: "other"}}
	if f.UserID != "" {
		return grants[:0], nil
	}
	for range s.moreGrants {
		grants = append(grants, access.Grant{ID: "6", UserID: "other"})
	}
	return grants[:min(f.Limit, len(grants))], nil
}

func (s stock) Members(context.Context, string) ([]members.Member, error) {
	return []members.Member{{UserID: "visitor"}, {UserID: "other"}}, s.broken
}

func (stock) SilentChannels(context.Context, string) ([]string, error) { return []string{"quiet"}, nil }

func (stock) Growth(context.Context, string) (suppression.Growth, error) {
	return suppression.Growth{Listed: 10}, nil
}

// Domains has a webhook that has failed for an hour, one that has failed for less, and one that
// works.
func (stock) Domains(context.Context, string) ([]receiving.Domain, error) {
	long, short := frametest.Now().Add(-time.Hour), frametest.Now().Add(-time.Hour+time.Second)
	return []receiving.Domain{
		{ID: "8", Domain: "in.example.com", Webhook: &receiving.Webhook{}, FailingSince: &long},
		{ID: "9", Domain: "short.example.com", Webhook: &receiving.Webhook{}, FailingSince: &short},
		{ID: "10", Domain: "well.example.com", Webhook: &receiving.Webhook{}},
	}, nil
}

func (s stock) CountWaiting(context.Context, string) (int, error) { return len(s.sent) / 4, s.broken }

func (stock) FactorsOf(context.Context, string) (people.Factors, error) { return people.Factors{}, nil }

func (s stock) Overview(_ context.Context, _ string, days int, _ bool) (reports.Overview, error) {
	o := reports.Overview{}
	for i := range days {
		d := reports.DayCounts{Day: time.Date(2026, 2, 27+i, 0, 0, 0, 0, time.UTC)}
		if i < len(s.sent) {
			d.Counts = s.sent[i].Counts
		}
		o.Days, o.Totals.Sent = append(o.Days, d), o.Totals.Sent+d.Sent
	}
	return o, s.broken
}

func (s stock) Standing(context.Context, core.Org) (account.Standing, error) {
	return account.Standing{Provider: sending.Simulated, Unreachable: len(s.sent) > 0}, s.broken
}

func (s stock) FindAudit(context.Context, string, access.AuditFilter) ([]access.AuditEvent, error) {
	return []access.AuditEvent{
		{Action: "contacts_upsert", ActorKind: "oauth_client", ActorID: "3"},
		{Action: "contacts_upsert", ActorKind: "oauth_client", ActorID: "3"},
		{Action: "lists_create", ActorKind: "oauth_client", ActorID: "3"},
		{Action: "lists_create", ActorKind: "api_key", ActorID: "1"},
		{Action: "contacts_upsert", ActorKind: "oauth_client", ActorID: "7"},
		{Action: "contacts_upsert", ActorKind: "oauth_client", ActorID: "gone"},
		{Action: "user.signed_in", ActorKind: "user", ActorID: "visitor"},
	}, s.broken
}

// newOffice returns an organization whose overview reads from has, and the handler of the
// overview.
func newOffice(t *testing.T, has stock) (*frametest.Office, http.Handler) {
	t.Helper()
	db := storagetest.SQLite(t)
	o := frametest.NewOffice(t, frametest.DatabaseOf(db))
	has.visitor = o.User.ID
	if has.log == nil {
		has.log = io.Discard
	}
	end := `],"pagination":{"has_more":false,"next_cursor":null}}`
	o.Frame.Operations = &frametest.Operations{T: t, Results: map[string]string{
		"channels_list": `{"data":[{"id":"0196f0a0-0000-7000-8000-000000000001","name":"old","slug":"old","status":"detached",
			"tracking_domain":null,"suppression_policy":[],"identities":[],"created_at":"2026-03-01T00:00:00Z"}` + end,
	}}
	room, err := home.New(o.Frame, home.Config{
		Keys: has, Clients: has, Grants: has, Members: has, Factors: has, Reports: has, Account: has, Syncs: has, Audit: has, Silence: has, Undeliverable: has, Receiving: has, Approvals: has, Actors: actors.Actors{Keys: has, Clients: has}, Clock: core.Clock(frametest.Now),
		Links: home.Links{
			Keys: "/dashboard/keys", NewKey: "/dashboard/keys/new", Clients: "/dashboard/clients", Grants: "/dashboard/grants", Members: "/dashboard/members",
			Activity: "/dashboard/connect/activity",
		},
		Log:    slog.New(slog.NewTextHandler(has.log, nil)),
		APIURL: "https://api.example", MCPURL: "https://mcp.example", AuthURL: "https://auth.example",
	})
	o.Must(err)
	pages := o.Open(room)
	return o, pages
}

func TestGoldenOverview(t *testing.T) {
	t.Parallel()
	two := []reports.DayCounts{{Counts: reports.Counts{Sent: 200, Delivered: 190, Bounced: 2}}}
	for range 7 {
		two = append(two, reports.DayCounts{Counts: reports.Counts{Sent: 30, Delivered: 28, Bounced: 2, Complained: 1, UniqueOpens: 9}})
	}
	o, pages := newOffice(t, stock{sent: two})
	_, page := frametest.Get(t, pages, frame.Path)
	frametest.CompareGolden(t, "overview", page, *update)
	if strings.Contains(page, "<script>alert") || strings.Contains(page, "\u202e") {
		t.Error("the page shows hostile text")
	}
	o.Allow(members.MayViewLists)
	_, page = frametest.Get(t, pages, frame.Path)
	frametest.CompareGolden(t, "overview_of_member", page, *update)
}

// TestPartsFailAlone checks that the overview appears if parts of it cannot be read, and
// that each of them says so.
func TestPartsFailAlone(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	_, pages := newOffice(t, stock{log: &log, broken: &core.Error{Code: core.CodeUpstreamUnavailable, Message: "It is broken."}})
	status, page := frametest.Get(t, pages, frame.Path)
	if status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	for _, want := range []string{
		"The mail cannot be read now: It is broken.", "The audit log cannot be read now: It is broken.", "The check of syncs could not run: It is broken.",
		"A part of this page cannot be read now: It is broken.", "1</strong> registered", "https://mcp.example/mcp",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q: %s", want, page)
		}
	}
}

// TestFailedSyncs checks the notices about syncs that failed: one for each reason.
func TestFailedSyncs(t *testing.T) {
	t.Parallel()
	at := frametest.Now().Add(-10 * time.Minute)
	o, pages := newOffice(t, stock{synced: []sending.SyncResult{
		{Kind: sending.ChannelSync, EndedAt: at, Failure: sending.Refused},
		{Kind: sending.ContactSync, EndedAt: at, SucceededAt: &at},
		{Kind: sending.TemplateSync, EndedAt: at.Add(time.Minute), Failure: sending.Refused},
	}})
	want := "The last sync of channels and templates failed on 2026-03-12 15:21 UTC. The sending account is unreachable or suspended, or it rejects the credentials."
	if _, page := frametest.Get(t, pages, frame.Path); !strings.Contains(page, want) || strings.Count(page, "The last sync of") != 1 {
		t.Errorf("the page lacks %q: %s", want, page)
	}
	o.Allow(members.MayViewLists)
	if _, page := frametest.Get(t, pages, frame.Path); strings.Contains(page, "The last sync of") {
		t.Error("a member who may not view the account sees its syncs")
	}
}

// TestFailingWebhooks checks the notice about the webhook of a receiving domain that has failed
// for an hour.
func TestFailingWebhooks(t *testing.T) {
	t.Parallel()
	o, pages := newOffice(t, stock{})
	want := "Every delivery to the webhook of in.example.com since 2026-03-12 14:30 UTC failed. Messages whose attempts end are delivered only if you send them again."
	_, page := frametest.Get(t, pages, frame.Path)
	if !strings.Contains(page, want) || !strings.Contains(page, `<a href="/dashboard/receiving/8">Open the domain</a>`) || strings.Count(page, "Every delivery to the webhook") != 1 {
		t.Errorf("the page lacks %q: %s", want, page)
	}
	o.Allow(members.MayViewLists)
	if _, page := frametest.Get(t, pages, frame.Path); strings.Contains(page, "Every delivery to the webhook") {
		t.Error("a member who may not see received mail sees its webhooks")
	}
}

// TestManyGrants checks the number of grants that the overview shows when there are more than
// it counts.
func TestManyGrants(t *testing.T) {
	t.Parallel()
	for more, want := range map[int]string{197: "<strong>199</strong> applications", 198: "<strong>200</strong> applications", 199: "<strong>more than 200</strong> applications"} {
		_, pages := newOffice(t, stock{moreGrants: more})
		if _, page := frametest.Get(t, pages, frame.Path); !strings.Contains(page, want) {
			t.Errorf("with %d grants the page lacks %s", more+2, want)
		}
	}
}

// TestSimulatedAccount checks that the overview leads to the mail of the simulated account,
// except for a visitor who may not read messages.
func TestSimulatedAccount(t *testing.T) {
	t.Parallel()
	o, pages := newOffice(t, stock{})
	for _, want := range []bool{true, false} {
		if _, page := frametest.Get(t, pages, frame.Path); strings.Contains(page, `<a href="/dashboard/account/mails">Read the sent mail</a>`) != want {
			t.Errorf("links to the sent mail: %t, want %t: %s", !want, want, page)
		}
		o.Allow(members.MayViewAccount)
	}
}

// TestNewOrganization checks the overview of an organization that sent nothing.
func TestNewOrganization(t *testing.T) {
	t.Parallel()
	_, pages := newOffice(t, stock{})
	if _, page := frametest.Get(t, pages, frame.Path); !strings.Contains(page, "Nothing was sent in the last 14 days.") || strings.Contains(page, `class="drawing"`) {
		t.Errorf("page: %s", page)
	}
}
