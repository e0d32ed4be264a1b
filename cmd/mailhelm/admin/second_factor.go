package admin

import (
	"context"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
)

// userResetSecondFactor is `mailhelm admin user reset-second-factor`, for a person who
// lost every factor.
type userResetSecondFactor struct {
	target
	Email string `arg:"" help:"The person's address."`
}

// Run removes the second factors. The operator must verify first that the request comes
// from the person: afterwards the password alone is enough to sign in. It also ends the
// person's sessions, and records the change in the audit log of each organization of
// the person.
func (c *userResetSecondFactor) Run(p *cli.Program) error {
	return c.with(p, func(ctx context.Context, s *session) error {
		user, err := s.personByEmail(ctx, c.Email)
		if err != nil {
			return err
		}
		if err := people.ResetSecondFactors(ctx, s.peopleStores(), access.ActorOf(access.Operator), user.ID); err != nil {
			return err
		}
		return s.printUser(newUserJSON(user, members.Member{}))
	})
}
