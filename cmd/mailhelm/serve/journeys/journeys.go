// Package journeys connects the runner and the mailer of workflows with the stores of a server.
package journeys

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/workflows/mailing"
	"github.com/mailhelm/mailhelm/core/workflows/runner"
	"github.com/mailhelm/mailhelm/storage"
	workflowstore "github.com/mailhelm/mailhelm/storage/workflows"
)

// Config has what the runner and the mailer use of the server. All fields are required.
type Config struct {
	DB      *storage.DB
	Schemas runner.Schemas
	// Mail has the parts of the mailer that make and pass messages: Steps, Templates, Senders,
	// Links, Finish and Wait.
	Mail mailing.Config
	// Contacts changes contacts for steps.
	Contacts   runner.Contacts
	Revalidate func(ctx context.Context, orgID string) error
	Clock      core.Clock
	Log        *slog.Logger
}

// Journeys moves the runs of workflows and sends their messages.
type Journeys struct {
	runner *runner.Runner
	mailer *mailing.Mailer
}

// New returns the runner and the mailer of a process, which do nothing yet.
func New(cfg Config) *Journeys {
	var j Journeys
	db, mail := cfg.DB, cfg.Mail
	mail.Store, mail.Continue, mail.Clock, mail.Log = workflowstore.NewMailStore(db.DB), func() { j.runner.Wake() }, cfg.Clock, cfg.Log
	j.mailer = mailing.New(mail)
	j.runner = runner.New(runner.Config{
		Store: workflowstore.New(db.DB), Timers: workflowstore.NewTimerStore(db.DB), Entries: workflowstore.NewEntryStore(db.DB),
		Changes: workflowstore.NewChangeStore(db.DB), Mails: workflowstore.NewMailStore(db.DB),
		Transactor: db, Subjects: db.Subjects(), Schemas: cfg.Schemas, Contacts: cfg.Contacts,
		Revalidate: cfg.Revalidate, Mailed: j.mailer.Wake, Clock: cfg.Clock, Log: cfg.Log,
	})
	return &j
}

// Follow starts the runner and the mailer. The returned function stops both, and waits until the
// calls of sending accounts that they have begun have ended.
func (j *Journeys) Follow() func() {
	ctx, cancel := context.WithCancel(context.Background()) //nolint:forbidigo // it ends with the server and not with a call
	moves, mails := time.NewTicker(runner.LookEvery), time.NewTicker(mailing.LookEvery)
	var running sync.WaitGroup
	running.Go(func() { j.runner.Follow(ctx, moves.C) })
	running.Go(func() { j.mailer.Follow(ctx, mails.C) })
	return func() {
		moves.Stop()
		mails.Stop()
		cancel()
		running.Wait()
	}
}

// Wake lets the runner look for work at once. A process without one leaves that to the others,
// which look every second.
func (j *Journeys) Wake() {
	if j != nil {
		j.runner.Wake()
	}
}
