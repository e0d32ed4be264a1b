package smtp

import (
	"context"
	"errors"
	"fmt"
	"net/textproto"
	"regexp"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
)

// The texts of the errors below appear only in the log. They omit the server's replies,
// which often contain email addresses.

func newFailure(kind sending.FailureKind, cause error) *sending.Failure {
	return &sending.Failure{Kind: kind, Err: cause}
}

func invalid(text string) *sending.Failure {
	return newFailure(sending.Invalid, errors.New("smtp: "+text))
}

// busyRetryAfter is the RetryAfter after a temporary error (4xx) of the server, or if all
// connections are in use. A busy server usually stays busy for minutes, so a retry after
// seconds would fail too.
const busyRetryAfter = 30 * time.Second

func newThrottling(cause error, wait time.Duration) *sending.Failure {
	return &sending.Failure{Kind: sending.Throttled, RetryAfter: wait, Err: cause}
}

// step is the step of an SMTP session at which an error occurred.
type step string

const (
	connecting step = "connecting"
	greeting   step = "greeting"
	signingIn  step = "AUTH"
	sender     step = "MAIL"
	recipient  step = "RCPT"
	content    step = "DATA"
	afterDot   step = "end of DATA"
)

// failureAt returns the failure for an error at a step of an SMTP session. For an error
// reply, the server's reply code and the step determine the kind. For other errors it
// returns TimedOut if the caller's context has ended or the final dot was sent. Otherwise
// it returns Refused, because the server does not have the whole message.
func failureAt(caller context.Context, at step, err error) *sending.Failure {
	if answer, ok := errors.AsType[*textproto.Error](err); ok {
		return failureOfAnswer(at, answer)
	}
	cause := fmt.Errorf("smtp: %s: %w", at, plainly(err))
	if caller.Err() != nil {
		cause = fmt.Errorf("smtp: %s: %w", at, caller.Err())
	}
	if at == afterDot || caller.Err() != nil {
		return newFailure(sending.TimedOut, cause)
	}
	return newFailure(sending.Refused, cause)
}

// enhancedCode matches an enhanced status code at the beginning of a reply (RFC 2034), the
// only part of its text that is logged.
var enhancedCode = regexp.MustCompile(`^[245]\.\d{1,3}\.\d{1,3}\b`)

func failureOfAnswer(at step, answer *textproto.Error) *sending.Failure {
	cause := fmt.Errorf("smtp: %s: answered %d %s", at, answer.Code, enhancedCode.FindString(answer.Msg))
	switch {
	case answer.Code/100 == 4:
		return newThrottling(cause, busyRetryAfter)
	case answer.Code/100 == 5 && (at == connecting || at == greeting || at == signingIn || wantsPassword(answer.Code)):
		return newFailure(sending.Refused, cause)
	case answer.Code/100 == 5:
		return newFailure(sending.Rejected, cause)
	case at == afterDot:
		return newFailure(sending.TimedOut, cause)
	}
	return newFailure(sending.Refused, cause)
}

// wantsPassword reports whether an SMTP reply code means that authentication failed or is
// required (RFC 4954 section 6), or that STARTTLS is required (530).
func wantsPassword(code int) bool {
	return code == 530 || code == 534 || code == 535 || code == 538
}

var errNoSMTP = errors.New("the server's answer is not SMTP")

func plainly(err error) error {
	if _, ok := errors.AsType[textproto.ProtocolError](err); ok {
		return errNoSMTP
	}
	return err
}
