package git

import (
	"context"
	"time"
)

// Store stores the connections and proposals of organizations. It encrypts secrets. Methods with
// an organization see only its data, and take part in the transaction of ctx.
type Store interface {
	// Connection returns the connection of an organization. It fails with core.CodeNotFound if
	// there is none.
	Connection(ctx context.Context, orgID string) (Connection, error)
	// InsertConnection stores a connection, and marks the definitions of the organization as those
	// of a repository. It fails with core.CodeConflict if the organization has a connection.
	InsertConnection(ctx context.Context, c Connection) error
	// DeleteConnection deletes the connection with this id, all proposals and adoptions, and makes every
	// definition of the repository a managed one. It fails with core.CodeNotFound if there is no such
	// connection.
	DeleteConnection(ctx context.Context, orgID, id string) error
	// RequestSync notes that a sync is wanted. It fails with core.CodeNotFound without a connection.
	RequestSync(ctx context.Context, orgID string) error
	// ClaimSync reserves the connection for one sync until a time, unless another sync has reserved it
	// at the time now. The number says which requests the sync covers. It returns false if the
	// connection is reserved, and fails with core.CodeNotFound without a connection.
	ClaimSync(ctx context.Context, orgID, claim string, now, until time.Time) (Connection, int64, bool, error)
	// FinishSync stores the result of a sync and ends its reservation. It reports whether a later
	// request is not covered. It fails with core.CodeNotFound if another sync has the reservation.
	FinishSync(ctx context.Context, c Connection, claim string, covered int64) (bool, error)
	// Proposals returns the newest proposals, open ones first.
	Proposals(ctx context.Context, orgID string, limit int) ([]Proposal, error)
	// SaveProposal stores a proposal. One with the same branch stays as it is.
	SaveProposal(ctx context.Context, orgID string, p Proposal) error
	// DecideProposal stores the state of an open proposal.
	DecideProposal(ctx context.Context, orgID, branch string, state ProposalState) error

	// ConnectedOrgs returns the organizations with a connection.
	ConnectedOrgs(ctx context.Context) ([]string, error)
	// OrgsOf returns the organizations that have connected a repository of GitHub through an
	// installation: the one at a location, or any of them if location is "".
	OrgsOf(ctx context.Context, installation int64, location string) ([]string, error)
}
