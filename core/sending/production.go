package sending

import "context"

// ProductionAccess is the interface of accounts that can ask the provider to end the limits
// of its sandbox.
type ProductionAccess interface {
	// RequestProductionAccess sends a request for production access to the provider. It
	// fails with Invalid if the provider rejects values of the request.
	RequestProductionAccess(ctx context.Context, orgID string, r ProductionRequest) error
}

// MailType is the main kind of mail that an account sends.
type MailType string

// The kinds of mail.
const (
	Transactional MailType = "TRANSACTIONAL"
	Promotional   MailType = "PROMOTIONAL"
)

// ProductionRequest is the information that the provider requires in a request for
// production access.
type ProductionRequest struct {
	MailType MailType
	Website  string // an http or https URL
	UseCase  string
}

// Review is the state, at the provider, of the latest request for production access.
type Review string

// The states of the provider's review. NoReview means that the account has not requested
// production access.
const (
	NoReview      Review = ""
	ReviewPending Review = "pending"
	ReviewGranted Review = "granted"
	ReviewDenied  Review = "denied"
	ReviewFailed  Review = "failed"
)
