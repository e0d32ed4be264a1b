package guardrails

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// ConfirmationRequired is the consequence that a caller must agree to. The caller agrees by
// repeating the same call with Token.
type ConfirmationRequired struct {
	Message   string
	Preview   any
	Token     string
	ExpiresAt time.Time
}

const (
	confirmationLife = 10 * time.Minute
	// spentLife is how long a used confirmation is stored: until no key verifies it any
	// more. The expiry of the confirmation would be too early. A call that sent it in time
	// may commit later, and the clock of the process that purges may be ahead.
	spentLife = 48 * time.Hour
)

// confirm stops an irreversible operation unless the call has a valid token. This service
// must have signed the token for exactly this call and this consequence.
func confirm(ctx context.Context, p *passage) error {
	if !p.info.Confirms {
		return p.next(ctx)
	}
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

// spendConfirmation marks the confirmation as used. It runs inside the transaction of the
// write, so of many callers with one token exactly one proceeds.
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

// confirmAgain computes the preview again inside the transaction of the write, and refuses
// when it differs from the confirmed one. The transaction reads one state of the database
// (core.Snapshot). So a contact who joins the audience after this check is not part of the
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

// previewDigest returns the digest of the consequence that the token signs.
func previewDigest(asked *core.Confirmation) (string, error) {
	preview, err := json.Marshal(asked.Preview)
	if err != nil {
		return "", err
	}
	return digestOf(asked.Message, string(preview)), nil
}

// refuseConfirmation returns the same refusal for every cause, so that trying tokens reveals
// nothing. It contains the current preview, which may have changed. Every caller who may
// make the call may request that preview.
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
