package webhooks

import (
	"context"
	"time"
)

// Store stores endpoints and deliveries. Every method takes part in the transaction of its
// context.
type Store interface {
	// Subscriptions returns what the enabled endpoints of an organization receive.
	Subscriptions(ctx context.Context, orgID string) ([]Subscription, error)
	// Endpoints returns the endpoints of an organization, oldest first.
	Endpoints(ctx context.Context, orgID string) ([]Endpoint, error)
	// Endpoint returns an endpoint, or a NotFound error. In a transaction it locks the
	// endpoint.
	Endpoint(ctx context.Context, orgID, id string) (Endpoint, error)
	// InsertEndpoint stores a new endpoint. It fails with core.CodeConflict if the id is taken.
	InsertEndpoint(ctx context.Context, orgID string, e Endpoint) error
	// UpdateEndpoint stores all fields of an endpoint except CreatedAt, or returns a NotFound
	// error.
	UpdateEndpoint(ctx context.Context, orgID string, e Endpoint) error
	// DeleteEndpoint removes an endpoint with its secrets. PurgeDeliveries then deletes its
	// deliveries. It returns a NotFound error if there is no such endpoint.
	DeleteEndpoint(ctx context.Context, orgID, id string, now time.Time) error

	// AddDeliveries stores new deliveries. Those whose endpoint and id are stored already stay
	// as they are.
	AddDeliveries(ctx context.Context, orgID string, added []Delivery) error
	// Deliveries returns deliveries of an endpoint, newest first, without their bodies.
	Deliveries(ctx context.Context, orgID, endpointID string, f Filter) ([]Delivery, error)
	// Delivery returns a delivery, or a NotFound error.
	Delivery(ctx context.Context, orgID, endpointID, id string) (Delivery, error)
	// Requeue makes a delivery due at now, with all its tries. It changes nothing if the
	// delivery is being sent or does not exist.
	Requeue(ctx context.Context, orgID, endpointID, id string, now time.Time) error
	// PurgeDeliveries deletes at most limit deliveries that were created before a time, and
	// those of deleted endpoints, and returns their number. It also deletes secrets that no
	// longer sign, and deleted endpoints without deliveries.
	PurgeDeliveries(ctx context.Context, orgID string, before, now time.Time, limit int) (int, error)
}

// Queue has the due deliveries of all organizations.
type Queue interface {
	// Due returns enabled endpoints that have a due delivery and fewer than InFlight
	// deliveries that are being sent. slow selects endpoints whose last attempt was slow or
	// failed, otherwise the others. The organizations take turns, and so do the endpoints of
	// an organization: the endpoint that was served longest ago is first.
	Due(ctx context.Context, slow bool, now time.Time, limit int) ([]Target, error)
	// Claim marks at most limit due deliveries of an endpoint as being sent until the time
	// until, and returns them with the endpoint. Together with those that other processes are
	// sending they are at most InFlight. It returns no deliveries if the endpoint is disabled,
	// or if another process is claiming deliveries of it.
	Claim(ctx context.Context, t Target, now, until time.Time, limit int) (Claimed, error)
	// Settle stores the outcome of an attempt. It returns false and stores nothing if the
	// delivery was claimed again since.
	Settle(ctx context.Context, orgID string, d Delivery) (bool, error)
	// GiveBack ends the claim of a delivery whose attempt a stop of the process interrupted: it is
	// due at now, and the attempt does not count as a try. It changes nothing if the delivery was
	// claimed again since.
	GiveBack(ctx context.Context, orgID string, d Delivery, now time.Time) error
	// NoteAttempt stores whether the last attempt at an endpoint failed, and whether it was
	// slow.
	NoteAttempt(ctx context.Context, t Target, failed, slow bool, now time.Time) error
	// DisableFailing disables an endpoint that has failed since before the given time. It
	// reports whether it disabled it.
	DisableFailing(ctx context.Context, t Target, before, now time.Time) (bool, error)
}

// Target names an endpoint of any organization.
type Target struct{ OrgID, EndpointID string }

// Claimed has the deliveries that a process claimed, and their endpoint.
type Claimed struct {
	Endpoint   Endpoint
	Deliveries []Delivery
}

// Subscription says which types of events an enabled endpoint receives.
type Subscription struct {
	EndpointID string
	Types      []EventType
}
