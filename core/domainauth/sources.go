package domainauth

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/domainauth/sources"
	"github.com/mailhelm/mailhelm/core/domainauth/timeline"
)

// Source is a sender of mail in the name of a domain, with its messages in a window.
type Source struct {
	ID             string                 `json:"id" jsonschema:"format=uuid"`
	Name           string                 `json:"name" voice:"untrusted" jsonschema_description:"Name for people. It does not change."`
	Provider       *string                `json:"provider" jsonschema:"nullable" voice:"ours" jsonschema_description:"Machine name of a known service, such as sendgrid; null for others."`
	Classification figures.Classification `json:"classification" jsonschema:"enum=authorised,enum=forwarder,enum=unknown,enum=spoofing,enum=own" jsonschema_description:"What the reports prove: a proposal for the decision of a person."`
	Decision       figures.Decision       `json:"decision" jsonschema:"enum=confirmed,enum=rejected,enum=unreviewed"`
	Finding        *Finding               `json:"finding" jsonschema:"nullable" jsonschema_description:"The most important open finding."`
	MessageCount   int64                  `json:"message_count" jsonschema_description:"Messages in the window."`
	AlignedCount   int64                  `json:"aligned_count" jsonschema_description:"Those that passed DMARC."`
	FailingCount   int64                  `json:"failing_count" jsonschema_description:"Those that failed DMARC."`
	SPFPass        int64                  `json:"spf_pass" jsonschema_description:"Those for which SPF passed for an aligned domain."`
	DKIMPass       int64                  `json:"dkim_pass" jsonschema_description:"Those with a valid signature of an aligned domain."`
	FirstSeenAt    time.Time              `json:"first_seen_at" jsonschema_description:"First day with messages."`
	LastSeenAt     time.Time              `json:"last_seen_at" jsonschema_description:"Last day with messages."`
	SampleIPs      []string               `json:"sample_ips" voice:"ours" jsonschema_description:"At most 5 addresses of it."`
}

// Finding is something about a source that a person should know.
type Finding struct {
	Code     sources.Code `json:"code" jsonschema:"enum=failing_volume,enum=unaligned_dkim,enum=unaligned_spf,enum=new_source"`
	Detail   string       `json:"detail" voice:"ours"`
	OpenedAt time.Time    `json:"opened_at"`
}

// ListSourcesIn has the filters and page parameters of the list of sources.
type ListSourcesIn struct {
	DomainIn
	PeriodIn
	Decision       figures.Decision       `json:"decision,omitempty" jsonschema:"enum=confirmed,enum=rejected,enum=unreviewed" jsonschema_description:"Only sources with this decision."`
	Classification figures.Classification `json:"classification,omitempty" jsonschema:"enum=authorised,enum=forwarder,enum=unknown,enum=spoofing,enum=own" jsonschema_description:"Only sources with this classification."`
	Limit          int                    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=200,default=50" jsonschema_description:"Greatest number of items in the answer."`
	Cursor         string                 `json:"cursor,omitempty" jsonschema:"maxLength=1024" jsonschema_description:"Cursor: next_cursor of the previous page."`
}

func (a *DomainAuth) sourcesList() core.Operation {
	return core.Declare(core.Op[ListSourcesIn, core.Page[Source]]{
		Name:    "domain_auth_sources_list",
		Title:   "List who sends for a domain",
		Purpose: "Pages through the sources of mail in the name of a domain in a window, those with most messages first, each with its classification, decision and open finding.",
		Example: `{"domain": "example.com", "decision": "unreviewed", "limit": 2}`,
		Effect:  core.Reads,
		Cost:    core.Heavy,
		Scopes:  []core.Scope{core.DomainAuthView},
		Fails:   []core.Code{core.CodeNotFound},
		Do:      a.listSources,
	})
}

