package main

import (
	"context"
	"errors"

	"github.com/mailhelm/mailhelm/core/access"
)

type userResetSecondFactor struct {
	adminTarget
	Email string `arg:"" help:"The person's address."`
}

// Run takes the second factors away. Make sure first that it is the person who
// asks: the password alone signs in afterwards.
func (c *userResetSecondFactor) Run(p *program) error {
	return c.with(p, func(ctx context.Context, s *session) error {
		user, err := s.store.UserByEmail(ctx, c.Email)
		if notFound(err) {
			return errors.New("there is no person with this address")
		}
		if err != nil {
			return err
		}
		stores := access.SessionsConfig{
			Store: s.store, Sessions: s.db.Sessions(), Members: s.db.Members(), Factors: s.db.SecondFactors(), Tx: s.db, Clock: s.cfg.Clock,
		}
		if err := access.ResetSecondFactors(ctx, stores, access.ActorOf(access.Operator), user.ID); err != nil {
			return err
		}
		return s.printUser(newUserJSON(user, access.Member{}))
	})
}
