package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/storage/engine"
)

type userSetPassword struct {
	adminTarget
	Email         string `arg:"" help:"The person's address."`
	PasswordStdin bool   `help:"Read the password from the first line of standard input." once:""`
}

// Run sets the password. Make sure first that it is the person who asks. Second
// factors stay in force.
func (c *userSetPassword) Run(p *program) error {
	password, made, err := readPassword(p.stdin, c.PasswordStdin)
	if err != nil {
		return err
	}
	return c.with(p, func(ctx context.Context, s *session) error {
		user, err := s.db.Users().UserByEmail(ctx, c.Email)
		if notFound(err) {
			return errors.New("there is no person with this address")
		}
		if err != nil {
			return err
		}
		// A server that runs on the database takes the job that tells the person.
		queue, err := s.db.NewJobs(engine.JobsConfig{})
		if err != nil {
			return err
		}
		cfg := people.OperatorConfig{Sessions: s.peopleStores(), Store: s.db.People(), Queue: queue}
		if err := people.SetPassword(ctx, cfg, access.ActorOf(access.Operator), user, password); err != nil {
			return err
		}
		shown := newUserJSON(user, members.Member{})
		if made {
			shown.Password = password
		}
		return s.printUser(shown)
	})
}

// readPassword reads one line, or makes a password and says so.
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

// peopleStores are where people and their sessions are.
func (s *session) peopleStores() people.SessionsConfig {
	return people.SessionsConfig{
		Users: s.db.Users(), Sessions: s.db.Sessions(), Factors: s.db.Factors(), Passkeys: s.db.Passkeys(), Members: s.db.Members(),
		Orgs: s.db.Orgs(), Audit: s.db.Audit(), Tx: s.db, Clock: s.cfg.Clock,
	}
}
