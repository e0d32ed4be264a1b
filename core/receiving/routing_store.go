package receiving

import (
	"context"
	"time"
)

// Target names a receiving domain of any organization.
type Target struct{ OrgID, DomainID string }

// Change is a domain with a change that must be published.
type Change struct {
	Target
	Name     string
	Revision int
	// Deleted and Verified are about the domain. URL is that of its webhook, "" without one.
	Deleted, Verified bool
	URL               string
	Document          Document // Routed is true if the domain has a webhook
}

// Publication is what is published of a change.
type Publication struct {
	Change
	// Fault says why the webhook is invalid, "" if it is valid.
	Fault string
	At    time.Time
}

// RouteEntry is what a receiver knows of a published domain.
type RouteEntry struct {
	Target
	Name string
	// RemovedAt is the time at which the deletion of the domain was published, or nil.
	RemovedAt *time.Time
	Version   int
}

// RoutingStore stores what is published. Every method takes part in the transaction of its context.
type RoutingStore interface {
	// Changed returns domains of all organizations whose time to be published has come, those
	// that wait longest first.
	Changed(ctx context.Context, now time.Time, limit int) ([]Target, error)
	// Change returns what is to be published of a domain. It reports false if there is nothing.
	Change(ctx context.Context, t Target) (Change, bool, error)
	// Publish stores a publication with the next version of the routing. Versions become visible
	// in their order. Publish changes nothing if the domain was changed or published since.
	Publish(ctx context.Context, p Publication) error
	// PutOff lets the publisher look at a change later, unless the domain was changed since.
	PutOff(ctx context.Context, c Change, until time.Time) error
	// Since returns the entries of all organizations with a later version, in the order of their
	// versions.
	Since(ctx context.Context, version int) ([]RouteEntry, error)
	// Forget deletes what is left of an organization's domains whose deletion was published
	// before a time.
	Forget(ctx context.Context, orgID string, before time.Time) error
}

// Remembered is how long mail to a deleted domain is accepted and logged. Later it is refused.
const Remembered = 30 * 24 * time.Hour
