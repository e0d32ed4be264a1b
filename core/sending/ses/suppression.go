package ses

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/aws/aws-sdk-go-v2/service/sesv2/types"
	"github.com/mailhelm/mailhelm/core/sending"
)

const suppressedPage = 1000

// FindSuppressed returns the entry of an address in the account's suppression list. It
// fails with NotFound if there is none.
func (a *Account) FindSuppressed(ctx context.Context, _, email string) (sending.Suppressed, error) {
	if email == "" {
		return sending.Suppressed{}, invalid("no address")
	}
	var s sending.Suppressed
	err := a.call(ctx, func(ctx context.Context) error {
		out, err := a.api.GetSuppressedDestination(ctx, &sesv2.GetSuppressedDestinationInput{EmailAddress: &email})
		if err != nil {
			return err
		}
		found := out.SuppressedDestination
		if found == nil {
			return errors.New("the answer has no entry")
		}
		s = sending.Suppressed{Email: aws.ToString(found.EmailAddress), Reason: reasonOf(found.Reason), At: timeOf(found.LastUpdateTime)}
		return nil
	})
	if err != nil {
		return sending.Suppressed{}, err
	}
	return s, nil
}

// SuppressedPage returns a page of at most 1,000 entries of the account's suppression list,
// and the token of the next page. The entries were updated between since and until.
func (a *Account) SuppressedPage(ctx context.Context, _ string, since, until time.Time, token string) ([]sending.Suppressed, string, error) {
	var page []sending.Suppressed
	var next string
	err := a.call(ctx, func(ctx context.Context) error {
		out, err := a.api.ListSuppressedDestinations(ctx, &sesv2.ListSuppressedDestinationsInput{
			StartDate: nilIfZero(since), EndDate: nilIfZero(until), PageSize: aws.Int32(suppressedPage), NextToken: nilIfEmpty(token),
		})
		if err != nil {
			return err
		}
		next = aws.ToString(out.NextToken)
		for _, s := range out.SuppressedDestinationSummaries {
			page = append(page, sending.Suppressed{
				Email: aws.ToString(s.EmailAddress), Reason: reasonOf(s.Reason), At: timeOf(s.LastUpdateTime),
			})
		}
		return nil
	})
	if err != nil {
		return nil, "", err
	}
	return page, next, nil
}

// reasonOf converts the reason that SES gives for an entry of its suppression list. It does
// not use the message that caused the entry, although SES names it to FindSuppressed: in a
// page of the list SES does not name it, and FindSuppressed and SuppressedPage must return
// the same reason for an address.
func reasonOf(r types.SuppressionListReason) sending.SuppressionReason {
	switch r {
	case types.SuppressionListReasonBounce:
		return sending.SuppressedByBounce
	case types.SuppressionListReasonComplaint:
		return sending.SuppressedByComplaint
	}
	return sending.SuppressedByHand
}

// nilIfZero returns a pointer to t, or nil for the zero time. In a request for a time
// window, nil means no limit.
func nilIfZero(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
