package ses

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/aws/aws-sdk-go-v2/service/sesv2/types"
	"github.com/mailhelm/mailhelm/core/sending"
)

// reviews are the provider's words for what became of a request.
var reviews = map[types.ReviewStatus]sending.Review{
	types.ReviewStatusPending: sending.ReviewPending,
	types.ReviewStatusGranted: sending.ReviewGranted,
	types.ReviewStatusDenied:  sending.ReviewDenied,
	types.ReviewStatusFailed:  sending.ReviewFailed,
}

// mailTypes are the provider's words for the port's.
var mailTypes = map[sending.MailType]types.MailType{
	sending.Transactional: types.MailTypeTransactional,
	sending.Promotional:   types.MailTypeMarketing,
}

// Overview reads quota and state, and takes the send rate along for what is sent
// from here. A Max24HourSend of -1 is no limit, as the provider has it.
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

// rateShare of a call's deadline is what reading the send rate may take of it.
const rateShare = 4

// learnRate reads the send rate when it is not known or old. Without it nobody is
// held back: the provider says so itself when it is too much.
func (a *Account) learnRate(ctx context.Context) {
	a.pace.refresh(ctx, func() (float64, error) {
		ctx, cancel := context.WithTimeout(ctx, a.timeout/rateShare)
		defer cancel()
		out, err := a.api.GetAccount(ctx, &sesv2.GetAccountInput{}, once)
		if err != nil {
			return 0, err
		}
		return sendRate(out), nil
	})
}

// sendRate is 0 for an account that names none.
func sendRate(out *sesv2.GetAccountOutput) float64 {
	if out.SendQuota == nil {
		return 0
	}
	return out.SendQuota.MaxSendRate
}

// RequestProductionAccess hands the request to the provider, once: a second try
// would find the first one's request open. One that is open, or was granted, makes
// another Invalid.
func (a *Account) RequestProductionAccess(ctx context.Context, _ string, r sending.ProductionRequest) error {
	if mailTypes[r.MailType] == "" {
		return invalid("no mail type of the provider's")
	}
	return a.call(ctx, func(ctx context.Context) error {
		_, err := a.api.PutAccountDetails(ctx, &sesv2.PutAccountDetailsInput{
			MailType: mailTypes[r.MailType], WebsiteURL: &r.Website, UseCaseDescription: &r.UseCase,
			ContactLanguage: types.ContactLanguageEn, ProductionAccessEnabled: aws.Bool(true),
		}, once)
		return handedOver(ctx, err)
	})
}
