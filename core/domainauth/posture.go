package domainauth

import (
	"context"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/domainauth/lookup"
	"github.com/mailhelm/mailhelm/core/domainauth/readiness"
	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
)

// Posture is how a domain stands: its DMARC record as DNS last answered, and the figures of the
// 30 complete days before today.
type Posture struct {
	Domain          string       `json:"domain" voice:"untrusted"`
	Policy          *string      `json:"policy" jsonschema:"nullable,enum=none,enum=quarantine,enum=reject" jsonschema_description:"Published policy that applies to the domain; null without a record."`
	SubdomainPolicy *string      `json:"subdomain_policy" jsonschema:"nullable,enum=none,enum=quarantine,enum=reject" jsonschema_description:"Policy that applies to its subdomains; null without a record."`
	Record          *string      `json:"record" voice:"untrusted" jsonschema:"nullable" jsonschema_description:"Text of the DMARC record; null without one."`
	PassRate        *float64     `json:"pass_rate" jsonschema:"nullable" jsonschema_description:"Messages that passed DMARC of all reported ones, from 0 to 1, in the 30 complete days before today; null without messages."`
	CoverageDays    int          `json:"coverage_days" jsonschema_description:"Days of these 30 that reports cover."`
	MessageVolume   int64        `json:"message_volume" jsonschema_description:"Messages that reports state for these days."`
	SourceCounts    SourceCounts `json:"source_counts"`
	OpenFindings    int          `json:"open_findings" jsonschema_description:"Findings about sources that are open."`
	NextPolicy      *string      `json:"next_policy" jsonschema:"nullable,enum=none,enum=quarantine,enum=reject" jsonschema_description:"The next stricter policy; null at the last one."`
	LastReportAt    *time.Time   `json:"last_report_at" jsonschema:"nullable" jsonschema_description:"When the last report that counts was received."`
	LastMeasuredAt  *time.Time   `json:"last_measured_at" jsonschema:"nullable" jsonschema_description:"When DNS last answered; null before the first measurement."`
}

// SourceCounts has the numbers of sources by decision.
type SourceCounts struct {
	Confirmed  int `json:"confirmed"`
	Rejected   int `json:"rejected"`
	Unreviewed int `json:"unreviewed"`
}

// PostureDetail is the posture of one domain with what receives its reports.
type PostureDetail struct {
	Posture
	RUA              *string     `json:"rua" voice:"ours" jsonschema:"nullable" jsonschema_description:"URI for the tag rua that sends reports to Mailhelm; null if this installation receives none by mail."`
	ReportingEnabled bool        `json:"reporting_enabled" jsonschema_description:"Whether the published record sends reports there."`
	Records          []DNSRecord `json:"records" jsonschema_description:"Records that reports need. Mailhelm publishes none of them, except where the name is of its own domain."`
}

// DNSRecord is a record that reports of a domain need.
type DNSRecord struct {
	Type     string `json:"type" voice:"ours"`
	Name     string `json:"name" voice:"untrusted"`
	Value    string `json:"value" voice:"untrusted"`
	Verified bool   `json:"verified" jsonschema_description:"Whether DNS had it at the last measurement."`
}

// ListDomainsIn has the page parameters of the list of domains.
type ListDomainsIn struct {
	Limit  int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=200,default=50" jsonschema_description:"Greatest number of items in the answer."`
	Cursor string `json:"cursor,omitempty" jsonschema:"maxLength=1024" jsonschema_description:"Cursor: next_cursor of the previous page."`
}

func (a *DomainAuth) domainsList() core.Operation {
	return core.Declare(core.Op[ListDomainsIn, core.Page[Posture]]{
		Name:    "domain_auth_domains_list",
		Title:   "List domains with their DMARC posture",
		Purpose: "Pages through the domains whose DMARC reports are read, by name, each with its policy, pass rate and numbers of sources. It does not ask DNS; domain_auth_domains_remeasure does.",
		Example: `{"limit": 2}`,
		Effect:  core.Reads,
		Cost:    core.Heavy,
		Scopes:  []core.Scope{core.DomainAuthView},
		Do:      a.listDomains,
	})
}

// domainCursor is the filter text of cursors of the list of domains.
const domainCursor = "domain_auth domains"

