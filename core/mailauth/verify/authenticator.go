// Package verify authenticates received messages with SPF, DKIM and DMARC. It asks DNS,
// verifies the signatures of a message and combines both by the rules of package dmarc.
//
// Every limit is fixed: queries by number and time, signatures by number and key length, the
// header by size and fields. A limit that is reached, an error of DNS and a message that
// cannot be read are results, never errors.
package verify

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/mailauth"
)

// The time limits. SPF and DKIM run at the same time and share the first; what remains of
// the whole is for DMARC.
const (
	defaultTimeout = 10 * time.Second
	// firstPart of lastPart is the share of the whole for SPF and DKIM.
	firstPart, lastPart = 7, 10
)

// Authenticator authenticates messages. It is safe for concurrent use.
type Authenticator struct {
	// Resolver asks DNS. Without one, every verdict is mailauth.Disabled.
	Resolver Resolver
	// Existence asks whether domains exist, for the policy of domains that do not (RFC 9989,
	// tag np). Without it, every domain counts as existing.
	Existence Existence
	// Clock is the time at which signatures may have expired. Nil means core.SystemClock.
	Clock core.Clock
	// Timeout is the time limit for one message; zero means 10 seconds.
	Timeout time.Duration
	// Log receives the text of a panic in a library. Nil means that it is discarded.
	Log *slog.Logger
}

// Authenticate checks a message. It returns when all checks are done, or shortly after the
// time limit or the end of ctx; checks that are not done then have the verdict
// mailauth.ProcessingFailed.
func (a *Authenticator) Authenticate(ctx context.Context, in mailauth.Input) mailauth.Result {
	if a.Resolver == nil {
		return mailauth.Result{}
	}
	timeout := a.Timeout
	if timeout == 0 {
		timeout = defaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	head, headErr := readHeader(in.Message, in.Size)
	var result mailauth.Result
	a.checkSenders(ctx, timeout*firstPart/lastPart, in, head, headErr, &result)
	result.DMARC = mailauth.DMARC{Outcome: mailauth.OutcomePermError, Reason: reasonPanic}
	a.guard(ctx, func() { result.DMARC = a.checkDMARC(ctx, in, head, headErr, result) })
	return result
}

// checkSenders runs SPF and DKIM at the same time, so that slow name servers of the one
// domain take no time from the other check.
func (a *Authenticator) checkSenders(ctx context.Context, limit time.Duration, in mailauth.Input, head header, headErr error, result *mailauth.Result) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	result.SPF = mailauth.SPF{Outcome: mailauth.OutcomePermError, Reason: reasonPanic}
	result.DKIM = mailauth.DKIM{Outcome: mailauth.OutcomePermError, Reason: reasonPanic}
	var checks sync.WaitGroup
	checks.Go(func() { a.guard(ctx, func() { result.SPF = a.checkSPF(ctx, in) }) })
	checks.Go(func() { a.guard(ctx, func() { result.DKIM = a.checkDKIM(ctx, in, head, headErr) }) })
	checks.Wait()
}

// reasonPanic is the reason of a check that a fault in a library ended.
const reasonPanic = "the check failed unexpectedly"

// guard runs a check and ends a panic in it. The check then has the result that was set
// before.
func (a *Authenticator) guard(ctx context.Context, check func()) {
	defer func() {
		if v := recover(); v != nil && a.Log != nil {
			a.Log.LogAttrs(ctx, slog.LevelError, "a check of a received message panicked", slog.String("panic", core.PanicText(v)))
		}
	}()
	check()
}

func (a *Authenticator) now() time.Time {
	if a.Clock == nil {
		return core.SystemClock()
	}
	return a.Clock()
}
