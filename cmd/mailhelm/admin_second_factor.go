package main

import (
	"context"
	"errors"

	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
)

type userResetSecondFactor struct {
	adminTarget
	Email string `arg:"" help:"The person's address."`
}

// Run takes the second factors away. Make sure first that it is the person who
// asks: the password alone signs in afterwards.
func (c *userResetSecondFactor) Run(p *program) error {
	return c.with(p, func(ctx context.Context, s *session) error {
		user, err := s.db.Users().UserByEmail(ctx, c.Email)
		if notFound(err) {
			return errors.New("there is no person with this address")
		}
		if err != nil {
			return err
		}
		if err := people.ResetSecondFactors(ctx, s.peopleStores(), access.ActorOf(access.Operator), user.ID); err != nil {
			return err
		}
		return s.printUser(newUserJSON(user, members.Member{}))
	})
}
