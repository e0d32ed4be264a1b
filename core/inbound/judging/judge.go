// Package judging makes the five verdicts of a received message: SPF, DKIM and DMARC, spam and
// viruses.
package judging

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/mailauth"
)

// Authenticator checks SPF, DKIM and DMARC; see package mailauth/verify.
type Authenticator interface {
	Authenticate(ctx context.Context, in mailauth.Input) mailauth.Result
}

// Judge makes verdicts. Authenticator and Log are required. Without a scanner its verdict is
// inbound.Disabled.
type Judge struct {
	Authenticator Authenticator
	Spam, Virus   inbound.Scanner
	Log           *slog.Logger
}

// Judge makes all checks at the same time. A check that fails has the verdict
// inbound.ProcessingFailed; it never stops a message.
func (j Judge) Judge(ctx context.Context, e inbound.Envelope, raw []byte) inbound.Verdicts {
	var v inbound.Verdicts
	var checks sync.WaitGroup
	checks.Go(func() { v.Spam = j.scan(ctx, "spam", j.Spam, e, raw) })
	checks.Go(func() { v.Virus = j.scan(ctx, "virus", j.Virus, e, raw) })
	authenticated := j.Authenticator.Authenticate(ctx, mailauth.Input{
		RemoteIP: e.RemoteIP, Helo: e.Helo, MailFrom: e.Sender, Message: bytes.NewReader(raw), Size: int64(len(raw)),
	})
	checks.Wait()
	v.SPF, v.DKIM, v.DMARC = inbound.Verdict(authenticated.SPF.Verdict()), inbound.Verdict(authenticated.DKIM.Verdict()), inbound.Verdict(authenticated.DMARC.Verdict())
	return v
}

// scan returns the verdict of a scanner. A panic of the scanner is a failed check.
func (j Judge) scan(ctx context.Context, name string, s inbound.Scanner, e inbound.Envelope, raw []byte) (v inbound.Verdict) {
	if s == nil {
		return inbound.Disabled
	}
	failed := func(err error) inbound.Verdict {
		j.Log.WarnContext(ctx, "a message was not scanned", "scan", name, "message_id", e.ID, "error", err)
		return inbound.ProcessingFailed
	}
	defer func() {
		if p := recover(); p != nil {
			v = failed(errors.New(core.PanicText(p)))
		}
	}()
	found, err := s.Scan(ctx, e, bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return failed(err)
	}
	return found.Verdict
}
