package guardrails

import (
	"context"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// Admission is a caller who was let in, and the state of the caller's bucket.
type Admission struct {
	Principal core.Principal
	// Rate is nil when the organization has no limit.
	Rate *Rate
}

// Admit authenticates the values of a request's Authorization header for a
// resource and takes one token from the caller's bucket. On rate_limited the
// Admission is filled in all the same, because its headers belong on the answer.
func (c *Catalogue) Admit(ctx context.Context, authorization []string, resource access.Resource) (Admission, error) {
	bearer, err := bearerOf(authorization)
	if err != nil {
		return Admission{}, err
	}
	principal, err := c.guard.Authenticator.Authenticate(ctx, bearer, resource)
	if err != nil {
		return Admission{}, core.AsError(err)
	}
	rate, err := c.guard.limits.take(principal, resource)
	return Admission{Principal: principal, Rate: rate}, err
}

// Longer than any credential of ours: a signed token with every scope in the
// catalogue stays under 3 KB.
const maxBearer = 8 << 10

// bearerOf reads the one Bearer credential (RFC 6750 section 2.1). The scheme's
// name is matched without regard to case (RFC 9110 section 11.1).
func bearerOf(authorization []string) (string, error) {
	if len(authorization) != 1 {
		return "", errNoCredential()
	}
	scheme, credential, found := strings.Cut(authorization[0], " ")
	credential = strings.TrimLeft(credential, " ")
	if !found || !strings.EqualFold(scheme, "Bearer") || credential == "" || len(credential) > maxBearer || strings.ContainsAny(credential, " \t,") {
		return "", errNoCredential()
	}
	return credential, nil
}

func errNoCredential() *core.Error {
	return &core.Error{Code: core.CodeInvalidKey, Message: "The request carries no valid credential."}
}