func (a *DomainAuth) listDomains(ctx context.Context, c *core.Call, in ListDomainsIn) (core.Page[Posture], error) {
	org, none := c.Principal.Org.ID, core.Page[Posture]{}
	keys, err := core.DecodeCursor(domainCursor, in.Cursor, 1)
	if err != nil {
		return none, err
	}
	after := ""
	if keys != nil {
		after = keys[0]
	} else if err := a.Store.Enrol(ctx, org, c.Now); err != nil {
		return none, err
	}
	limit := core.Limit(in.Limit)
	domains, err := a.Store.Domains(ctx, org, after, limit+1)
	if err != nil {
		return none, err
	}
	page := core.Page[Posture]{}
	if page.Total, err = a.Store.CountDomains(ctx, org); err != nil {
		return none, err
	}
	if len(domains) > limit {
		domains = domains[:limit]
		page.Next = core.EncodeCursor(domainCursor, domains[limit-1].Domain)
	}
	page.Items, err = a.postures(ctx, org, domains, c.Now)
	return page, err
}

func (a *DomainAuth) domainsGet() core.Operation {
	return core.Declare(core.Op[DomainIn, PostureDetail]{
		Name:    "domain_auth_domains_get",
		Title:   "Read the DMARC posture of a domain",
		Purpose: "Reads one domain: its policy, pass rate, numbers of sources, and which records its reports need. It does not ask DNS; domain_auth_domains_remeasure does.",
		Example: `{"domain": "example.com"}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.DomainAuthView},
		Fails:   []core.Code{core.CodeNotFound},
		Do: func(ctx context.Context, c *core.Call, in DomainIn) (PostureDetail, error) {
			d, err := a.domainOf(ctx, c, in.Domain)
			if err != nil {
				return PostureDetail{}, err
			}
			all, err := a.postures(ctx, c.Principal.Org.ID, []Domain{d}, c.Now)
			if err != nil {
				return PostureDetail{}, err
			}
			return a.detail(d, all[0]), nil
		},
	})
}

// postures returns the postures of domains.
func (a *DomainAuth) postures(ctx context.Context, orgID string, domains []Domain, now time.Time) ([]Posture, error) {
	ids := make([]string, len(domains))
	for i, d := range domains {
		ids[i] = d.ID
	}
	known, err := a.Figures.Summaries(ctx, orgID, ids, window(now))
	if err != nil {
		return nil, err
	}
	all := make([]Posture, len(domains))
	for i, d := range domains {
		all[i] = postureOf(d, known[d.ID])
	}
	return all, nil
}

func postureOf(d Domain, s Summary) Posture {
	p := Posture{
		Domain: d.Domain, CoverageDays: s.CoverageDays, MessageVolume: s.Messages, OpenFindings: s.Findings,
		PassRate:     number(figures.Ratio{Part: s.Passing, Whole: s.Messages}),
		SourceCounts: SourceCounts{Confirmed: s.Confirmed, Rejected: s.Rejected, Unreviewed: s.Unreviewed},
		LastReportAt: d.LastReportAt, LastMeasuredAt: d.MeasuredAt,
	}
	if d.Snapshot == nil {
		return p
	}
	found := d.Snapshot.Discovery
	p.NextPolicy = word(readiness.HandlingOf(found).Next())
	if found.Domain != "" {
		p.Record = &found.Record.Text
	}
	if found.Applies() {
		p.Policy = word(found.Policy)
		p.SubdomainPolicy = word(found.Record.PolicyFor(true, true))
	}
	return p
}

// detail returns the posture of a domain with the records that its reports need.
func (a *DomainAuth) detail(d Domain, p Posture) PostureDetail {
	detail := PostureDetail{Posture: p, Records: []DNSRecord{}}
	address := a.address(d)
	if address == "" {
		return detail
	}
	rua := "mailto:" + address
	detail.RUA = &rua
	published := dmarc.Discovery{Author: d.Domain}
	var destinations []dmarc.Destination
	if d.Snapshot != nil {
		published, destinations = d.Snapshot.Discovery, d.Snapshot.Destinations
	}
	text, sends := readiness.ReportingRecord(published, address)
	detail.ReportingEnabled = sends
	detail.Records = append(detail.Records, DNSRecord{Type: "TXT", Name: "_dmarc." + d.Domain, Value: text, Verified: sends})
	if consent, needed := lookup.ConsentTo(d.Domain, address, destinations); needed {
		detail.Records = append(detail.Records, DNSRecord{Type: "TXT", Name: consent.Name, Value: "v=DMARC1", Verified: consent.Given})
	}
	return detail
}

// word returns a policy as a member of an answer, nil for the empty one.
func word(p dmarc.Policy) *string {
	if p == "" {
		return nil
	}
	text := strings.ToLower(string(p))
	return &text
}

// number returns the value of a ratio, nil if it is unknown.
func number(r figures.Ratio) *float64 {
	value, known := r.Float()
	if !known {
		return nil
	}
	return &value
}
