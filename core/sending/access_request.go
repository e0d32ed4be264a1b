package sending

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// AccessStatus is where a request for production access stands.
type AccessStatus string

// The states. The first two are open. Denied is an operator's word alone: the
// provider never says so.
const (
	AccessPending     AccessStatus = "pending"
	AccessUnderReview AccessStatus = "under_review"
	AccessGranted     AccessStatus = "granted"
	AccessDenied      AccessStatus = "denied"
	AccessFailed      AccessStatus = "failed"
)

// Open reports whether a decision is still to come.
func (s AccessStatus) Open() bool { return s == AccessPending || s == AccessUnderReview }

// AccessRequest is a request to leave the provider's sandbox.
type AccessRequest struct {
	ID string
	ProductionRequest
	Status               AccessStatus
	CreatedAt, UpdatedAt time.Time
	GrantedAt            *time.Time // set when granted
}

// AccessRequests remembers requests. Everything takes part in the transaction of its
// context and sees only the organization it is given.
type AccessRequests interface {
	// InsertRequest fails with core.CodeConflict while another one is open.
	InsertRequest(ctx context.Context, orgID string, r AccessRequest) error
	// LatestRequest fails with core.CodeNotFound when there never was one.
	LatestRequest(ctx context.Context, orgID string) (AccessRequest, error)
	// DecideRequest stores Status, UpdatedAt and GrantedAt of a request that is
	// still open. It reports whether it was.
	DecideRequest(ctx context.Context, orgID string, r AccessRequest) (bool, error)
}

// AccessRequestOpen refuses a second request.
func AccessRequestOpen() *core.Error {
	return core.Conflict("A request for production access is open already.", "Wait for the provider's decision.")
}
