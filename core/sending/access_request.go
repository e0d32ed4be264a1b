package sending

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// AccessStatus is the state of a request for production access.
type AccessStatus string

// The states of a request. AccessPending and AccessUnderReview are open. AccessDenied is
// set only by an operator, never from the provider's review.
const (
	AccessPending     AccessStatus = "pending"
	AccessUnderReview AccessStatus = "under_review"
	AccessGranted     AccessStatus = "granted"
	AccessDenied      AccessStatus = "denied"
	AccessFailed      AccessStatus = "failed"
)

// Open reports whether the decision is still pending.
func (s AccessStatus) Open() bool { return s == AccessPending || s == AccessUnderReview }

// AccessRequest is a request to leave the provider's sandbox.
type AccessRequest struct {
	ID string
	ProductionRequest
	Status               AccessStatus
	CreatedAt, UpdatedAt time.Time
	GrantedAt            *time.Time // set when granted
}

// AccessRequests stores requests for production access. Every method takes part in the
// transaction of its context and is limited to the given organization.
type AccessRequests interface {
	// InsertRequest stores a new request. It fails with core.CodeConflict while another
	// request is open.
	InsertRequest(ctx context.Context, orgID string, r AccessRequest) error
	// LatestRequest returns the newest request. It fails with core.CodeNotFound when
	// the organization has none.
	LatestRequest(ctx context.Context, orgID string) (AccessRequest, error)
	// DecideRequest updates Status, UpdatedAt and GrantedAt of an open request. It
	// returns false, and changes nothing, when the request is no longer open.
	DecideRequest(ctx context.Context, orgID string, r AccessRequest) (bool, error)
}

// AccessRequestOpen returns the conflict error for a second request while one is open.
func AccessRequestOpen() *core.Error {
	return core.Conflict("A request for production access is open already.", "Wait for the provider's decision.")
}
