package sending

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// AccessStatus is the state of a request for production access, which asks the provider to
// end the limits of its sandbox.
type AccessStatus string

// The states of a request for production access. Pending and under review are open states.
// Only an operator sets AccessDenied; a refusal by the provider sets AccessFailed.
const (
	AccessPending     AccessStatus = "pending"
	AccessUnderReview AccessStatus = "under_review"
	AccessGranted     AccessStatus = "granted"
	AccessDenied      AccessStatus = "denied"
	AccessFailed      AccessStatus = "failed"
)

// Open reports whether the provider has not decided about the request yet.
func (s AccessStatus) Open() bool { return s == AccessPending || s == AccessUnderReview }

// AccessRequest is a request of an organization to leave the provider's sandbox.
type AccessRequest struct {
	ID string
	ProductionRequest
	Status               AccessStatus
	CreatedAt, UpdatedAt time.Time
	GrantedAt            *time.Time // set when granted
}

// AccessRequests stores the requests for production access. Every method takes part in the
// transaction of ctx and reads or changes only requests of the given organization.
type AccessRequests interface {
	// InsertRequest stores a new request. It fails with core.CodeConflict if another request
	// of the organization is open.
	InsertRequest(ctx context.Context, orgID string, r AccessRequest) error
	// LatestRequest returns the organization's newest request. It fails with
	// core.CodeNotFound if there is none.
	LatestRequest(ctx context.Context, orgID string) (AccessRequest, error)
	// DecideRequest updates Status, UpdatedAt and GrantedAt of an open request. It returns
	// false, and changes nothing, if the stored request is no longer open.
	DecideRequest(ctx context.Context, orgID string, r AccessRequest) (bool, error)
}

// AccessRequestOpen returns the conflict error for a request for production access while
// another request is open.
func AccessRequestOpen() *core.Error {
	return core.Conflict("A request for production access is open already.", "Wait for the provider's decision.")
}
