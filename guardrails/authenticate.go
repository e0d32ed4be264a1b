package guardrails

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// Admission is an authenticated caller and the state of its rate limit.
type Admission struct {
	Principal core.Principal
	// Rate is nil if the organization has no rate limit.
	Rate *Rate
}

// Admit authenticates the Authorization headers of a request for a resource and counts the
// request against the caller's rate limit. It fails with the error of the [Authenticator],
// and with core.CodeRateLimited above the limit. With CodeRateLimited it returns the
// Admission as well, because its rate headers belong in the response.
func (c *Catalogue) Admit(ctx context.Context, authorization []string, resource access.Resource) (Admission, error) {
	credential, err := bearerCredential(authorization)
	if err != nil {
		return Admission{}, err
	}
	principal, err := c.guard.Authenticator.Authenticate(ctx, credential, resource)
	if err != nil {
		return Admission{}, core.AsError(err)
	}
	rate, err := c.guard.limit(ctx, principal, resource)
	return Admission{Principal: principal, Rate: rate}, err
}
