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

// Suppressed reads one address of the account's list.
func (a *Account) Suppressed(ctx context.Context, _, email string) (sending.Suppressed, error) {
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

// SuppressedPage reads a page of at most 1,000 entries.
func (a *Account) SuppressedPage(ctx context.Context, _ string, since, until time.Time, token string) ([]sending.Suppressed, string, error) {
	var page []sending.Suppressed
	var next string
	err := a.call(ctx, func(ctx context.Context) error {
		out, err := a.api.ListSuppressedDestinations(ctx, &sesv2.ListSuppressedDestinationsInput{
			StartDate: bound(since), EndDate: bound(until), PageSize: aws.Int32(suppressedPage), NextToken: given(token),
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

// reasonOf is the reason that the provider gives, which is all that its listing
// says. Which message caused an entry only the single record may tell, and it does
// not promise to: what it leaves out is not taken for an entry made by hand, or
// the two would name different reasons for one address.
func reasonOf(r types.SuppressionListReason) sending.SuppressionReason {
	switch r {
	case types.SuppressionListReasonBounce:
		return sending.SuppressedByBounce
	case types.SuppressionListReasonComplaint:
		return sending.SuppressedByComplaint
	}
	return sending.SuppressedByHand
}

// bound is nil for the open end of a window.
func bound(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
