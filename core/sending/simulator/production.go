package simulator

import (
	"context"
	"database/sql"
	"errors"
	"net/url"

	"github.com/mailhelm/mailhelm/core/sending"
)

const maxUseCase = 5000

const requestProductionAccess = `
UPDATE accounts SET review = $2, mail_type = $3, website = $4, use_case = $5 WHERE org_id = $1`

// RequestProductionAccess starts a review of the request, which is pending until SetReview.
// It fails with Invalid in these cases:
//   - The website is not an http or https URL.
//   - The use case is empty or longer than 5,000 bytes.
//   - The mail type is unknown.
//   - An earlier request of the organization is pending or was granted.
func (s *Simulator) RequestProductionAccess(ctx context.Context, orgID string, r sending.ProductionRequest) error {
	return s.call(ctx, MethodRequestProductionAccess, func(ctx context.Context) error {
		if err := checkProductionRequest(r); err != nil {
			return err
		}
		return s.write(ctx, orgID, func(w *change) {
			var review sending.Review
			if w.err = w.tx.QueryRowContext(w.ctx, `SELECT review FROM accounts WHERE org_id = $1`, orgID).Scan(&review); w.err != nil {
				return
			}
			if review == sending.ReviewPending || review == sending.ReviewGranted {
				w.err = invalid("production access was asked for already")
				return
			}
			w.exec(requestProductionAccess, orgID, string(sending.ReviewPending), string(r.MailType), r.Website, r.UseCase)
		})
	})
}

func checkProductionRequest(r sending.ProductionRequest) error {
	website, err := url.Parse(r.Website)
	switch {
	case r.MailType != sending.Transactional && r.MailType != sending.Promotional:
		return invalid("the mail type is neither TRANSACTIONAL nor PROMOTIONAL")
	case err != nil || website.Host == "" || website.Scheme != "http" && website.Scheme != "https":
		return invalid("the website is no http or https URL")
	case r.UseCase == "" || len(r.UseCase) > maxUseCase:
		return invalid("the use case is empty or too long")
	}
	return nil
}

// ProductionRequest returns the organization's latest request for production access, or the
// zero value if it made none.
func (s *Simulator) ProductionRequest(ctx context.Context, orgID string) (sending.ProductionRequest, error) {
	var r sending.ProductionRequest
	err := s.file.reader.QueryRowContext(ctx, `SELECT mail_type, website, use_case FROM accounts WHERE org_id = $1`, orgID).
		Scan(&r.MailType, &r.Website, &r.UseCase)
	if errors.Is(err, sql.ErrNoRows) {
		err = noAccount()
	}
	return r, failureOf(err)
}

// The minimum quotas of an account that left the sandbox by SetReview.
const (
	production24HourSend  = 50_000
	productionMaxSendRate = 14
)

const endReview = `UPDATE accounts SET review = $2 WHERE org_id = $1`

const leaveSandbox = `
UPDATE accounts SET sandbox = 0, max_24_hour_send = max(max_24_hour_send, $2), max_send_rate = max(max_send_rate, $3)
WHERE org_id = $1 AND sandbox = 1`

// SetReview sets the provider's decision about production access. ReviewGranted moves the
// account out of the sandbox, and raises quotas that are below those of a new production
// account. SetReview is not a method of sending.Account, so the simulated faults of such
// methods do not affect it.
func (s *Simulator) SetReview(ctx context.Context, orgID string, review sending.Review) error {
	return failureOf(s.write(ctx, orgID, func(w *change) {
		w.exec(endReview, orgID, string(review))
		if review == sending.ReviewGranted {
			w.exec(leaveSandbox, orgID, production24HourSend, productionMaxSendRate)
		}
	}))
}
