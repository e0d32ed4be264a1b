package account

import (
	"context"
	"errors"
	"net/url"
	"time"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// RequestStatus is where a request for production access stands.
type RequestStatus string

// The states. The first two are open. Denied is an operator's word alone: the
// provider never says so.
const (
	RequestPending     RequestStatus = "pending"
	RequestUnderReview RequestStatus = "under_review"
	RequestGranted     RequestStatus = "granted"
	RequestDenied      RequestStatus = "denied"
	RequestFailed      RequestStatus = "failed"
)

// Open reports whether a decision is still to come.
func (s RequestStatus) Open() bool { return s == RequestPending || s == RequestUnderReview }

// Request is a request to leave the provider's sandbox.
type Request struct {
	ID string
	sending.ProductionRequest
	Status               RequestStatus
	CreatedAt, UpdatedAt time.Time
	GrantedAt            *time.Time // set when granted
}

// RequestStore remembers requests. Everything takes part in the transaction of its
// context and sees only the organization it is given.
type RequestStore interface {
	// InsertRequest fails with core.CodeConflict while another one is open.
	InsertRequest(ctx context.Context, orgID string, r Request) error
	// LatestRequest fails with core.CodeNotFound when there never was one.
	LatestRequest(ctx context.Context, orgID string) (Request, error)
	// DecideRequest stores Status, UpdatedAt and GrantedAt of a request that is
	// still open. It reports whether it was.
	DecideRequest(ctx context.Context, orgID string, r Request) (bool, error)
}

const (
	minUseCase = 50
	maxUseCase = 5000
	maxWebsite = 1000
)

// RequestProductionAccess asks the provider to let the account out of the sandbox.
// It fails with core.CodeValidationFailed for what the form does not hold, and
// with core.CodeConflict while a request is open, when the account is out of the
// sandbox, or when the customer's infrastructure template is not the newest. What
// the provider refuses, or does not answer in time, is kept as failed.
func (a *Account) RequestProductionAccess(ctx context.Context, orgID string, p sending.ProductionRequest) (Request, error) {
	if err := checkForm(p); err != nil {
		return Request{}, err
	}
	if err := a.mayAsk(ctx, orgID); err != nil {
		return Request{}, err
	}
	now := a.Clock()
	r := Request{ID: core.NewID(), ProductionRequest: p, Status: RequestPending, CreatedAt: now, UpdatedAt: now}
	if err := a.Requests.InsertRequest(ctx, orgID, r); err != nil {
		return Request{}, err
	}
	asked := a.Account.RequestProductionAccess(ctx, orgID, p)
	r.Status, r.UpdatedAt = RequestUnderReview, a.Clock()
	if asked != nil {
		r.Status = RequestFailed
	}
	// The provider's answer is kept although whoever asked may have left by now.
	_, err := a.Requests.DecideRequest(context.WithoutCancel(ctx), orgID, r)
	a.overviews.forget(orgID)
	return r, errors.Join(sending.Unavailable(asked), err)
}

func checkForm(p sending.ProductionRequest) error {
	var wrong []core.FieldError
	if p.MailType != sending.Transactional && p.MailType != sending.Promotional {
		wrong = append(wrong, core.FieldError{Field: "mail_type", Reason: "is neither TRANSACTIONAL nor PROMOTIONAL"})
	}
	if !isWebsite(p.Website) {
		wrong = append(wrong, core.FieldError{Field: "website", Reason: "is not an http or https address"})
	}
	switch length := utf8.RuneCountInString(p.UseCase); {
	case length < minUseCase:
		wrong = append(wrong, core.FieldError{Field: "use_case", Reason: "has fewer than 50 characters"})
	case length > maxUseCase || !isText(p.UseCase):
		wrong = append(wrong, core.FieldError{Field: "use_case", Reason: "is longer than 5,000 characters or holds some that are no text"})
	}
	if len(wrong) > 0 {
		return core.InvalidFields(wrong...)
	}
	return nil
}

func isWebsite(website string) bool {
	u, err := url.Parse(website)
	return err == nil && len(website) <= maxWebsite && isText(website) && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil
}

func isText(s string) bool {
	for _, r := range s {
		if r == utf8.RuneError || r == 0 {
			return false
		}
	}
	return true
}

// mayAsk refuses what the provider would, and what is open already.
func (a *Account) mayAsk(ctx context.Context, orgID string) error {
	template, err := a.template(ctx, orgID)
	if err != nil {
		return err
	}
	if template != nil && !template.UpToDate {
		return core.Conflict("The infrastructure template of the sending account is not the newest.",
			"Update the stack to the latest template version, then ask again.")
	}
	if latest, err := a.latestRequest(ctx, orgID); err != nil {
		return err
	} else if latest != nil && latest.Status.Open() {
		return RequestOpen()
	}
	overview, err := a.Account.Overview(ctx, orgID)
	if err != nil {
		return sending.Unavailable(err)
	}
	if !overview.Sandbox {
		return core.Conflict("The sending account has production access already.", "Nothing needs to be asked for.")
	}
	return nil
}

// RequestOpen refuses a second request.
func RequestOpen() *core.Error {
	return core.Conflict("A request for production access is open already.", "Wait for the provider's decision.")
}

// latestRequest is nil when there never was one.
func (a *Account) latestRequest(ctx context.Context, orgID string) (*Request, error) {
	r, err := a.Requests.LatestRequest(ctx, orgID)
	if err != nil && core.AsError(err).Code == core.CodeNotFound {
		return nil, nil //nolint:nilnil // absence is an answer
	}
	if err != nil {
		return nil, err
	}
	return &r, nil
}

// DenyProductionAccess is an operator's decision on the open request. It fails
// with core.CodeConflict when none is open.
func (a *Account) DenyProductionAccess(ctx context.Context, orgID string) error {
	r, err := a.Requests.LatestRequest(ctx, orgID)
	if err != nil {
		return err
	}
	r.Status, r.UpdatedAt = RequestDenied, a.Clock()
	open, err := a.Requests.DecideRequest(ctx, orgID, r)
	if err != nil {
		return err
	}
	if !open {
		return core.Conflict("No request for production access is open.", "There is nothing to decide.")
	}
	return nil
}
