package bearer

import (
	"errors"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// The causes of failed authentication, for the log. All callers get the same message.
var (
	errBearerLength  = errors.New("the bearer credential is empty or too long")
	errKeyForm       = errors.New("malformed API key")
	errKeyUnknown    = errors.New("unknown API key")
	errClientGone    = errors.New("the token's client is revoked or does not exist")
	errClientBlocked = errors.New("the organization blocked the token's client")
	errTokenDenied   = errors.New("the token was revoked")
	errGrantGone     = errors.New("the token's authorization was revoked or does not exist")
	errMemberGone    = errors.New("the token's person does not belong to the organization any more")
)

func wrongHost() *core.Error {
	return &core.Error{
		Code:    core.CodeWrongHost,
		Message: "The agent endpoint takes OAuth access tokens, not API keys.",
		Next:    "Get an access token with the agent endpoint as `resource`, and send API keys to the public API.",
	}
}

func keyRevokedError() *core.Error {
	return &core.Error{Code: core.CodeKeyRevoked, Message: "This API key was revoked."}
}

func keyExpiredError() *core.Error {
	return &core.Error{Code: core.CodeKeyExpired, Message: "This API key was rotated, and its grace period of 24 hours is over."}
}

// refuse and fail return the results of a function that resolves a credential: two zero
// values and an error. The error of refuse is invalid_key with the given cause. The error
// of fail wraps an error of the store.

func refuse(cause error) (cachedPrincipal, time.Time, error) {
	return cachedPrincipal{}, time.Time{}, core.InvalidKey(cause)
}

func fail(err error) (cachedPrincipal, time.Time, error) {
	return cachedPrincipal{}, time.Time{}, unavailable(err)
}

func unavailable(err error) *core.Error {
	return core.AsError(fmt.Errorf("authenticate: %w", err))
}
