package guardrails

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// ConfirmationKey signs confirmations.
type ConfirmationKey struct {
	ID     string
	Secret []byte // 32 random bytes
}

// ConfirmationRequired is what a caller must agree to, and how: by repeating the
// same call with Token.
type ConfirmationRequired struct {
	Message   string
	Preview   any
	Token     string
	ExpiresAt time.Time
}

const confirmationLife = 10 * time.Minute

// confirmation is what a token says, all of it signed. Digests keep it small and
// keep the arguments out of it.
type confirmation struct {
	ID        string `json:"id"`
	KeyID     string `json:"kid"`
	Operation string `json:"op"`
	Org       string `json:"org"`
	Caller    string `json:"sub"`
	Arguments string `json:"arg"`
	Preview   string `json:"pre"`
	Expires   int64  `json:"exp"` // unix seconds
}

// confirm lets an operation that cannot be taken back proceed only with a token
// that this service signed for exactly this call and this consequence.
func confirm(ctx context.Context, p *passage) error {
	if !p.info.Confirms {
		return p.next(ctx)
	}
	asked, err := p.op.Confirmation(ctx, p.call, p.in)
	if err != nil {
		return err
	}
	expected, err := p.confirmationOf(asked)
	if err != nil {
		return err
	}
	if p.req.Confirmation == "" {
		expected.ID = core.NewID()
		token, err := p.guard.sign(expected)
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
	spend, ok := p.guard.verify(p.req.Confirmation, expected, p.call.Now)
	if !ok {
		return p.refuseConfirmation()
	}
	p.spend = &spend
	return p.next(ctx)
}

// spendConfirmation uses the confirmation up. It runs inside the transaction of
// the write, so of many callers with one token exactly one proceeds.
func (p *passage) spendConfirmation(ctx context.Context) error {
	if p.spend == nil {
		return nil
	}
	fresh, err := p.guard.Replays.Spend(ctx, p.call.Principal.Org.ID, p.spend.ID, time.Unix(p.spend.Expires, 0).UTC())
	if err != nil {
		return err
	}
	if !fresh {
		return p.refuseConfirmation()
	}
	return nil
}

// refuseConfirmation is one answer for every cause, so that trying tokens
// teaches nothing.
func (p *passage) refuseConfirmation() error {
	p.guard.metrics.confirmations.WithLabelValues(p.info.Name, "refused").Inc()
	return &core.Error{Code: core.CodeConfirmationInvalid, Message: "The confirmation is not valid for this call."}
}

func (p *passage) confirmationOf(asked *core.Confirmation) (confirmation, error) {
	arguments, err := canonical(p.req.Arguments)
	if err != nil {
		return confirmation{}, err
	}
	preview, err := json.Marshal(asked.Preview)
	if err != nil {
		return confirmation{}, err
	}
	caller := p.call.Principal
	return confirmation{
		KeyID: p.guard.ConfirmationKeys[0].ID, Operation: p.info.Name, Org: caller.Org.ID,
		Caller:    digestOf(caller.Credential.ID, caller.UserID),
		Arguments: digestOf(arguments),
		Preview:   digestOf(asked.Message, string(preview)),
		Expires:   p.call.Now.Add(confirmationLife).Unix(),
	}, nil
}

func (g *Guard) sign(c confirmation) (string, error) {
	payload, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	body := base64.RawURLEncoding.EncodeToString(payload)
	return body + "." + base64.RawURLEncoding.EncodeToString(signature(g.ConfirmationKeys[0].Secret, body)), nil
}

// verify checks the signature before it believes a word, then that the token
// says what is expected of this call, id and expiry apart.
func (g *Guard) verify(token string, expected confirmation, now time.Time) (confirmation, bool) {
	body, sig, found := strings.Cut(token, ".")
	given, err := base64.RawURLEncoding.DecodeString(sig)
	if !found || err != nil || !g.signedByUs(body, given) {
		return confirmation{}, false
	}
	payload, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil {
		return confirmation{}, false
	}
	var c confirmation
	if json.Unmarshal(payload, &c) != nil || c.ID == "" || now.Unix() >= c.Expires {
		return confirmation{}, false
	}
	expected.ID, expected.KeyID, expected.Expires = c.ID, c.KeyID, c.Expires
	return c, c == expected
}

func (g *Guard) signedByUs(body string, given []byte) bool {
	for _, key := range g.ConfirmationKeys {
		if hmac.Equal(given, signature(key.Secret, body)) {
			return true
		}
	}
	return false
}

func signature(secret []byte, body string) []byte {
	h := hmac.New(sha256.New, secret)
	h.Write([]byte(body))
	return h.Sum(nil)
}
