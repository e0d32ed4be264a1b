package sending

import "context"

// ProductionAccess is how an account in the sandbox asks to leave it.
type ProductionAccess interface {
	// RequestProductionAccess hands the request to the provider. It fails with
	// Invalid when the provider does not take it as it stands.
	RequestProductionAccess(ctx context.Context, orgID string, r ProductionRequest) error
}

// MailType is what kind of mail an account mostly sends.
type MailType string

// The kinds of mail.
const (
	Transactional MailType = "TRANSACTIONAL"
	Promotional   MailType = "PROMOTIONAL"
)

// ProductionRequest is what the provider wants to know.
type ProductionRequest struct {
	MailType MailType
	Website  string // an http or https URL
	UseCase  string
}

// Review is what the provider has said about the latest request.
type Review string

// The states of a review. NoReview is an account that never asked.
const (
	NoReview      Review = ""
	ReviewPending Review = "pending"
	ReviewGranted Review = "granted"
	ReviewDenied  Review = "denied"
	ReviewFailed  Review = "failed"
)
