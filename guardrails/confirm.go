package guardrails

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// ConfirmationRequired describes what a call would do. The caller confirms it by repeating
// the same call with Token.
type ConfirmationRequired struct {
	Message   string
	Preview   any
	Token     string
	ExpiresAt time.Time
}

const (
	confirmationLife = 10 * time.Minute
	// spentLife is how long the use of a confirmation stays recorded. After that time, the
	// key that signed the confirmation is no longer accepted. The record must outlive the
	// confirmation's expiry: a call that sent it in time may commit later, and the clock of
	// the process that purges may be ahead.
	spentLife = 48 * time.Hour
)

// confirm handles operations that need a confirmation. Without a token, it ends the call
// with a preview and a new token. With a token, the call continues if this service signed
// the token for exactly this call and this preview. A call over REST needs no confirmation:
// its author wrote a program that makes it.
func confirm(ctx context.Context, p *passage) error {
	if !p.info.Confirms || p.call.Surface == core.REST {
		return p.next(ctx)
	}
	return p.askOrVerify(ctx)
}

// askOrVerify ends a call without a confirmation token with a preview and a new token. It
// continues a call with a valid one.
func (p *passage) askOrVerify(ctx context.Context) error {
	asked, err := p.op.Confirmation(ctx, p.call, p.in)
	if err != nil {
		return err
	}
	p.asked, p.confirmed = asked, p.in
	expected, err := p.confirmationOf(asked)
	if err != nil {
		return err
	}
	if p.req.Confirmation == "" {
		expected.ID = core.NewID()
		token, err := p.guard.sign(expected, p.call.Now)
		if err != nil {
			return err
		}
		p.guard.metrics.confirmations.WithLabelValues(p.info.Name, "issued").Inc()
		p.confirm = &ConfirmationRequired{
			Message: asked.Message, Preview: asked.Preview, Token: token,
			ExpiresAt: time.Unix(expected.Expires, 0).UTC(),
		}
		return nil
	}
	spend, ok, err := p.guard.verify(p.req.Confirmation, expected, p.call.Now)
	if err != nil {
		return err
	}
	if !ok {
		return p.refuseConfirmation()
	}
	p.spend = &spend
	return p.next(ctx)
}

// spendConfirmation stores that the confirmation was used, inside the transaction of the
// write. If several calls use the same token, only one of them succeeds.
func (p *passage) spendConfirmation(ctx context.Context) error {
	if p.spend == nil {
		return nil
	}
	fresh, err := p.guard.Replays.Spend(ctx, p.call.Principal.Org.ID, p.spend.ID, p.call.Now.Add(spentLife))
	if err != nil {
		return err
	}
	if !fresh {
		return p.refuseConfirmation()
	}
	return nil
}

// confirmAgain computes the preview again inside the transaction of the write, and fails if
// it differs from the confirmed one. All reads of the transaction see the same state of the
// database (core.Snapshot). So a contact that is added after this check is not part of the
// write.
func (p *passage) confirmAgain(ctx context.Context) error {
	if p.spend == nil {
		return nil
	}
	asked, err := p.op.Confirmation(ctx, p.call, p.confirmed)
	if err != nil {
		return err
	}
	preview, err := previewDigest(asked)
	if err != nil {
		return err
	}
	if preview != p.spend.Preview {
		p.asked = asked
		return p.refuseConfirmation()
	}
	return nil
}

// previewDigest returns the digest of the message and preview of a confirmation. The token
// contains this digest.
func previewDigest(asked *core.Confirmation) (string, error) {
	preview, err := json.Marshal(asked.Preview)
	if err != nil {
		return "", err
	}
	return digestOf(asked.Message, string(preview)), nil
}

// refuseConfirmation returns the error for an invalid confirmation. It is the same for
// every cause, so that a caller who tries tokens learns nothing. It contains the current
// preview, which may have changed and which the caller could request anyway.
func (p *passage) refuseConfirmation() error {
	preview, err := json.Marshal(p.asked.Preview)
	if err != nil {
		return err
	}
	p.guard.metrics.confirmations.WithLabelValues(p.info.Name, "refused").Inc()
	return &core.Error{
		Code:    core.CodeConfirmationInvalid,
		Message: "The confirmation is not valid for this call, so nothing was done. What the call would do now: " + p.asked.Message,
		Extra:   map[string]any{"preview": json.RawMessage(preview)},
	}
}

func (p *passage) confirmationOf(asked *core.Confirmation) (confirmation, error) {
	arguments, err := p.canonicalArguments()
	if err != nil {
		return confirmation{}, err
	}
	preview, err := previewDigest(asked)
	if err != nil {
		return confirmation{}, err
	}
	caller := p.call.Principal
	return confirmation{
		Form: p.req.ConfirmationForm, Operation: p.info.Name, Org: caller.Org.ID,
		Caller:    digestOf(caller.Credential.ID, caller.UserID),
		Arguments: digestOf(arguments),
		Preview:   preview,
		Expires:   p.call.Now.Add(confirmationLife).Unix(),
	}, nil
}
