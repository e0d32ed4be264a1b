package guardrails

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/replay"
)

const (
	// explicitWindow is for how long a result is at least stored under a key that the caller
	// chose. An organization can lengthen it; see windowOf.
	explicitWindow = 24 * time.Hour
	derivedWindow  = 5 * time.Minute
	maxKeyLength   = 255
)

// reservation is the idempotency key that a call has reserved until it commits or fails.
type reservation struct {
	key     replay.Key
	token   replay.Token
	digest  string
	expires time.Time
	// derived is true if the key was derived from the call, because the caller sent none.
	derived bool
	stored  bool
}

// replays ensures that a write takes effect once for each idempotency key. It first
// reserves the key in a separate transaction. The transaction of the write stores the
// result under the key. A call that stores no result releases the key.
func replays(ctx context.Context, p *passage) error {
	if p.info.Effect == core.Reads || p.info.IgnoresKey && p.call.Surface != core.Agent {
		return p.next(ctx)
	}
	return p.runReserved(ctx)
}

// runReserved continues the call while it has reserved its idempotency key, or ends it with
// the stored result of an earlier call.
func (p *passage) runReserved(ctx context.Context) error {
	r, err := p.reservationFor()
	if err != nil {
		return err
	}
	if r == nil {
		return p.next(ctx)
	}
	outcome, err := p.reserve(ctx, r)
	if err != nil {
		return err
	}
	if !outcome.won {
		return p.replay(ctx, r, outcome)
	}
	p.reservation = r
	defer func() { // also when the operation panics
		if !r.stored {
			p.giveBack(ctx, r)
		} else if p.guard.Process != nil {
			p.guard.Process.Drop(r.token)
		}
	}()
	return p.next(ctx)
}

// reservationFor returns the call's reservation of an idempotency key. It returns nil for a
// REST call without a key. A call of an agent without a key gets a key derived from the
// call.
func (p *passage) reservationFor() (*reservation, error) {
	if len(p.req.IdempotencyKey) > maxKeyLength {
		return nil, core.Invalid("Idempotency-Key", "must have at most 255 characters")
	}
	if p.req.IdempotencyKey == "" && p.call.Surface != core.Agent {
		return nil, nil
	}
	arguments, err := p.canonicalArguments()
	if err != nil {
		return nil, err
	}
	digest := digestOf(p.info.Name, arguments)
	org := p.call.Principal.Org.ID
	if key := p.req.IdempotencyKey; key != "" {
		space := string(p.call.Surface) + ":" + p.info.Name
		return &reservation{key: replay.Key{OrgID: org, Space: space, Key: key}, digest: digest, expires: p.call.Now.Add(windowOf(p.call.Principal.Org))}, nil
	}
	continuation, err := canonical(p.req.Continuation, core.CanonicalJSON)
	if err != nil {
		return nil, err
	}
	// A key that is derived from the call includes the credential and the user. So if two
	// clients make the same call within five minutes, the call takes effect twice.
	derived := digestOf(p.call.Principal.Credential.ID, p.call.Principal.UserID, digest, continuation, p.req.Confirmation)
	return &reservation{
		key: replay.Key{OrgID: org, Space: "derived:" + p.info.Name, Key: derived}, digest: digest, derived: true,
		expires: p.call.Now.Add(derivedWindow),
	}, nil
}

// windowOf returns for how long the result of a call is stored under a key that the caller
// chose.
func windowOf(org core.Org) time.Duration {
	return max(explicitWindow, time.Duration(org.ReplayDays)*24*time.Hour)
}

// replay handles a call whose idempotency key is already used. It sets the stored result of
// the earlier call as the result of this call. It fails with core.CodeConflict if the
// arguments differ or the earlier call still runs.
func (p *passage) replay(ctx context.Context, r *reservation, existing contest) error {
	if existing.Digest != r.digest {
		return core.Conflict("This idempotency key was used with other arguments.", "Use a fresh key for a different call.")
	}
	if !existing.Done {
		return &core.Error{
			Code: core.CodeConflict, RetryAfter: existing.retryAfter,
			Message: "The same call is still running.",
			Next:    "Repeat it with the same key after `Retry-After`.",
		}
	}
	out, err := p.op.DecodeResult(existing.Result)
	if err != nil {
		return err
	}
	if out, err = p.op.Recall(ctx, p.call, out); err != nil {
		return err
	}
	p.out, p.replayed = out, true
	return nil
}

// remember stores the result of the call under its idempotency key, inside the transaction
// of the write.
func (p *passage) remember(ctx context.Context) error {
	r := p.reservation
	if r == nil {
		return nil
	}
	result, err := json.Marshal(p.out)
	if err != nil {
		return err
	}
	outcome := replay.Outcome{Result: result, Expires: r.expires}
	if !r.derived {
		outcome.CalledAt = p.call.Now
	}
	if r.derived && p.info.Replay == core.ReplayUntilNextWrite {
		outcome.Caller, outcome.Subject = p.call.Principal.Caller(), p.call.Subject()
	}
	return p.guard.Replays.Complete(ctx, r.key, r.token, outcome)
}

// supersede deletes stored results of the caller's earlier calls that had no idempotency
// key: of calls that wrote the same contact as this call, or that wrote any contact if
// this call writes many. So a repetition of an earlier call takes effect again, instead of
// returning a result that this call has made outdated. supersede runs in the transaction
// after the write, while the contact is locked, so concurrent writes to a contact run it
// one after the other.
func (p *passage) supersede(ctx context.Context) error {
	org, caller, subject := p.call.Principal.Org.ID, p.call.Principal.Caller(), p.call.Subject()
	switch {
	case p.info.Writes == core.ManyContacts:
		return p.guard.Replays.SupersedeAll(ctx, org, caller)
	case p.info.Writes == core.OneContact && subject != "":
		return p.guard.Replays.Supersede(ctx, org, caller, []string{subject})
	}
	return nil
}

func (p *passage) canonicalArguments() (string, error) {
	return canonical(p.req.Arguments, p.op.Input(p.call.Surface).Canonical)
}

func canonical(raw json.RawMessage, form func([]byte) ([]byte, error)) (string, error) {
	if len(raw) == 0 {
		return "{}", nil
	}
	b, err := form(raw)
	return string(b), err
}

// digestOf returns a digest of a list of parts. Lists with different parts have different
// digests, even if the joined texts are equal.
func digestOf(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		sum := sha256.Sum256([]byte(part))
		h.Write(sum[:])
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}
