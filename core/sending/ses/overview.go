package ses

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/aws/aws-sdk-go-v2/service/sesv2/types"
	"github.com/mailhelm/mailhelm/core/sending"
)

// reviews maps the states that SES gives to a request for production access to
// sending.Review.
var reviews = map[types.ReviewStatus]sending.Review{
	types.ReviewStatusPending: sending.ReviewPending,
	types.ReviewStatusGranted: sending.ReviewGranted,
	types.ReviewStatusDenied:  sending.ReviewDenied,
	types.ReviewStatusFailed:  sending.ReviewFailed,
}

// mailTypes maps the mail types of package sending to those of SES.
var mailTypes = map[sending.MailType]types.MailType{
	sending.Transactional: types.MailTypeTransactional,
	sending.Promotional:   types.MailTypeMarketing,
}

// Overview returns quota and state of the account, and updates the send rate that limits
// Send and SendBulk. A Max24HourSend of -1 means unlimited, as at SES.
func (a *Account) Overview(ctx context.Context, _ string) (sending.Overview, error) {
	var o sending.Overview
	err := a.call(ctx, func(ctx context.Context) error {
		out, err := a.api.GetAccount(ctx, &sesv2.GetAccountInput{})
		if err != nil {
			return err
		}
		o = overviewOf(out)
		a.pace.learn(sendRate(out))
		o.Region, o.AccountID = a.region, a.identity.get(ctx)
		return nil
	})
	return o, err
}

func overviewOf(out *sesv2.GetAccountOutput) sending.Overview {
	o := sending.Overview{Sandbox: !out.ProductionAccessEnabled, SendingEnabled: out.SendingEnabled}
	if q := out.SendQuota; q != nil {
		o.Max24HourSend, o.MaxSendRate, o.SentLast24Hours = int64(q.Max24HourSend), int64(q.MaxSendRate), int64(q.SentLast24Hours)
	}
	if out.Details != nil && out.Details.ReviewDetails != nil {
		o.Review = reviews[out.Details.ReviewDetails.Status]
	}
	return o
}

// rateShare determines the time limit for reading the send rate: the time limit of a call,
// divided by rateShare.
const rateShare = 4

// learnRate reads the account's send rate from SES if it is unknown or old. If that fails,
// messages are sent without waiting for the rate: SES throttles calls that are too fast.
func (a *Account) learnRate(ctx context.Context) {
	a.pace.refresh(ctx, func() (float64, error) {
		ctx, cancel := context.WithTimeout(ctx, a.timeout/rateShare)
		defer cancel()
		out, err := a.api.GetAccount(ctx, &sesv2.GetAccountInput{}, disableRetries)
		if err != nil {
			return 0, err
		}
		return sendRate(out), nil
	})
}

// sendRate returns the account's send rate in recipients per second, or 0 if SES reports
// none.
func sendRate(out *sesv2.GetAccountOutput) float64 {
	if out.SendQuota == nil {
		return 0
	}
	return out.SendQuota.MaxSendRate
}

// RequestProductionAccess sends a request for production access to SES. It does not retry,
// because a retry would fail if the first try opened the request. It fails with Invalid if
// a request is open or was granted.
func (a *Account) RequestProductionAccess(ctx context.Context, _ string, r sending.ProductionRequest) error {
	if mailTypes[r.MailType] == "" {
		return invalid("no mail type of the provider's")
	}
	return a.call(ctx, func(ctx context.Context) error {
		_, err := a.api.PutAccountDetails(ctx, &sesv2.PutAccountDetailsInput{
			MailType: mailTypes[r.MailType], WebsiteURL: &r.Website, UseCaseDescription: &r.UseCase,
			ContactLanguage: types.ContactLanguageEn, ProductionAccessEnabled: aws.Bool(true),
		}, disableRetries)
		return unrepeatableFailure(ctx, err)
	})
}
