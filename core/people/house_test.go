package people_test

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/attempts"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/letters"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/passwords/passwordstest"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

const (
	email    = "Ada@Example.org"
	password = "correct horse battery staple"
	fresh    = "seven kettles on a hill"
)

var (
	start     = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	adasHash  = passwordstest.Hash(password)
	otherSide = "198.51.100.1"
)

// house is a fixture of these tests: sign-in and passwords on a real database, with one
// person in two organizations. Jobs wait until the test calls work.
type house struct {
	t         *testing.T
	db        *storage.DB
	user      access.User
	orgs      []core.Org
	attempts  *attempts.Limits
	sessions  *people.Sessions
	factors   *people.SecondFactors
	passwords *people.Passwords
	mail      *people.Mail
	sender    *mailbox
	queue     *queue

	mu  sync.Mutex
	now time.Time
}

// queue stores jobs in memory. A rollback does not remove enqueued jobs from it, so a test
// of a rollback must look into the database instead.
type queue struct {
	mu   sync.Mutex
	jobs []jobs.Args
}

func (q *queue) Enqueue(_ context.Context, args jobs.Args) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.jobs = append(q.jobs, args)
	return nil
}

func (q *queue) EnqueueOnce(ctx context.Context, args jobs.Args) (bool, error) {
	return true, q.Enqueue(ctx, args)
}

func (q *queue) take() []jobs.Args {
	q.mu.Lock()
	defer q.mu.Unlock()
	taken := q.jobs
	q.jobs = nil
	return taken
}

// mailbox is a [letters.Sender] that stores the letters. If its field err is set, Send
// fails with that error instead.
type mailbox struct {
	letters []letters.Letter
	err     error
}

func (m *mailbox) Send(_ context.Context, l letters.Letter) error {
	if m.err == nil {
		m.letters = append(m.letters, l)
	}
	return m.err
}

// take returns the letters that were sent since the last call of take.
func (m *mailbox) take() []letters.Letter {
	taken := m.letters
	m.letters = nil
	return taken
}

func each(t *testing.T, test func(t *testing.T, h *house)) {
	t.Helper()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) { test(t, newHouse(t, db)) })
}

func newHouse(t *testing.T, db *storage.DB) *house {
	t.Helper()
	h := &house{t: t, db: db, now: start, queue: &queue{}, sender: &mailbox{}}
	h.user = access.User{ID: core.NewID(), Email: email, Name: "Ada", PasswordHash: adasHash, CreatedAt: start}
	h.must(db.Users().InsertUser(t.Context(), h.user))
	for _, name := range []string{"acme", "zeta"} {
		org := core.Org{ID: core.NewID(), Name: name, Slug: name, Tier: "team", RetentionDays: 90}
		h.must(db.Orgs().InsertOrg(t.Context(), org))
		h.must(db.Members().AddMember(t.Context(), org.ID, h.user.ID, string(members.Owner)))
		h.orgs = append(h.orgs, org)
	}
	h.attempts = attempts.New(attempts.Config{
		Devices: db.People(), Queue: h.queue, Clock: h.clock, Log: slog.New(slog.DiscardHandler),
	})
	stores := people.SessionsConfig{
		Users: db.Users(), Sessions: db.Sessions(), Factors: db.Factors(), Passkeys: db.Passkeys(), Members: db.Members(), Orgs: db.Orgs(), Audit: db.Audit(),
		Attempts: h.attempts, Tx: db, Clock: h.clock,
	}
	h.sessions = people.NewSessions(stores)
	master, err := signing.NewMasterKey(bytes.Repeat([]byte{7}, 32))
	h.must(err)
	h.factors = people.NewSecondFactors(people.SecondFactorsConfig{Sessions: h.sessions, Master: master})
	h.passwords = people.NewPasswords(people.PasswordsConfig{
		Sessions: h.sessions, Factors: h.factors, Store: db.People(), Queue: h.queue, Mails: true,
	})
	h.mail = people.NewMail(people.MailConfig{
		Sessions: stores, Store: db.People(), Queue: h.queue, Sender: h.sender, SecurityURL: "https://app.test/security",
		ResetAddress: func(secret string) string { return "https://app.test/reset?token=" + secret },
	})
	return h
}

func (h *house) clock() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

func (h *house) advance(by time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(by)
}

func (h *house) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) wantCode(what string, err error, code core.Code) {
	h.t.Helper()
	if err == nil || core.AsError(err).Code != code {
		h.t.Errorf("%s: %v, want %s", what, err, code)
	}
}

// work runs the waiting jobs and the jobs that they enqueue, until none is left.
func (h *house) work() error {
	for waiting := h.queue.take(); len(waiting) > 0; waiting = h.queue.take() {
		for _, args := range waiting {
			var err error
			switch args := args.(type) {
			case people.AskResetArgs:
				err = h.mail.AskResetWorker().Work(h.t.Context(), args)
			case people.NoticeArgs:
				err = h.mail.NoticeWorker().Work(h.t.Context(), args)
			case people.WarnArgs:
				err = h.mail.WarnWorker().Work(h.t.Context(), args)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// try signs in to the address. The parameter typed is the password, client is the network
// of the attempt, and device is the secret of a known device or "".
func (h *house) try(address, typed, client, device string) error {
	_, err := h.sessions.SignIn(h.t.Context(), people.SignInRequest{Email: address, Password: typed, Client: client, Device: device})
	return err
}

// signIn signs in the person of the fixture and returns the secret of the session. The
// parameter typed is the password.
func (h *house) signIn(typed string) string {
	h.t.Helper()
	begun, err := h.sessions.SignIn(h.t.Context(), people.SignInRequest{Email: email, Password: typed, Client: "192.0.2.1"})
	h.must(err)
	return begun.Secret
}

func (h *house) visitor(secret string) people.Visitor {
	h.t.Helper()
	v, err := h.sessions.Current(h.t.Context(), secret)
	h.must(err)
	return v
}

func (h *house) signedIn(secret string) bool {
	h.t.Helper()
	_, err := h.sessions.Current(h.t.Context(), secret)
	if err != nil && core.AsError(err).Code != core.CodeInvalidKey {
		h.t.Fatal(err)
	}
	return err == nil
}

// wantAudited checks the last audit event in each organization: its action, its kind of
// actor, and the person of the fixture as its subject.
func (h *house) wantAudited(action, actorKind string) {
	h.t.Helper()
	for _, org := range h.orgs {
		lines, err := h.db.Audit().AuditEvents(h.t.Context(), org.ID, 1)
		h.must(err)
		if len(lines) != 1 || lines[0].Action != action || lines[0].ActorKind != actorKind || lines[0].SubjectID != h.user.ID {
			h.t.Errorf("audit log of %s: %+v, want %s", org.Name, lines, action)
		}
	}
}

// attempt returns an attempt to sign in to the person's address with a wrong password.
func attempt(client, device string) people.SignInRequest {
	return people.SignInRequest{Email: email, Password: "wrong", Client: client, Device: device}
}

// newHouseBeside returns new limits on guessing passwords with the configuration of h and
// all counts at zero. They are like the limits of a second process on the same database.
func newHouseBeside(h *house) *attempts.Limits {
	return attempts.New(h.attempts.Config)
}

// before is a core.Transactor that calls the function in its field happens before each
// transaction.
type before struct {
	core.Transactor
	happens func()
}

func (b before) InTx(ctx context.Context, do func(context.Context) error) error {
	b.happens()
	return b.Transactor.InTx(ctx, do)
}
