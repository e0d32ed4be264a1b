package handover

import (
	"errors"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// judge completes an answer by the error of [sending.Sender]. It reports false if the error
// does not prove that the account did not accept the message.
func judge(a Answer, err error, now time.Time) (Answer, bool) {
	f, ok := errors.AsType[*sending.Failure](err)
	if !ok {
		return a, false
	}
	switch f.Kind {
	case sending.Throttled, sending.Refused, sending.NotConnected:
		// the account accepts no message now, for any recipient
		wait := retryAfter
		if f.RetryAfter > 0 {
			wait = f.RetryAfter
		}
		a.Verdict, a.NotBefore = Released, now.Add(wait)
		return a, true
	case sending.Rejected, sending.Invalid, sending.Full, sending.Unsupported, sending.NotFound:
		refusal := core.AsError(sending.Unavailable(err))
		a.Verdict, a.Reason = Refused, refusal.Message+" "+refusal.NextStep()
		return a, true
	default:
		return a, false
	}
}
