package main

import (
	"context"
	"github.com/mailhelm/mailhelm/core/signing"
	"time"
)

type adminKeys struct {
	List   signingList   `cmd:"" help:"List the keys that sign access tokens."`
	Rotate signingRotate `cmd:"" help:"Change the key that signs access tokens."`
}

// Help is shown below the summary.
func (adminKeys) Help() string {
	return `Rotating makes a key that signs every new token after six minutes. Until then it is only published, so that every process and everybody who keeps a copy of the key set knows it. With --at-once it signs from now on: servers that run accept its tokens all the same, and others have to fetch the key set again. Either way, tokens of the old key stay good until they expire.

When somebody may have the key, use --revoke-old: whoever has it can make tokens for anybody, until the old key is accepted no longer. The new key signs from now on, and servers that run refuse what any other key signed within 30 seconds. Every access token ends with that; applications fetch another with their refresh token or client secret, and nobody has to allow them again. Others who keep a copy of the key set may accept the old key until they fetch it again, which is five minutes at most. If the master key may be known too, keys made under it are no safer.

Examples:

    mailhelm admin keys list
    mailhelm admin keys rotate --json
    mailhelm admin keys rotate --at-once
    mailhelm admin keys rotate --revoke-old`
}

// signingJSON is a signing key as it is shown, without the key.
type signingJSON struct {
	ID        string        `json:"id"`
	Algorithm string        `json:"algorithm"`
	State     signing.State `json:"state"`
	CreatedAt time.Time     `json:"created_at"`
	// RetiredAt is when the key signs no more, and may lie ahead.
	RetiredAt *time.Time `json:"retired_at"`
	// GoodUntil is when the last token that it may have signed has expired.
	GoodUntil *time.Time `json:"good_until"`
}

func (s *session) printSigningKeys(ctx context.Context) error {
	stored, err := s.db.SigningKeys().SigningKeys(ctx)
	if err != nil {
		return err
	}
	states := signing.States(stored, s.cfg.Clock())
	listed, rows := []signingJSON{}, [][]string{{"ID", "STATE", "CREATED", "RETIRED", "GOOD UNTIL"}}
	for i, key := range stored {
		one := signingJSON{ID: key.ID, Algorithm: key.Algorithm, State: states[i], CreatedAt: key.CreatedAt, RetiredAt: key.RetiredAt}
		if key.RetiredAt != nil {
			end := key.RetiredAt.Add(signing.Overlap)
			one.GoodUntil = &end
		}
		listed = append(listed, one)
		rows = append(rows, []string{one.ID, string(one.State), instant(&one.CreatedAt), instant(one.RetiredAt), instant(one.GoodUntil)})
	}
	if s.json {
		return s.printJSON(map[string]any{"signing_keys": listed})
	}
	return s.printTable("", rows)
}

type signingList struct{ adminTarget }

// Run lists the keys.
func (c *signingList) Run(p *program) error {
	return c.with(p, func(ctx context.Context, s *session) error { return s.printSigningKeys(ctx) })
}

type signingRotate struct {
	adminTarget
	MasterKey string `hidden:"" secret:"whole" group:"storage"`
	AtOnce    bool   `name:"at-once" help:"Sign with the new key from now on." once:""`
	RevokeOld bool   `name:"revoke-old" help:"Answer to a stolen key: sign with the new key from now on, and end every access token that another has signed." once:""`
}

// Run rotates, and lists the keys as they are then.
func (c *signingRotate) Run(p *program) error {
	return c.with(p, func(ctx context.Context, s *session) error {
		master, err := s.masterKey(c.MasterKey)
		if err != nil {
			return err
		}
		rotation := signing.Rotation{Store: s.db.SigningKeys(), Transactor: s.db, Master: master, Clock: s.cfg.Clock}
		if c.RevokeOld {
			_, err = rotation.RevokeOld(ctx)
		} else {
			_, err = rotation.Rotate(ctx, c.AtOnce)
		}
		if err != nil {
			return err
		}
		return s.printSigningKeys(ctx)
	})
}
