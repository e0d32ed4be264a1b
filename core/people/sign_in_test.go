package people_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/passwordchange"
	"github.com/mailhelm/mailhelm/core/passwords"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/people/peopletest"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

func TestSignInBeginsASession(t *testing.T) {
	t.Parallel()
	h := peopletest.New(t, storagetest.SQLite(t))
	begun, err := h.Sessions.SignIn(t.Context(), people.SignInRequest{Email: email, Password: password, Client: "192.0.2.1", RequestID: "r1"})
	h.Must(err)
	secret := begun.Secret
	if len(secret) != 52 {
		t.Errorf("the secret has %d characters of Base32, and 256 bits have 52", len(secret))
	}
	v, err := h.Sessions.Current(t.Context(), secret)
	h.Must(err)
	if v.User.ID != h.User.ID || v.Org.ID != h.Orgs[0].ID || v.Member.Role != members.Owner {
		t.Errorf("visitor %+v", v)
	}
	events, err := h.DB.Audit().FindAudit(t.Context(), h.Orgs[0].ID, access.AuditFilter{Limit: 10})
	h.Must(err)
	if len(events) != 1 || events[0].Action != "user.signed_in" || events[0].ActorID != h.User.ID || events[0].RequestID != "r1" {
		t.Errorf("audit log %+v", events)
	}
}

// TestAuditEverywhereHasASurface checks that an event of a person is written to the audit log
// of each organization of the person with the dashboard as its surface, and an event of the
// system or the operator without a surface.
func TestAuditEverywhereHasASurface(t *testing.T) {
	t.Parallel()
	h := peopletest.New(t, storagetest.SQLite(t))
	for by, want := range map[access.Actor]core.Surface{
		access.ActorOf(h.User.ID): people.App, access.ActorOf(access.Operator): "", access.System(): "",
	} {
		h.Must(h.Sessions.AuditEverywhere(t.Context(), by, h.User.ID, "user.changed", "r1"))
		for _, org := range []core.Org{h.Orgs[0], h.Orgs[1]} {
			events, err := h.DB.Audit().FindAudit(t.Context(), org.ID, access.AuditFilter{ActorID: by.ID, Limit: 10})
			h.Must(err)
			if len(events) != 1 || events[0].Surface != want {
				t.Errorf("%s by %s: %+v, want the surface %q", org.Name, by.Kind, events, want)
			}
		}
	}
}

func TestSignInHidesWhichAddressesExist(t *testing.T) {
	t.Parallel()
	h := peopletest.New(t, storagetest.SQLite(t))
	outsider := access.User{ID: core.NewID(), Email: "out@example.org", PasswordHash: h.User.PasswordHash, CreatedAt: start}
	h.Must(h.DB.Users().InsertUser(t.Context(), outsider))
	want := core.AsError(h.Try(email, "wrong", "a", ""))
	if want.Code != core.CodeInvalidKey {
		t.Fatal(want)
	}
	for _, email := range []string{"nobody@example.org", "no address", "", "a\x00b@example.org", outsider.Email} {
		got := core.AsError(h.Try(email, password, "a", ""))
		if got.Code != want.Code || got.Message != want.Message || got.NextStep() != want.NextStep() {
			t.Errorf("%q: %v", email, got)
		}
	}
}

// TestUnknownAddressCostsAHash checks that a sign-in with an unknown address allocates the
// memory of a password hash, as a sign-in with a known address does: 19 MiB at the
// product's cost, and 8 MiB at the lowest cost. It measures memory, because time varies. It
// does not run in parallel, because other tests allocate memory too.
func TestUnknownAddressCostsAHash(t *testing.T) {
	for memory, cost := range map[uint64]passwords.Cost{19 << 20: {}, 8 << 20: passwords.LeastCost()} {
		h := peopletest.New(t, storagetest.SQLite(t))
		config := h.Sessions.SessionsConfig
		config.PasswordCost = cost
		h.Sessions = people.NewSessions(config)
		hash, err := h.Sessions.HashPassword(t.Context(), "seven kettles on a hill")
		h.Must(err)
		h.Must(h.DB.Users().SetPassword(t.Context(), h.User.ID, hash))
		known, unknown := memoryOfAttempt(t, h, email), memoryOfAttempt(t, h, "nobody@example.org")
		const rest = 1 << 20
		if min(known, unknown) < memory || max(known, unknown) > memory+rest {
			t.Errorf("a known address takes %d bytes, an unknown one %d; a hash takes %d", known, unknown, memory)
		}
	}
}

// memoryOfAttempt returns how many bytes a sign-in with a wrong password allocates on
// average.
func memoryOfAttempt(t *testing.T, h *peopletest.House, email string) uint64 {
	t.Helper()
	const attempts = 4
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range attempts {
		h.Advance(time.Minute)
		if err := h.Try(email, "wrong", "cost", ""); core.AsError(err).Code != core.CodeInvalidKey {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	return (after.TotalAlloc - before.TotalAlloc) / attempts
}

func TestSigningInEndsThePreviousSession(t *testing.T) {
	t.Parallel()
	h := peopletest.New(t, storagetest.SQLite(t))
	planted := h.SignIn(password)
	begun, err := h.Sessions.SignIn(t.Context(), people.SignInRequest{Email: email, Password: password, Client: "192.0.2.1", Previous: planted})
	h.Must(err)
	own := begun.Secret
	if own == planted || h.SignedIn(planted) || !h.SignedIn(own) {
		t.Error("the session of before signing in lives on")
	}
}

func TestSigningOut(t *testing.T) {
	t.Parallel()
	h := peopletest.New(t, storagetest.SQLite(t))
	here, there := h.SignIn(password), h.SignIn(password)
	h.Must(h.Sessions.SignOut(t.Context(), here, "r2"))
	if h.SignedIn(here) || !h.SignedIn(there) {
		t.Error("signing out ends this session and no other")
	}
	h.Must(h.Sessions.SignOut(t.Context(), here, "r3"))
	h.Must(h.Sessions.SignOut(t.Context(), "", "r3"))
	here = h.SignIn(password)
	h.Must(h.Sessions.SignOutEverywhere(t.Context(), here, "r4"))
	if h.SignedIn(here) || h.SignedIn(there) {
		t.Error("a session outlives signing out everywhere")
	}
	events, err := h.DB.Audit().FindAudit(t.Context(), h.Orgs[0].ID, access.AuditFilter{Limit: 10})
	h.Must(err)
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
