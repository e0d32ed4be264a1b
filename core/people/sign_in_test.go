package people_test

import (
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/attempts"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/passwordchange"
	"github.com/mailhelm/mailhelm/core/passwords"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/people/peopletest"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

const (
	ownersEmail    = "Owner@example.org"
	ownersPassword = "correct horse battery staple"
)

var ownersHash = sync.OnceValues(func() (string, error) { return passwords.Hash(ownersPassword) })

// entrance is the fixture of tests of sign-in: a real database with one person in two
// organizations. Sorted by name, Acme is the first organization.
type entrance struct {
	*gate
	sessions *people.Sessions
	user     access.User
	second   core.Org
}

func newEntrance(t *testing.T) *entrance {
	t.Helper()
	return newEntranceOn(t, storagetest.SQLite(t))
}

func newEntranceOn(t *testing.T, db *storage.DB) *entrance {
	t.Helper()
	e := &entrance{gate: newGate(t, db)}
	hash, err := ownersHash()
	e.must(err)
	e.user = access.User{ID: core.NewID(), Email: ownersEmail, Name: "Owner", PasswordHash: hash, CreatedAt: start}
	e.second = core.Org{ID: core.NewID(), Name: "Zeta", Slug: "zeta", Tier: "team", RetentionDays: 90}
	e.must(e.db.Orgs().InsertOrg(t.Context(), e.second))
	e.must(e.db.Users().InsertUser(t.Context(), e.user))
	e.must(e.db.Members().AddMember(t.Context(), e.second.ID, e.user.ID, string(members.Owner)))
	e.must(e.db.Members().AddMember(t.Context(), e.org.ID, e.user.ID, string(members.Owner)))
	queue, err := db.NewJobs(engine.JobsConfig{})
	e.must(err)
	e.sessions = people.NewSessions(people.SessionsConfig{
		Users: db.Users(), Sessions: db.Sessions(), Factors: db.Factors(), Passkeys: db.Passkeys(), Members: db.Members(),
		Orgs: db.Orgs(), Audit: db.Audit(), Tx: db, Clock: e.clock,
		Attempts: attempts.New(attempts.Config{Devices: e.db.People(), Queue: queue, Clock: e.clock, Log: slog.New(slog.DiscardHandler)}),
	})
	return e
}

func (e *entrance) signIn(previous string) string {
	e.t.Helper()
	begun, err := e.sessions.SignIn(e.t.Context(), people.SignInRequest{
		Email: ownersEmail, Password: ownersPassword, Client: "192.0.2.1", Previous: previous, RequestID: "r1",
	})
	e.must(err)
	return begun.Secret
}

func (e *entrance) try(email, password, client string) error {
	e.t.Helper()
	_, err := e.sessions.SignIn(e.t.Context(), people.SignInRequest{Email: email, Password: password, Client: client})
	return err
}

func (e *entrance) signedIn(secret string) bool {
	e.t.Helper()
	return peopletest.SignedIn(e.t, e.sessions, secret)
}

func TestSignInBeginsASession(t *testing.T) {
	t.Parallel()
	e := newEntrance(t)
	secret := e.signIn("")
	if len(secret) != 52 {
		t.Errorf("the secret has %d characters of Base32, and 256 bits have 52", len(secret))
	}
	v, err := e.sessions.Current(t.Context(), secret)
	e.must(err)
	if v.User.ID != e.user.ID || v.Org.ID != e.org.ID || v.Member.Role != members.Owner {
		t.Errorf("visitor %+v", v)
	}
	events, err := e.db.Audit().AuditEvents(t.Context(), e.org.ID, 10)
	e.must(err)
	if len(events) != 1 || events[0].Action != "user.signed_in" || events[0].ActorID != e.user.ID || events[0].RequestID != "r1" {
		t.Errorf("audit log %+v", events)
	}
}

// TestAuditEverywhereHasASurface checks that an event of a person is written to the audit log
// of each organization of the person with the dashboard as its surface, and an event of the
// system or the operator without a surface.
func TestAuditEverywhereHasASurface(t *testing.T) {
	t.Parallel()
	e := newEntrance(t)
	for by, want := range map[access.Actor]core.Surface{
		access.ActorOf(e.user.ID): people.App, access.ActorOf(access.Operator): "", access.System(): "",
	} {
		e.must(e.sessions.AuditEverywhere(t.Context(), by, e.user.ID, "user.changed", "r1"))
		for _, org := range []core.Org{e.org, e.second} {
			events, err := e.db.Audit().FindAudit(t.Context(), org.ID, access.AuditFilter{ActorID: by.ID, Limit: 10})
			e.must(err)
			if len(events) != 1 || events[0].Surface != want {
				t.Errorf("%s by %s: %+v, want the surface %q", org.Name, by.Kind, events, want)
			}
		}
	}
}

func TestSignInHidesWhichAddressesExist(t *testing.T) {
	t.Parallel()
	e := newEntrance(t)
	outsider := access.User{ID: core.NewID(), Email: "out@example.org", PasswordHash: e.user.PasswordHash, CreatedAt: start}
	e.must(e.db.Users().InsertUser(t.Context(), outsider))
	want := core.AsError(e.try(ownersEmail, "wrong", "a"))
	if want.Code != core.CodeInvalidKey {
		t.Fatal(want)
	}
	for _, email := range []string{"nobody@example.org", "no address", "", "a\x00b@example.org", outsider.Email} {
		got := core.AsError(e.try(email, ownersPassword, "a"))
		if got.Code != want.Code || got.Message != want.Message || got.NextStep() != want.NextStep() {
			t.Errorf("%q: %v", email, got)
		}
	}
}

// TestUnknownAddressCostsAHash checks that a sign-in with an unknown address allocates the
// 19 MiB of a password hash, like one with a known address. It measures memory, because
// time varies. It does not run in parallel, because other tests allocate memory too.
func TestUnknownAddressCostsAHash(t *testing.T) {
	e := newEntrance(t)
	cost := func(email string) int64 {
		return testing.Benchmark(func(b *testing.B) {
			for b.Loop() {
				e.advance(time.Minute)
				if err := e.try(email, "wrong", "cost"); core.AsError(err).Code != core.CodeInvalidKey {
					b.Fatal(err)
				}
			}
		}).AllocedBytesPerOp()
	}
	known, unknown := cost(ownersEmail), cost("nobody@example.org")
	const memory = 19 << 20
	if known < memory || unknown < memory {
		t.Errorf("a known address takes %d bytes, an unknown one %d; a hash takes %d", known, unknown, memory)
	}
}

func TestSigningInEndsThePreviousSession(t *testing.T) {
	t.Parallel()
	e := newEntrance(t)
	planted := e.signIn("")
	own := e.signIn(planted)
	if own == planted || e.signedIn(planted) || !e.signedIn(own) {
		t.Error("the session of before signing in lives on")
	}
}

func TestSigningOut(t *testing.T) {
	t.Parallel()
	e := newEntrance(t)
	here, there := e.signIn(""), e.signIn("")
	e.must(e.sessions.SignOut(t.Context(), here, "r2"))
	if e.signedIn(here) || !e.signedIn(there) {
		t.Error("signing out ends this session and no other")
	}
	e.must(e.sessions.SignOut(t.Context(), here, "r3"))
	e.must(e.sessions.SignOut(t.Context(), "", "r3"))
	here = e.signIn("")
	e.must(e.sessions.SignOutEverywhere(t.Context(), here, "r4"))
	if e.signedIn(here) || e.signedIn(there) {
		t.Error("a session outlives signing out everywhere")
	}
	events, err := e.db.Audit().AuditEvents(t.Context(), e.org.ID, 10)
	e.must(err)
	if len(events) != 5 {
		t.Fatalf("%d events, and there were three sign-ins and two sign-outs", len(events))
	}
	if last := events[0]; last.Action != "user.signed_out" || last.Detail != `{"everywhere":true}` || last.RequestID != "r4" {
		t.Errorf("last event %+v", last)
	}
}

// TestASignInBesideAChange checks a sign-in with the old password while another call
// changes the password. The sign-in verifies the old password before the change and would
// begin a session after the change. It must fail, because the change ends only the sessions
// that exist at its time.
func TestASignInBesideAChange(t *testing.T) {
	t.Parallel()
	peopletest.Each(t, func(t *testing.T, h *peopletest.House) {
		config := h.Sessions.SessionsConfig
		config.Tx = before{h.DB, func() {
			h.Must(passwordchange.SetPassword(t.Context(), h.Stores, access.ActorOf(access.Operator), h.User, "seven kettles on a hill"))
		}}
		_, err := people.NewSessions(config).SignIn(t.Context(), people.SignInRequest{Email: email, Password: password})
		h.WantCode("the old password", err, core.CodeInvalidKey)
	})
}
