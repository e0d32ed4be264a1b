package suppression

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Undeliverable is an entry of the list of undeliverable addresses, as results of REST
// routes and MCP tools contain it.
type Undeliverable struct {
	Email           string     `json:"email" voice:"untrusted"`
	Status          Status     `json:"status" jsonschema:"enum=listed,enum=excluded"`
	Reason          Reason     `json:"reason" jsonschema:"enum=permanent_bounce,enum=complaint,enum=rejected,enum=repeated_transient,enum=undetermined,enum=soft_bounce_accumulation"`
	FirstSeenAt     time.Time  `json:"first_seen_at"`
	LastSeenAt      time.Time  `json:"last_seen_at"`
	LastChangedAt   time.Time  `json:"last_changed_at"`
	EventCount      int        `json:"event_count"`
	ExcludedAt      *time.Time `json:"excluded_at" jsonschema:"nullable"`
	ExclusionReason *string    `json:"exclusion_reason" voice:"untrusted" jsonschema:"nullable"`
}

func recordOf(e Entry) Undeliverable {
	u := Undeliverable{
		Email: e.Email, Status: e.Status, Reason: e.Reason, FirstSeenAt: e.FirstSeenAt, LastSeenAt: e.LastSeenAt,
		LastChangedAt: e.LastChangedAt, EventCount: e.EventCount, ExcludedAt: e.ExcludedAt,
	}
	if e.Status == Excluded {
		u.ExclusionReason = &e.ExclusionReason
	}
	return u
}

// ListUndeliverableIn has the filters and page parameters of undeliverable_list.
type ListUndeliverableIn struct {
	Status Status     `json:"status,omitempty" jsonschema:"enum=listed,enum=excluded" jsonschema_description:"listed: undeliverable. excluded: removed from the list. Default: listed; with since, both."`
	Since  *time.Time `json:"since,omitempty" jsonschema_description:"Only entries changed at or after this time, to the second, RFC 3339, such as 2026-03-01T00:00:00Z."`
	Limit  int        `json:"limit,omitempty" jsonschema:"minimum=1,maximum=200,default=50" jsonschema_description:"Greatest number of items in the answer."`
	Cursor string     `json:"cursor,omitempty" only:"rest" jsonschema:"maxLength=1024" jsonschema_description:"Cursor: next_cursor of the previous page."`
}

// UndeliverablePage is a page of undeliverable addresses with the version of the rules that
// listed them.
type UndeliverablePage struct {
	core.Page[Undeliverable]
	RulesVersion string
}

// VersionedEnvelope is a page of undeliverable addresses as REST returns it. The version of
// the rules is in a header of the response.
type VersionedEnvelope struct {
	core.Envelope[Undeliverable]
	version string
}

// HeaderValue returns the version.
func (e VersionedEnvelope) HeaderValue() string { return e.version }

// RESTView returns the page as the body of a REST response.
func (p UndeliverablePage) RESTView() VersionedEnvelope {
	return VersionedEnvelope{p.Page.RESTView(), p.RulesVersion}
}

func (s *Suppression) undeliverableList() core.Operation {
	return core.Declare(core.Op[ListUndeliverableIn, UndeliverablePage]{
		Name:  "undeliverable_list",
		Title: "List undeliverable addresses",
		Purpose: "Lists addresses that bounced, complained or were rejected. " +
			"Use it to clean an audience. Returns status, reason and dates, latest change first. It is advice and blocks no mail.",
		Example: `{"status": "listed", "limit": 2}`,
		Effect:  core.Reads,
		Cost:    core.Heavy,
		CostOf: func(c *core.Call, _ ListUndeliverableIn) core.Cost {
			if c.Surface == core.Agent { // only results for agents have the total, which is slow to count
				return core.Heavy
			}
			return core.Light
		},
		Scopes: []core.Scope{core.UndeliverableView},
		Do:     s.listUndeliverable,
	})
}

// listUndeliverable returns a page of the list of undeliverable addresses, the latest
// change first. If an entry of the list changes while a caller reads pages, the entry moves
// in front of the first page. Its last_changed_at is then not earlier than that of any
// entry that the caller has received. A caller that later asks for changes since the latest
// of these times therefore finds the entry.
func (s *Suppression) listUndeliverable(ctx context.Context, c *core.Call, in ListUndeliverableIn) (UndeliverablePage, error) {
	org, limit := c.Principal.Org.ID, core.Limit(in.Limit)
	f := EntryFilter{Status: in.Status, Limit: limit + 1}
	if in.Since != nil {
		f.ChangedSince = in.Since.UTC().Truncate(time.Second)
	} else if f.Status == "" {
		f.Status = Listed
	}
	text := fmt.Sprintf("undeliverable %q %d", f.Status, f.ChangedSince.Unix())
	var err error
	if f.After, err = core.AfterCursor(text, in.Cursor); err != nil {
		return UndeliverablePage{}, err
	}
	rules, err := s.RuleStore.Rules(ctx, org)
	if err != nil {
		return UndeliverablePage{}, err
	}
	entries, err := s.Store.EntryPage(ctx, org, f)
	if err != nil {
		return UndeliverablePage{}, err
	}
	found := core.PageOf(entries, limit, text, func(e Entry) core.After { return core.After{At: e.LastChangedAt, ID: e.ID()} })
	page := UndeliverablePage{RulesVersion: rules.Version()}
	page.Next = found.Next
	for _, e := range found.Items {
		page.Items = append(page.Items, recordOf(e))
	}
	if c.Surface == core.Agent {
		page.Total, err = s.Store.CountEntries(ctx, org, f)
	}
	return page, err
}
