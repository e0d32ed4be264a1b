package admin

import (
	"context"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/installation"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
)

// userResetSecondFactor is `mailhelm admin user reset-second-factor`. It removes the second
// factors of a person who has lost all of them.
type userResetSecondFactor struct {
	installation.Target
	Email string `arg:"" help:"The person's address."`
}

// Run removes the person's second factors and ends the person's sessions. It records the
// change in the audit log of each of the person's organizations. Afterwards the password
// alone is enough to sign in. The operator must therefore verify first that the person
// asked for the reset.
func (c *userResetSecondFactor) Run(p *cli.Program) error {
	return c.With(p, func(ctx context.Context, s *installation.Session) error {
		user, err := s.PersonByEmail(ctx, c.Email)
		if err != nil {
			return err
		}
		if err := people.ResetSecondFactors(ctx, peopleStores(s), access.ActorOf(access.Operator), user.ID); err != nil {
			return err
		}
		return printUser(s, newUserJSON(user, members.Member{}))
	})
}
