package peopletest

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/attempts"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/passwordchange"
	"github.com/mailhelm/mailhelm/core/passwords"
	"github.com/mailhelm/mailhelm/core/passwords/passwordstest"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

const (
	// Email is the address of the person in a [House].
	Email = "Ada@Example.org"
	// Password is the password of that person.
	Password = "correct horse battery staple"
	// OtherSide is a network other than the one from which [House.SignIn] signs in.
	OtherSide = "198.51.100.1"
)

// Start is the time at which the clock of a new House starts.
var Start = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

var adasHash = passwordstest.Hash(Password)

// House is a fixture: sign-in and passwords on a real database, with one person in two
// organizations. Jobs wait until the test calls Work.
type House struct {
	T         *testing.T
	DB        *storage.DB
	User      access.User
	Orgs      []core.Org
	Attempts  *attempts.Limits
	Sessions  *people.Sessions
	Factors   *people.SecondFactors
	Warnings  people.Warnings
	Stores    passwordchange.Stores // the stores that Passwords and ResetMail use
	Passwords *passwordchange.Passwords
	Mail      *people.Mail
	ResetMail *passwordchange.ResetMail
	Sender    *Mailbox
	Queue     *Queue

	mu  sync.Mutex
	now time.Time
}

// Each runs the test on each database, with a new House.
func Each(t *testing.T, test func(t *testing.T, h *House)) {
	t.Helper()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) { test(t, New(t, db)) })
}

// New returns a House on the database. Sorted by name, its first organization is Acme.
func New(t *testing.T, db *storage.DB) *House {
	t.Helper()
	h := &House{T: t, DB: db, now: Start, Queue: &Queue{}, Sender: &Mailbox{}}
	h.User = access.User{ID: core.NewID(), Email: Email, Name: "Ada", PasswordHash: adasHash, CreatedAt: Start}
	h.Must(db.Users().InsertUser(t.Context(), h.User))
	for _, name := range []string{"Acme", "Zeta"} {
		org := core.Org{ID: core.NewID(), Name: name, Slug: strings.ToLower(name), Tier: "team", RetentionDays: 90}
		h.Must(db.Orgs().InsertOrg(t.Context(), org))
		h.Must(db.Members().AddMember(t.Context(), org.ID, h.User.ID, string(members.Owner)))
		h.Orgs = append(h.Orgs, org)
	}
	h.Attempts = attempts.New(attempts.Config{
		Devices: db.People(), Queue: h.Queue, Clock: h.Clock, Log: slog.New(slog.DiscardHandler),
	})
	stores := people.SessionsConfig{
		Users: db.Users(), Sessions: db.Sessions(), Factors: db.Factors(), Passkeys: db.Passkeys(), Members: db.Members(), Orgs: db.Orgs(), Audit: db.Audit(),
		Attempts: h.Attempts, Tx: db, Clock: h.Clock, PasswordCost: passwords.LeastCost(),
	}
	h.Sessions = people.NewSessions(stores)
	master, err := signing.NewMasterKey(bytes.Repeat([]byte{7}, 32))
	h.Must(err)
	h.Factors = people.NewSecondFactors(people.SecondFactorsConfig{Sessions: h.Sessions, Master: master})
	h.Warnings = people.Warnings{Store: db.People(), Clock: h.Clock}
	h.Mail = people.NewMail(people.MailConfig{
		Sessions: stores, Store: db.People(), Queue: h.Queue, Sender: h.Sender, SecurityURL: "https://app.test/security",
	})
	h.addPasswords(stores)
	return h
}

