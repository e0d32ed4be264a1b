// Package notices mails members what is new about a domain: a weekly digest, and an alert when an
// unknown sender begins to send or to fail in quantity. Both are off until a member turns them on
// for oneself and one domain.
//
// The mails leave through the sending account of the organization by package handover, like all
// its mail, so the stop of all mail and the rate of the account apply. A mail is stored in the
// transaction that decides to send it, and is the only recipient of a send of its own; package
// handover sees to it that none is sent twice.
//
// The package computes no figures and no findings: packages intake and measuring do. Names and
// records in mails come from outsiders: they stay on one line, and no mail program finds a link
// in them.
package notices

import (
	"context"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/jobs"
)

// Config configures [Notices]. All fields are required.
type Config struct {
	Subscriptions SubscriptionStore
	Digests       DigestStore
	Alerts        AlertStore
	Queue         NoticeStore
	// Recipients has the one recipient of each mail.
	Recipients Recipients
	Steps      Steps
	Transactor core.Transactor
	Readers    Readers
	Senders    Senders
	// PageURL returns the address of the dashboard's page of a domain. The page of its sources is
	// below it at /sources, that of its records and mails at /setup, and readiness at /policy.
	PageURL func(domain string) string
	Clock   core.Clock
	Log     *slog.Logger
}

// Recipients has the recipients of sends; see [handover.Store].
type Recipients interface {
	Add(ctx context.Context, orgID, sendID string, added []handover.Recipient, now time.Time) error
	Recipient(ctx context.Context, orgID, sendID, key string) (handover.Recipient, error)
}

// Steps passes messages to the account; see [handover.Handover].
type Steps interface {
	Step(ctx context.Context, orgID, sendID string, m handover.Mailing) (handover.Progress, error)
	Abandon(ctx context.Context, orgID, sendID, reason string) error
}

// Readers knows who may read about the domains of an organization.
type Readers interface {
	// Address returns the mail address of a member with the permission to see domain
	// authentication. The result is false for others.
	Address(ctx context.Context, orgID, userID string) (address string, ok bool, err error)
}

// Senders knows from which address an organization sends.
type Senders interface {
	// IsVerified reports whether the account may send from an address.
	IsVerified(ctx context.Context, orgID, address string) (bool, error)
	// Default returns the default sender with the name of the organization, "" if it has no
	// verified domain.
	Default(ctx context.Context, orgID string) (string, error)
	// Channel returns the name of the configuration set to send with, "" for the default of the
	// account.
	Channel(ctx context.Context, orgID string) (string, error)
}

// Notices decides which mails are due, and sends them. It is safe for concurrent use, and several
// processes may do so on one database.
type Notices struct{ Config }

// New returns a Notices.
func New(cfg Config) *Notices { return &Notices{cfg} }

const (
	jobEvery   = time.Minute
	jobTimeout = 5 * time.Minute
	// lookLimit is the greatest number of digests, domains with findings and mails of one run.
	lookLimit = 200
)

// Args has the arguments of the job that sends digests and alerts, which takes none.
type Args struct{}

// Kind returns the name of the job.
func (Args) Kind() string { return "domainauth_notices" }

// Worker returns the job that decides every minute which mails are due, and sends them.
func (n *Notices) Worker() jobs.Worker[Args] {
	return jobs.Worker[Args]{Every: jobEvery, Timeout: jobTimeout, Work: func(ctx context.Context, _ Args) error { return n.Run(ctx) }}
}
