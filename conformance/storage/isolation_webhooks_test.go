package storage_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/approvals"
	"github.com/mailhelm/mailhelm/core/webhooks"
	"github.com/mailhelm/mailhelm/storage"
)

// ownWebhook gives the organization a webhook endpoint with a delivery that is due.
func (o *ownedObjects) ownWebhook(t *testing.T, db *storage.DB) {
	t.Helper()
	due := start
	o.endpoint = webhooks.Endpoint{ID: core.NewID(), URL: "https://same.example/hook", Types: webhooks.EventTypes(), Enabled: true, Secret: []byte("secret"), CreatedAt: start}
	o.delivery = webhooks.Delivery{ID: core.NewID(), EndpointID: o.endpoint.ID, Type: webhooks.Sent, Body: "{}", State: webhooks.Pending, CreatedAt: start, DueAt: &due}
	must(t, db.Webhooks().InsertEndpoint(t.Context(), o.org, o.endpoint))
	must(t, db.Webhooks().AddDeliveries(t.Context(), o.org, []webhooks.Delivery{o.delivery}))
}

// ownApproval gives the organization an approval that waits, and a policy of sends.
func (o *ownedObjects) ownApproval(t *testing.T, db *storage.DB) {
	t.Helper()
	o.approval = approvals.Approval{
		ID: core.NewID(), BroadcastID: o.sent.ID, State: approvals.Pending, AskedBy: approvals.Caller{Kind: core.APIKey, ID: "same"},
		RequestedAt: start, ExpiresAt: start.Add(approvals.Life), Revision: 1, Digest: "same",
	}
	must(t, db.Approvals().Insert(t.Context(), o.org, o.approval))
	must(t, db.SendPolicies().SavePolicy(t.Context(), o.org, approvals.Policy{Application: "same", Rule: approvals.Always, UpdatedAt: start}))
}

// webhookState returns the organization's endpoint, delivery, approval and policy.
func (o ownedObjects) webhookState(t *testing.T, db *storage.DB) []any {
	t.Helper()
	var seen []any
	for _, method := range []string{"Endpoint", "Delivery", "Approval", "Policies"} {
		found, err := storeCalls(o, o.org)[method](t, db)
		must(t, err)
		seen = append(seen, found)
	}
	return seen
}

// webhookCalls returns calls about webhook endpoints and their deliveries. The organization
// org makes them with the objects of another organization, o.
func webhookCalls(o ownedObjects, org string) map[string]storeCall {
	stolen := o.endpoint
	stolen.URL = "https://stolen.example/hook"
	return map[string]storeCall{
		"Subscriptions": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Webhooks().Subscriptions(t.Context(), org)
		},
		"Endpoints": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Webhooks().Endpoints(t.Context(), org)
		},
		"Endpoint": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Webhooks().Endpoint(t.Context(), org, o.endpoint.ID)
		},
		"UpdateEndpoint": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Webhooks().UpdateEndpoint(t.Context(), org, stolen)
		},
		"DeleteEndpoint": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Webhooks().DeleteEndpoint(t.Context(), org, o.endpoint.ID, later(1))
		},
		"Deliveries": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Webhooks().Deliveries(t.Context(), org, o.endpoint.ID, webhooks.Filter{Limit: 10})
		},
		"Delivery": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Webhooks().Delivery(t.Context(), org, o.endpoint.ID, o.delivery.ID)
		},
		"Requeue": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Webhooks().Requeue(t.Context(), org, o.endpoint.ID, o.delivery.ID, later(9))
		},
		"PurgeDeliveries": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Webhooks().PurgeDeliveries(t.Context(), org, later(1_000_000), later(1_000_000), 10)
		},
	}
}

// approvalCalls returns calls about approvals and policies of sends. The organization org
// makes them with the objects of another organization, o.
func approvalCalls(o ownedObjects, org string) map[string]storeCall {
	ended := o.approval
	ended.State = approvals.Approved
	return map[string]storeCall{
		"Approval": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Approvals().Approval(t.Context(), org, o.approval.ID)
		},
		"Latest": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Approvals().Latest(t.Context(), org, []string{o.sent.ID})
		},
		"End": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Approvals().End(t.Context(), org, ended)
		},
		"Find": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Approvals().Find(t.Context(), org, approvals.Filter{Waiting: true, Limit: 10})
		},
		"CountWaiting": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Approvals().CountWaiting(t.Context(), org, start)
		},
		"Overdue": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Approvals().Overdue(t.Context(), org, later(1_000_000), 10)
		},
		"Policies": func(t *testing.T, db *storage.DB) (any, error) {
			return db.SendPolicies().Policies(t.Context(), org)
		},
		// The call removes the policy that its own organization has for the owner's application.
		"SavePolicy": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.SendPolicies().SavePolicy(t.Context(), org, approvals.Policy{Application: "same", Rule: approvals.Inherit, UpdatedAt: start})
		},
	}
}