func (a *DomainAuth) listSources(ctx context.Context, c *core.Call, in ListSourcesIn) (core.Page[Source], error) {
	org, page := c.Principal.Org.ID, core.Page[Source]{}
	days, err := in.days(c.Now)
	if err != nil {
		return page, err
	}
	d, err := a.domainOf(ctx, c, in.Domain)
	if err != nil {
		return page, err
	}
	f := SourceFilter{Days: days, Decision: in.Decision, Classification: in.Classification}
	filter := fmt.Sprintf("domain_auth sources %s %s %s %q %q", d.ID, boundText(in.From), boundText(in.To), in.Decision, in.Classification)
	after, err := sourcePlace(filter, in.Cursor)
	if err != nil {
		return page, err
	}
	limit := core.Limit(in.Limit)
	if page.Items, page.Total, err = a.Sources.Sources(ctx, org, d.ID, f, after, limit+1); err != nil {
		return page, err
	}
	if len(page.Items) > limit {
		page.Items = page.Items[:limit]
		last := page.Items[limit-1]
		page.Next = core.EncodeCursor(filter, strconv.FormatInt(last.MessageCount, 10), last.ID)
	}
	return page, nil
}

// boundText returns a bound of a period as text, so that a cursor is refused in a list with
// another one.
func boundText(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// sourcePlace decodes a cursor of the list of sources. It returns nil for the start.
func sourcePlace(filter, cursor string) (*SourcePlace, error) {
	keys, err := core.DecodeCursor(filter, cursor, 2)
	if err != nil || keys == nil {
		return nil, err
	}
	n, err := strconv.ParseInt(keys[0], 10, 64)
	if err != nil || !core.IsID(keys[1]) {
		return nil, core.Invalid("cursor", "is not a cursor of this list").WithNext("Send next_cursor of the previous page unchanged, or start again without a cursor.")
	}
	return &SourcePlace{Messages: n, ID: keys[1]}, nil
}

// DecideIn has a decision about a source.
type DecideIn struct {
	DomainIn
	SourceID string           `json:"source_id" jsonschema:"minLength=1,maxLength=64" jsonschema_description:"Member id of the source."`
	Decision figures.Decision `json:"decision" jsonschema:"enum=confirmed,enum=rejected,enum=unreviewed" jsonschema_description:"confirmed: the organization wants its mail delivered. rejected: it must not send for the domain. unreviewed takes a decision back."`
}

func (a *DomainAuth) sourcesDecide() core.Operation {
	return core.Declare(core.Op[DecideIn, Source]{
		Name:    "domain_auth_sources_decide",
		Title:   "Decide about a source",
		Purpose: "Stores what a person decided about a source of mail, which readiness uses. Returns the source with its messages of the last 30 days. It publishes no record, and stops and silences no mail. It needs a person: a token of an application that acts for itself is refused.",
		Example: `{"domain": "example.com", "source_id": "0198c5a0-0000-7000-8000-00000000da01", "decision": "confirmed"}`,
		Effect:  core.Writes,
		Scopes:  []core.Scope{core.DomainAuthManage},
		Fails:   []core.Code{core.CodeNotFound},
		Do:      a.decide,
	})
}

func (a *DomainAuth) decide(ctx context.Context, c *core.Call, in DecideIn) (Source, error) {
	who, err := personOf(c.Principal)
	if err != nil {
		return Source{}, err
	}
	d, err := a.domainOf(ctx, c, in.Domain)
	if err != nil {
		return Source{}, err
	}
	org, days := c.Principal.Org.ID, Days{From: figures.AddDays(c.Now, -29), To: figures.AddDays(c.Now, 1)}
	source, err := a.Sources.Source(ctx, org, d.ID, in.SourceID, days)
	if err != nil {
		return Source{}, err
	}
	c.SetSubject(source.ID)
	if source.Decision == in.Decision {
		return source, nil
	}
	if err := a.Sources.Decide(ctx, org, d.ID, source.ID, in.Decision, who, c.Now); err != nil {
		return Source{}, err
	}
	source.Decision = in.Decision
	return source, a.Timeline.InsertEvent(ctx, org, d.ID, Event{
		ID: core.NewID(), Kind: timeline.SourceDecisions, OccurredAt: c.Now, ObservedAt: c.Now,
		Title: decisionTitle(source.Name, in.Decision),
	}, who)
}

// decisionTitle returns the title of the event of a decision.
func decisionTitle(name string, d figures.Decision) string {
	switch d {
	case figures.Confirmed:
		return core.Quote(name) + " was confirmed"
	case figures.Rejected:
		return core.Quote(name) + " was rejected"
	default:
		return "The decision about " + core.Quote(name) + " was taken back"
	}
}
