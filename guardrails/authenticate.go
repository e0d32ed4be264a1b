package guardrails

import (
	"context"
	"log/slog"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// Admission is an authenticated caller and the state of its rate limit.
type Admission struct {
	Principal core.Principal
	// Rate is nil if the organization has no rate limit.
	Rate *Rate
	// Unlogged is true if the call is above the rate limit and gets no line in the log, because a
	// line about this caller was written a moment ago. Otherwise Omitted is the number of calls
	// since that line.
	Unlogged bool
	Omitted  int
}

// LogAttrs returns the attributes of the log line of a call that was not admitted: the organization,
// if it is known, and the number of calls that were not logged.
func (a Admission) LogAttrs() []slog.Attr {
	var attrs []slog.Attr
	if a.Principal.Org.ID != "" {
		attrs = append(attrs, slog.String("org_id", a.Principal.Org.ID))
	}
	if a.Omitted > 0 {
		attrs = append(attrs, slog.Int("omitted", a.Omitted))
	}
	return attrs
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
	admission := Admission{Principal: principal, Rate: rate}
	if err != nil && rate != nil {
		logged, omitted := c.guard.lines.next(bucketKey(principal, resource))
		admission.Unlogged, admission.Omitted = !logged, omitted
	}
	return admission, err
}