// addPasswords sets the fields Stores, Passwords and ResetMail of the house, with which
// tests change and reset passwords.
func (h *House) addPasswords(stores people.SessionsConfig) {
	h.Stores = passwordchange.Stores{
		Users: stores.Users, Resets: h.DB.PasswordResets(), Sessions: stores.Sessions, Devices: h.DB.People(),
		Audit: stores, Notices: people.Notices{Queue: h.Queue}, Tx: stores.Tx, Clock: stores.Clock,
	}
	h.Passwords = passwordchange.New(passwordchange.Config{
		Stores: h.Stores, Hasher: h.Sessions, Attempts: h.Attempts, Queue: h.Queue, Mails: true,
	})
	h.ResetMail = passwordchange.NewResetMail(passwordchange.ResetMailConfig{
		Stores: h.Stores, Sender: h.Sender, Address: func(secret string) string { return "https://app.test/reset?token=" + secret },
	})
}

// Clock returns the time of the house.
func (h *House) Clock() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

// Advance moves the clock of the house forward.
func (h *House) Advance(by time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(by)
}

// Must stops the test if err is not nil.
func (h *House) Must(err error) {
	h.T.Helper()
	if err != nil {
		h.T.Fatal(err)
	}
}

// WantCode fails the test unless err is an error with this code. what names the tested
// call.
func (h *House) WantCode(what string, err error, code core.Code) {
	h.T.Helper()
	if err == nil || core.AsError(err).Code != code {
		h.T.Errorf("%s: %v, want %s", what, err, code)
	}
}

// Work runs the waiting jobs and the jobs that they enqueue, until none is left.
func (h *House) Work() error {
	for waiting := h.Queue.Take(); len(waiting) > 0; waiting = h.Queue.Take() {
		for _, args := range waiting {
			var err error
			switch args := args.(type) {
			case passwordchange.AskResetArgs:
				err = h.ResetMail.Worker().Work(h.T.Context(), args)
			case people.NoticeArgs:
				err = h.Mail.NoticeWorker().Work(h.T.Context(), args)
			case people.WarnArgs:
				err = h.Mail.WarnWorker().Work(h.T.Context(), args)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// Try signs in the person with this address. The parameter typed is the password, client is
// the network from which the request comes, and device is the secret of a known device or
// "".
func (h *House) Try(address, typed, client, device string) error {
	_, err := h.Sessions.SignIn(h.T.Context(), people.SignInRequest{Email: address, Password: typed, Client: client, Device: device})
	return err
}

// SignIn signs in the person of the fixture and returns the secret of the session. The
// parameter typed is the password.
func (h *House) SignIn(typed string) string {
	h.T.Helper()
	begun, err := h.Sessions.SignIn(h.T.Context(), people.SignInRequest{Email: Email, Password: typed, Client: "192.0.2.1"})
	h.Must(err)
	return begun.Secret
}

// Visitor returns the visitor with the session's secret.
func (h *House) Visitor(secret string) people.Visitor {
	h.T.Helper()
	v, err := h.Sessions.Current(h.T.Context(), secret)
	h.Must(err)
	return v
}

// SignedIn reports whether the session with the secret gives access to pages.
func (h *House) SignedIn(secret string) bool {
	h.T.Helper()
	return SignedIn(h.T, h.Sessions, secret)
}

// SignedIn reports whether the session with the secret gives access to pages. It ends the
// test if that cannot be read.
func SignedIn(t testing.TB, sessions *people.Sessions, secret string) bool {
	t.Helper()
	_, err := sessions.Current(t.Context(), secret)
	if err != nil && core.AsError(err).Code != core.CodeInvalidKey {
		t.Fatal(err)
	}
	return err == nil
}

// WantAudited checks the last audit event in each organization: its action, its kind of
// actor, and the person of the fixture as its subject.
func (h *House) WantAudited(action, actorKind string) {
	h.T.Helper()
	for _, org := range h.Orgs {
		lines, err := h.DB.Audit().FindAudit(h.T.Context(), org.ID, access.AuditFilter{Limit: 1})
		h.Must(err)
		if len(lines) != 1 || lines[0].Action != action || lines[0].ActorKind != actorKind || lines[0].SubjectID != h.User.ID {
			h.T.Errorf("audit log of %s: %+v, want %s", org.Name, lines, action)
		}
	}
}
