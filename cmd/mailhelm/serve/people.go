package serve

import (
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core/attempts"
	"github.com/mailhelm/mailhelm/core/passwordchange"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/workflows/diagram"
	"github.com/mailhelm/mailhelm/oauth/login"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// peopleStores returns the stores of people and their sessions. For sign-in, the caller
// must also set Attempts, the limits on attempts to sign in.
func peopleStores(cfg config.Config, db *storage.DB) people.SessionsConfig {
	return people.SessionsConfig{
		Users: db.Users(), Sessions: db.Sessions(), Factors: db.Factors(), Passkeys: db.Passkeys(), Members: db.Members(), Orgs: db.Orgs(), Audit: db.Audit(), Tx: db, Clock: cfg.Clock,
	}
}

// passwordStores returns the stores of changes and resets of passwords.
func passwordStores(cfg config.Config, s *stores) passwordchange.Stores {
	return passwordchange.Stores{
		Users: s.db.Users(), Resets: s.db.PasswordResets(), Sessions: s.db.Sessions(), Devices: s.db.People(),
		Audit: peopleStores(cfg, s.db), Notices: people.Notices{Queue: s.queue}, Tx: s.db, Clock: cfg.Clock,
	}
}

// newSignInPages returns the sign-in pages and the [people.SecondFactors] that these pages
// use. If the operator has configured no SMTP server, the pages offer no password reset by
// mail.
func newSignInPages(cfg config.Config, public config.Public, s *stores) (*login.Site, *people.SecondFactors, error) {
	trusted, err := cfg.Proxies()
	if err != nil {
		return nil, nil, err
	}
	limits := attempts.New(attempts.Config{Devices: s.db.People(), Queue: s.queue, Clock: cfg.Clock, Log: cfg.Log})
	stores := peopleStores(cfg, s.db)
	stores.Attempts, stores.PasswordCost = limits, cfg.PasswordCost
	sessions := people.NewSessions(stores)
	factors, err := secondFactors(sessions, s.master, public.App)
	if err != nil {
		return nil, nil, err
	}
	site, err := login.New(login.Config{
		Sessions: sessions, Factors: factors, Devices: limits,
		Passwords: passwordchange.New(passwordchange.Config{
			Stores: passwordStores(cfg, s), Hasher: sessions, Attempts: limits, Queue: s.queue, Mails: s.letters != nil,
		}),
		Warnings: people.Warnings{Store: s.db.People(), Clock: cfg.Clock},
		AppURL:   public.App, DocsURL: public.Docs, Style: frame.Style + diagram.Stylesheet, Proxies: trusted, Log: cfg.Log,
	})
	return site, factors, err
}

// addPeopleWorkers registers the jobs that send mail to people, and the job that deletes
// expired records about them. If the operator has configured no SMTP server, the jobs run
// but send no mail.
func addPeopleWorkers(queue *engine.Jobs, cfg config.Config, public config.Public, s *stores) {
	mail := people.MailConfig{
		Sender: s.letters, Sessions: peopleStores(cfg, s.db), Store: s.db.People(), Queue: s.queue,
		SecurityURL: public.App + login.SecurityPath,
	}
	resets := passwordchange.ResetMailConfig{
		Sender: s.letters, Stores: passwordStores(cfg, s),
		Address: func(secret string) string { return login.ResetAddress(public.App, secret) },
	}
	jobs := people.NewMail(mail)
	engine.AddWorker(queue, passwordchange.NewResetMail(resets).Worker())
	engine.AddWorker(queue, jobs.NoticeWorker())
	engine.AddWorker(queue, jobs.WarnWorker())
	engine.AddWorker(queue, people.PurgeWorker(people.PurgeStores{
		Store: s.db.People(), Sessions: s.db.Sessions(), Passkeys: s.db.Passkeys(), Resets: s.db.PasswordResets(),
	}, cfg.Clock, cfg.Log))
}
