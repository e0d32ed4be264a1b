package sending

import "context"

// ProductionAccess requests that an account leaves the provider's sandbox.
type ProductionAccess interface {
	// RequestProductionAccess sends the request to the provider. It fails with Invalid
	// when the provider rejects the request as written.
	RequestProductionAccess(ctx context.Context, orgID string, r ProductionRequest) error
}

// MailType is the kind of mail that an account mostly sends.
type MailType string

// The kinds of mail.
const (
	Transactional MailType = "TRANSACTIONAL"
	Promotional   MailType = "PROMOTIONAL"
)

// ProductionRequest is the information that the provider requires.
type ProductionRequest struct {
	MailType MailType
	Website  string // an http or https URL
	UseCase  string
}

// Review is the provider's state of the latest request.
type Review string

// The states of a review. NoReview means that the account has made no request.
const (
	NoReview      Review = ""
	ReviewPending Review = "pending"
	ReviewGranted Review = "granted"
	ReviewDenied  Review = "denied"
	ReviewFailed  Review = "failed"
)
