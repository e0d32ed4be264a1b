package admin

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/installation"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/passwordchange"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// userSetPassword is `mailhelm admin user set-password`. No flag takes the password,
// because other users of the machine can read command lines.
type userSetPassword struct {
	installation.Target
	Email         string `arg:"" help:"The person's address."`
	PasswordStdin bool   `help:"Read the password from the first line of standard input." once:""`
}

// Run sets the person's password, ends the person's sessions and voids links for resetting
// the password. Second factors remain valid. It prints a generated password once, and never
// prints a given one. The operator must first verify that the person asked for it.
func (c *userSetPassword) Run(p *cli.Program) error {
	password, made, err := readPassword(p.Stdin, c.PasswordStdin)
	if err != nil {
		return err
	}
	return c.With(p, func(ctx context.Context, s *installation.Session) error {
		user, err := s.PersonByEmail(ctx, c.Email)
		if err != nil {
			return err
		}
		// SetPassword enqueues a job that notifies the person by mail. A running server runs
		// the job.
		queue, err := s.DB.NewJobs(engine.JobsConfig{})
		if err != nil {
			return err
		}
		stores := passwordchange.Stores{
			Users: s.DB.Users(), Resets: s.DB.PasswordResets(), Sessions: s.DB.Sessions(), Devices: s.DB.People(),
			Audit: peopleStores(s), Notices: people.Notices{Queue: queue}, Tx: s.DB, Clock: s.Config.Clock,
		}
		if err := passwordchange.SetPassword(ctx, stores, access.ActorOf(access.Operator), user, password); err != nil {
			return err
		}
		shown := newUserJSON(user, members.Member{})
		if made {
			shown.Password = password
		}
		return printUser(s, shown)
	})
}

// readPassword reads the first line of stdin if read is true. Otherwise it generates a
// password and sets made to true. It removes the line break, keeps blanks and reads at most
// 8192 bytes. It does not check whether the password is acceptable.
func readPassword(stdin io.Reader, read bool) (password string, made bool, err error) {
	if !read {
		return rand.Text(), true, nil
	}
	line, err := bufio.NewReader(io.LimitReader(stdin, 8192)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", false, fmt.Errorf("standard input: %w", err)
	}
	return strings.TrimRight(line, "\r\n"), false, nil
}

// peopleStores returns the stores that changes of a person's credentials need. It leaves
// out Attempts, the store of attempts to sign in, because no command signs in a person.
func peopleStores(s *installation.Session) people.SessionsConfig {
	return people.SessionsConfig{
		Users: s.DB.Users(), Sessions: s.DB.Sessions(), Factors: s.DB.Factors(), Passkeys: s.DB.Passkeys(), Members: s.DB.Members(),
		Orgs: s.DB.Orgs(), Audit: s.DB.Audit(), Tx: s.DB, Clock: s.Config.Clock,
	}
}
