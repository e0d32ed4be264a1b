package guardrails

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// Admission is an authenticated caller with the state of the caller's bucket.
type Admission struct {
	Principal core.Principal
	// Rate is nil when the organization has no limit.
	Rate *Rate
}

// Admit authenticates the values of a request's Authorization header for a resource and
// takes one token from the caller's bucket. With rate_limited it returns the Admission too,
// because its headers belong on the answer.
func (c *Catalogue) Admit(ctx context.Context, authorization []string, resource access.Resource) (Admission, error) {
	bearer, err := access.Bearer(authorization)
	if err != nil {
		return Admission{}, err
	}
	principal, err := c.guard.Authenticator.Authenticate(ctx, bearer, resource)
	if err != nil {
		return Admission{}, core.AsError(err)
	}
	rate, err := c.guard.limit(ctx, principal, resource)
	return Admission{Principal: principal, Rate: rate}, err
}
