package pace

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/guardrails"
)

// PagesPerMinute is the default of [config.Config.PagesPerMinute], the number of pages of the
// dashboard that a person may request in any 60 seconds: more than a person who types into live filters requests, and few enough that a
// script with the session cookie cannot use up the quota of the sending account.
const PagesPerMinute = 600

// Pages returns a function that counts the requests of a person, in this process. Above
// limit requests in a minute it fails with core.CodeRateLimited.
func Pages(clock core.Clock, limit int) func(context.Context, string) error {
	own := guardrails.OwnBuckets(clock)
	return func(ctx context.Context, userID string) error {
		state, admitted, err := own.Take(ctx, guardrails.BucketKey{Resource: access.API, CredentialID: "pages of " + userID}, limit, 1)
		switch {
		case err != nil:
			return core.Internal(err)
		case !admitted:
			return &core.Error{
				Code: core.CodeRateLimited, RetryAfter: state.RetryAfter, Message: "You opened too many pages in one minute.",
				Next: "Wait a minute and open the page again. Programs use the API, whose limits are higher.",
			}
		}
		return nil
	}
}
