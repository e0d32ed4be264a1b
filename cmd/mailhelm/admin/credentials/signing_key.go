package credentials

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/installation"
	"github.com/mailhelm/mailhelm/core/signing"
)

// SigningCommands is `mailhelm admin keys`. It manages the keys that sign access tokens.
// All organizations of the installation share them.
type SigningCommands struct {
	List   signingList   `cmd:"" help:"List the keys that sign access tokens."`
	Rotate signingRotate `cmd:"" help:"Replace the key that signs access tokens."`
}

// Help returns the text that --help shows below the summary.
func (SigningCommands) Help() string {
	return `rotate creates a key that signs all new tokens after six minutes. Until then it is only published, so that every process and every holder of a copy of the key set knows it. With --at-once it signs immediately: running servers accept its tokens, other holders of the key set must fetch it again. In both cases tokens of the old key stay valid until they expire.

If the key may be stolen, use --revoke-old: a thief can sign tokens for any person until the old key is refused. The new key signs immediately, and within 30 seconds running servers refuse tokens of all other keys. That invalidates every access token; applications fetch a new one with their refresh token or client secret, without new consent. Other holders of the key set may accept the old key until they fetch the set again, at most five minutes later. If the master key may be stolen too, new keys under it are not safe either.

Examples:

    mailhelm admin keys list
    mailhelm admin keys rotate --json
    mailhelm admin keys rotate --at-once
    mailhelm admin keys rotate --revoke-old`
}

// signingJSON is the form in which --json prints a key that signs access tokens.
type signingJSON struct {
	ID        string        `json:"id"`
	Algorithm string        `json:"algorithm"`
	State     signing.State `json:"state"`
	CreatedAt time.Time     `json:"created_at"`
	// RetiredAt is the time at which the key stops signing. It is null for a key without
	// such a time, and may be in the future.
	RetiredAt *time.Time `json:"retired_at"`
	// GoodUntil is the time until which servers accept tokens that the key signed. It is
	// null unless RetiredAt is set.
	GoodUntil *time.Time `json:"good_until"`
}

// printSigningKeys prints all stored signing keys with their current states, without their
// private parts.
func printSigningKeys(ctx context.Context, s *installation.Session) error {
	stored, err := s.DB.SigningKeys().SigningKeys(ctx)
	if err != nil {
		return err
	}
	states := signing.States(stored, s.Config.Clock())
	listed := make([]signingJSON, 0, len(stored))
	for i, key := range stored {
		one := signingJSON{ID: key.ID, Algorithm: key.Algorithm, State: states[i], CreatedAt: key.CreatedAt, RetiredAt: key.RetiredAt}
		if key.RetiredAt != nil {
			end := key.RetiredAt.Add(signing.Overlap)
			one.GoodUntil = &end
		}
		listed = append(listed, one)
	}
	header := []string{"ID", "STATE", "CREATED", "RETIRED", "GOOD UNTIL"}
	return installation.PrintList(s, "signing_keys", header, listed, func(one signingJSON) (signingJSON, []string) {
		return one, []string{one.ID, string(one.State), installation.Instant(&one.CreatedAt), installation.Instant(one.RetiredAt), installation.Instant(one.GoodUntil)}
	})
}

// signingList is `mailhelm admin keys list`. It works without the master key.
type signingList struct{ installation.Target }

// Run lists the keys.
func (c *signingList) Run(p *cli.Program) error {
	return c.With(p, func(ctx context.Context, s *installation.Session) error { return printSigningKeys(ctx, s) })
}

// signingRotate is `mailhelm admin keys rotate`. RevokeOld includes the effect of AtOnce:
// the new key signs immediately.
type signingRotate struct {
	installation.Target
	config.Master
	AtOnce    bool `name:"at-once" help:"Sign with the new key immediately." once:""`
	RevokeOld bool `name:"revoke-old" help:"For a stolen key: sign with the new key immediately, and refuse every access token that another key signed." once:""`
}

// Run creates a new signing key and prints all signing keys. It fails without the server's
// master key. It fails while a key from an earlier rotation does not sign yet, unless
// --at-once or --revoke-old is given. Each run creates another key.
func (c *signingRotate) Run(p *cli.Program) error {
	return c.With(p, func(ctx context.Context, s *installation.Session) error {
		master, err := s.MasterKey(c.Master)
		if err != nil {
			return err
		}
		rotation := signing.Rotation{Store: s.DB.SigningKeys(), Transactor: s.DB, Master: master, Clock: s.Config.Clock}
		if c.RevokeOld {
			_, err = rotation.RevokeOld(ctx)
		} else {
			_, err = rotation.Rotate(ctx, c.AtOnce)
		}
		if err != nil {
			return err
		}
		return printSigningKeys(ctx, s)
	})
}
