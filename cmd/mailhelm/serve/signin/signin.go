// Package signin wires the sign-in pages of a server, and the jobs that send mail to the
// people who sign in.
package signin

import (
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/attempts"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/letters"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/passwordchange"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/core/workflows/diagram"
	"github.com/mailhelm/mailhelm/oauth/login"
	"github.com/mailhelm/mailhelm/oauth/passkey"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Database has the stores of people; storage.DB implements it.
type Database interface {
	core.Transactor
	Users() people.UserStore
	Sessions() people.SessionStore
	Factors() people.FactorStore
	Passkeys() people.PasskeyStore
	People() people.Store
	PasswordResets() passwordchange.ResetStore
	Members() members.Store
	Orgs() members.OrgStore
	Audit() access.AuditStore
}

// Parts has what the pages and the jobs need. All fields are required, except Letters. A
// worker, which has no pages, needs no Accounts.
type Parts struct {
	Config config.Config
	Public config.Public
	DB     Database
	Queue  jobs.Queue
	Master signing.MasterKey
	// Letters is nil if the operator has configured no mail server.
	Letters letters.Sender
	// Accounts deletes the accounts of people.
	Accounts login.Accounts
}

// people returns the stores of people and their sessions. For sign-in, the caller must also
// set Attempts, the limits on attempts to sign in.
func (p Parts) people() people.SessionsConfig {
	return people.SessionsConfig{
		Users: p.DB.Users(), Sessions: p.DB.Sessions(), Factors: p.DB.Factors(), Passkeys: p.DB.Passkeys(), Members: p.DB.Members(),
		Orgs: p.DB.Orgs(), Audit: p.DB.Audit(), Tx: p.DB, Clock: p.Config.Clock,
	}
}

// passwords returns the stores of changes and resets of passwords.
func (p Parts) passwords() passwordchange.Stores {
	return passwordchange.Stores{
		Users: p.DB.Users(), Resets: p.DB.PasswordResets(), Sessions: p.DB.Sessions(), Devices: p.DB.People(),
		Audit: p.people(), Notices: people.Notices{Queue: p.Queue}, Tx: p.DB, Clock: p.Config.Clock,
	}
}

// Pages returns the sign-in pages and the [people.SecondFactors] that these pages use. If the
// operator has configured no SMTP server, the pages offer no password reset by mail.
func (p Parts) Pages() (*login.Site, *people.SecondFactors, error) {
	cfg := p.Config
	trusted, err := cfg.Proxies()
	if err != nil {
		return nil, nil, err
	}
	limits := attempts.New(attempts.Config{Devices: p.DB.People(), Queue: p.Queue, Clock: cfg.Clock, Log: cfg.Log})
	stores := p.people()
	stores.Attempts, stores.PasswordCost = limits, cfg.PasswordCost
	sessions := people.NewSessions(stores)
	factors, err := secondFactors(sessions, p.Master, p.Public.App)
	if err != nil {
		return nil, nil, err
	}
	site, err := login.New(login.Config{
		Sessions: sessions, Factors: factors, Devices: limits, Accounts: p.Accounts,
		Passwords: passwordchange.New(passwordchange.Config{
			Stores: p.passwords(), Hasher: sessions, Attempts: limits, Queue: p.Queue, Mails: p.Letters != nil,
		}),
		Warnings: people.Warnings{Store: p.DB.People(), Clock: cfg.Clock},
		AppURL:   p.Public.App, DocsURL: p.Public.Docs, Style: frame.Style + diagram.Stylesheet, Proxies: trusted, Log: cfg.Log,
	})
	return site, factors, err
}

// secondFactors returns the second factors with which people can sign in. It leaves out
// passkeys if appURL has an IP address, because WebAuthn binds a passkey to a domain name
// or localhost.
func secondFactors(sessions *people.Sessions, master signing.MasterKey, appURL string) (*people.SecondFactors, error) {
	factors := people.SecondFactorsConfig{Sessions: sessions, Master: master}
	if passkey.IsSupported(appURL) {
		site, err := passkey.New(appURL)
		if err != nil {
			return nil, err
		}
		factors.Passkeys = site
	}
	return people.NewSecondFactors(factors), nil
}

// AddWorkers registers the jobs that send mail to people, and the job that deletes expired
// records about them. If the operator has configured no SMTP server, the jobs run but send no
// mail.
func (p Parts) AddWorkers(queue *engine.Jobs) {
	mail := people.NewMail(people.MailConfig{
		Sender: p.Letters, Sessions: p.people(), Store: p.DB.People(), Queue: p.Queue, SecurityURL: p.Public.App + login.SecurityPath,
	})
	resets := passwordchange.NewResetMail(passwordchange.ResetMailConfig{
		Sender: p.Letters, Stores: p.passwords(), Address: func(secret string) string { return login.ResetAddress(p.Public.App, secret) },
	})
	engine.AddWorker(queue, resets.Worker())
	engine.AddWorker(queue, mail.NoticeWorker())
	engine.AddWorker(queue, mail.WarnWorker())
	engine.AddWorker(queue, people.PurgeWorker(people.PurgeStores{
		Store: p.DB.People(), Sessions: p.DB.Sessions(), Passkeys: p.DB.Passkeys(), Resets: p.DB.PasswordResets(),
	}, p.Config.Clock, p.Config.Log))
}
