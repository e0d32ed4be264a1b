// Package ownmail opens the sender of Mailhelm's own mail to people, and wires the verified
// senders, whose codes are such mail. It never uses the sending account of an organization.
package ownmail

import (
	"io"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/letters"
	"github.com/mailhelm/mailhelm/core/letters/smtpmail"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/senders"
)

// Open returns the sender that the operator has configured, nil for none. A sender to an SMTP
// server connects when it sends the first mail. The caller closes it with [Close].
func Open(cfg config.Config) (letters.Sender, error) {
	server, configured, err := cfg.SystemMail()
	if err != nil || !configured {
		return cfg.Letters, err
	}
	return smtpmail.New(smtpmail.Config{
		Address: server.Address, User: server.User, Password: server.Password, ImplicitTLS: server.ImplicitTLS, From: server.From,
		Clock: cfg.Clock, Roots: cfg.SystemCAs,
	}), nil
}

// Close closes the connections of a sender that [Open] returned, also of nil.
func Close(s letters.Sender) error {
	if c, ok := s.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// Database has the stores that verified senders need. *storage.DB implements it; an import of
// that package would make the chain of imports too long.
type Database interface {
	core.Transactor
	VerifiedSenders() senders.Store
	SenderStarts() senders.StartStore
	Orgs() members.OrgStore
	Users() people.UserStore
}

// VerifiedSenders returns the value that verifies the mailboxes of people. codeKey is the key
// of the hashes of codes.
func VerifiedSenders(db Database, queue jobs.Queue, own letters.Sender, codeKey []byte, clock core.Clock) *senders.Senders {
	return senders.New(senders.Config{
		Store: db.VerifiedSenders(), Starts: db.SenderStarts(), Transactor: db, Queue: queue, Letters: own,
		Orgs: db.Orgs(), People: db.Users(), CodeKey: codeKey, Clock: clock,
	})
}
