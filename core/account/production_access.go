package account

import (
	"context"
	"errors"
	"net/url"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

const (
	minUseCase = 50
	maxUseCase = 5000
	maxWebsite = 1000
)

// RequestProductionAccess asks the provider to move the account out of the sandbox. It
// fails with core.CodeValidationFailed for invalid fields of the form. It fails with
// core.CodeConflict if a request is open, the account is out of the sandbox, or the
// customer's infrastructure template is not the newest. If the provider refuses or times
// out, the request is stored as failed.
//
// The parameter asker runs the transaction that stores the new request, before the provider
// is called. If that transaction fails, nothing is stored and the provider is not called.
func (a *Account) RequestProductionAccess(
	ctx context.Context, asker core.Transactor, orgID string, p sending.ProductionRequest,
) (sending.AccessRequest, error) {
	if err := checkForm(p); err != nil {
		return sending.AccessRequest{}, err
	}
	if err := a.mayAsk(ctx, orgID); err != nil {
		return sending.AccessRequest{}, err
	}
	now := a.Clock()
	r := sending.AccessRequest{ID: core.NewID(), ProductionRequest: p, Status: sending.AccessPending, CreatedAt: now, UpdatedAt: now}
	if err := asker.InTx(ctx, func(ctx context.Context) error { return a.Requests.InsertRequest(ctx, orgID, r) }); err != nil {
		return sending.AccessRequest{}, err
	}
	asked := a.Account.RequestProductionAccess(ctx, orgID, p)
	r.Status, r.UpdatedAt = sending.AccessUnderReview, a.Clock()
	if asked != nil {
		r.Status = sending.AccessFailed
	}
	// The provider's answer is stored even if the caller's context has ended.
	_, err := a.Requests.DecideRequest(context.WithoutCancel(ctx), orgID, r)
	a.overviews.forget(orgID)
	return r, errors.Join(sending.Unavailable(asked), err)
}

func checkForm(p sending.ProductionRequest) error {
	var wrong []core.FieldError
	if p.MailType != sending.Transactional && p.MailType != sending.Promotional {
		wrong = append(wrong, core.FieldError{Field: "mail_type", Reason: "must be TRANSACTIONAL or PROMOTIONAL"})
	}
	if !isWebsite(p.Website) {
		wrong = append(wrong, core.FieldError{Field: "website", Reason: "must be an http or https address"})
	}
	switch length := utf8.RuneCountInString(p.UseCase); {
	case length < minUseCase:
		wrong = append(wrong, core.FieldError{Field: "use_case", Reason: "must have at least 50 characters"})
	case length > maxUseCase || !isText(p.UseCase):
		wrong = append(wrong, core.FieldError{Field: "use_case", Reason: "must be plain text of at most 5,000 characters"})
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

// mayAsk checks whether the organization may request production access. It fails with
// core.CodeConflict if a request is open, if the account is out of the sandbox, or if its
// infrastructure template is not the newest. It also fails if the account does not answer.
func (a *Account) mayAsk(ctx context.Context, orgID string) error {
	template, err := a.template(ctx, orgID)
	if err != nil {
		return err
	}
	if template != nil && !template.UpToDate {
		return core.Conflict("The infrastructure template of the sending account is not the newest.",
			"Update the stack to the latest template version, then repeat the request.")
	}
	if latest, err := a.latestRequest(ctx, orgID); err != nil {
		return err
	} else if latest != nil && latest.Status.Open() {
		return sending.AccessRequestOpen()
	}
	overview, err := a.Account.Overview(ctx, orgID)
	if err != nil {
		return sending.Unavailable(err)
	}
	if !overview.Sandbox {
		return core.Conflict("The sending account has production access already.", "Send mail without a request.")
	}
	return nil
}

// latestRequest returns the organization's latest request for production access, or nil if
// there is none.
func (a *Account) latestRequest(ctx context.Context, orgID string) (*sending.AccessRequest, error) {
	r, err := a.Requests.LatestRequest(ctx, orgID)
	if err != nil && core.AsError(err).Code == core.CodeNotFound {
		return nil, nil //nolint:nilnil // absence is an answer
	}
	if err != nil {
		return nil, err
	}
	return &r, nil
}

// DenyProductionAccess closes the organization's open request for production access as
// denied by an operator. It fails with core.CodeConflict if the latest request is closed,
// and with core.CodeNotFound if the organization has none.
func (a *Account) DenyProductionAccess(ctx context.Context, orgID string) error {
	r, err := a.Requests.LatestRequest(ctx, orgID)
	if err != nil {
		return err
	}
	r.Status, r.UpdatedAt = sending.AccessDenied, a.Clock()
	open, err := a.Requests.DecideRequest(ctx, orgID, r)
	if err != nil {
		return err
	}
	if !open {
		return core.Conflict("No request for production access is open.", "Wait until a request is open.")
	}
	return nil
}
