package activities

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// RecordIn has the activities that a caller wants to record.
type RecordIn struct {
	Activities Items `json:"activities" agentmax:"100" jsonschema_description:"Activities to record, in any order."`

	read []sent
}

// Recorded has the result of each item of a request to record activities, in the order of
// the request.
type Recorded struct {
	Data []ItemResult `json:"data"`
}

// RecordedForAgent is [Recorded] as the MCP tool returns it, with the numbers of accepted
// and rejected items.
type RecordedForAgent struct {
	Accepted int         `json:"accepted"` // includes duplicates
	Rejected int         `json:"rejected"`
	Items    []agentItem `json:"items"`
}

// agentItem is an [ItemResult] whose JSON schema has no descriptions. Each MCP tools/list
// response contains the schema, so it is kept short.
type agentItem struct {
	Index      int    `json:"index"`
	Status     string `json:"status" voice:"ours"`
	ActivityID string `json:"activity_id,omitempty" voice:"ours"`
	ContactID  string `json:"contact_id,omitempty" voice:"ours"`
	Reason     Reason `json:"reason,omitempty" voice:"ours"`
	Detail     string `json:"detail,omitempty" voice:"ours"`
	Duplicate  bool   `json:"duplicate,omitempty"`
}

// AgentView returns the results with the numbers of accepted and rejected items.
func (r Recorded) AgentView() RecordedForAgent {
	view := RecordedForAgent{Items: make([]agentItem, len(r.Data))}
	for i, item := range r.Data {
		view.Items[i] = agentItem(item)
		if item.Status == rejected {
			view.Rejected++
		} else {
			view.Accepted++
		}
	}
	return view
}

func (a *Activities) activitiesRecord() core.Operation {
	return core.Declare(core.Op[RecordIn, Recorded]{
		Name:  "activities_record",
		Title: "Record activities",
		Purpose: "Records activities. Use it for events that segments count. " +
			"Returns each item's ids, or why it was refused. It sends no mail and cannot be undone.",
		Example: `{"activities": [{"name": "order_placed", "email": "ada.almeida@example.com", "occurred_at": "2026-03-02T08:30:00Z", "properties": {"total": 42.5, "currency": "EUR"}, "idempotency_key": "order-1042"}]}`,
		Effect:  core.Writes,
		Scopes:  []core.Scope{core.ActivitiesWrite},
		Prepare: a.prepareRecord,
		Do:      a.record,
	})
}

// prepareRecord validates each item, and counts the valid items against the organization's
// limit of items per minute. Items over the limit get the reason RateLimited. It runs once
// for each call, even if the transaction runs several times.
func (a *Activities) prepareRecord(ctx context.Context, c *core.Call, in RecordIn) (RecordIn, error) {
	in.read = make([]sent, len(in.Activities))
	sound := 0
	for i, raw := range in.Activities {
		in.read[i] = readItem(raw, i, c.Now, a.Store.EmailKey)
		if in.read[i].reason == "" {
			sound++
		}
	}
	admitted := a.admit(ctx, c.Principal.Org.ID, sound)
	for i := range in.read {
		if in.read[i].reason != "" {
			continue
		}
		if admitted == 0 {
			in.read[i].reason = RateLimited
			continue
		}
		admitted--
	}
	return in, nil
}

func (a *Activities) admit(ctx context.Context, orgID string, n int) int {
	if a.Admit == nil || n == 0 {
		return n
	}
	admitted, err := a.Admit(ctx, orgID, n)
	if err != nil {
		a.Log.WarnContext(ctx, "activities are accepted without a rate limit", "org_id", orgID, "error", err)
		return n
	}
	return admitted
}

// record stores the items inside the transaction. The transaction may run more than once,
// so record changes a copy of the items.
func (a *Activities) record(ctx context.Context, c *core.Call, in RecordIn) (Recorded, error) {
	items := append([]sent(nil), in.read...)
	org := c.Principal.Org.ID
	if err := a.identify(ctx, org, items, c.Now); err != nil {
		return Recorded{}, err
	}
	if err := a.dedup(ctx, org, items, c.Now); err != nil {
		return Recorded{}, err
	}
	source := FromAPI
	if c.Surface == core.Agent {
		source = FromAgent
	}
	for i := range items {
		items[i].receivedAt = c.Now
	}
	if err := a.insert(ctx, org, items, source); err != nil {
		return Recorded{}, err
	}
	results := make([]ItemResult, len(items))
	for i := range items {
		results[i] = items[i].result()
	}
	if len(results) == 1 {
		c.SetSubject(results[0].ActivityID)
	}
	return Recorded{Data: results}, nil
}

// insert stores the items that were neither refused nor found to be duplicates.
func (a *Activities) insert(ctx context.Context, org string, items []sent, source Source) error {
	fresh := make([]Activity, 0, len(items))
	var contacts []string
	seen := make(map[string]bool, len(items))
	for i := range items {
		s := &items[i]
		if s.reason != "" || s.duplicate {
			continue
		}
		fresh = append(fresh, Activity{
			ID: s.activityID, ContactID: s.contactID, Name: s.name, OccurredAt: s.occurredAt, ReceivedAt: s.receivedAt,
			Source: source, Properties: s.properties,
		})
		if !seen[s.contactID] {
			seen[s.contactID] = true
			contacts = append(contacts, s.contactID)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	if err := a.Store.Insert(ctx, org, fresh); err != nil {
		return err
	}
	return a.report(ctx, org, fresh, contacts)
}
