package people_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/people"
)

func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	e := newEntrance(t)
	idle := e.signIn("")
	e.advance(people.SessionIdle - time.Second)
	if !e.signedIn(idle) {
		t.Error("ended before it was idle for two hours")
	}
	e.advance(people.SessionIdle)
	if e.signedIn(idle) {
		t.Error("lives although it was idle for two hours")
	}
	busy := e.signIn("")
	began := e.clock()
	for e.clock().Before(began.Add(people.SessionLifetime - time.Hour)) {
		if !e.signedIn(busy) {
			t.Fatalf("ended after %v of use", e.clock().Sub(began))
		}
		e.advance(time.Hour)
	}
	e.advance(time.Hour)
	if e.signedIn(busy) {
		t.Error("lives longer than twelve hours by being used")
	}
}

func TestOnlyASecretOpensASession(t *testing.T) {
	t.Parallel()
	e := newEntrance(t)
	secret := e.signIn("")
	for _, wrong := range []string{"", "x", strings.ToLower(secret), secret + "A", secret[1:], strings.Repeat("A", 52), string(access.HashSecret(secret))} {
		if e.signedIn(wrong) {
			t.Errorf("%q opens a session", wrong)
		}
	}
}

func TestSwitchingTheOrganization(t *testing.T) {
	t.Parallel()
	e := newEntrance(t)
	secret := e.signIn("")
	orgs, err := e.sessions.Organizations(t.Context(), e.user.ID)
	e.must(err)
	if len(orgs) != 2 || orgs[0].ID != e.org.ID || orgs[1].ID != e.second.ID {
		t.Fatalf("organizations %+v", orgs)
	}
	before, err := e.sessions.Current(t.Context(), secret)
	e.must(err)
	e.must(e.sessions.SwitchOrg(t.Context(), secret, e.second.ID))
	after, err := e.sessions.Current(t.Context(), secret)
	e.must(err)
	if after.Org.ID != e.second.ID || after.Member.OrgID != e.second.ID {
		t.Errorf("in %s after switching to %s", after.Org.ID, e.second.ID)
	}
	if after.FormTokenMatches(before.FormToken("q"), "q") {
		t.Error("a form of the other organization passes")
	}
	foreign := core.Org{ID: core.NewID(), Name: "Foreign", Slug: "foreign", Tier: "team", RetentionDays: 90}
	e.must(e.db.Orgs().InsertOrg(t.Context(), foreign))
	for _, orgID := range []string{foreign.ID, core.NewID(), "", "x\x00"} {
		if err := e.sessions.SwitchOrg(t.Context(), secret, orgID); core.AsError(err).Code != core.CodeNotFound {
			t.Errorf("switch to %q: %v", orgID, err)
		}
	}
	if err := e.sessions.SwitchOrg(t.Context(), "", e.org.ID); core.AsError(err).Code != core.CodeInvalidKey {
		t.Errorf("switch without a session: %v", err)
	}
}

// beforeFirst is a transactor that calls do before its first transaction.
type beforeFirst struct {
	core.Transactor
	do func()
}

func (b *beforeFirst) InTx(ctx context.Context, with func(context.Context) error) error {
	if do := b.do; do != nil {
		b.do = nil
		do()
	}
	return b.Transactor.InTx(ctx, with)
}

// TestAReadDoesNotUndoASwitch switches the organization after another request has read the
// session and before it stores the time of use. The session must stay in the new
// organization.
func TestAReadDoesNotUndoASwitch(t *testing.T) {
	t.Parallel()
	e := newEntrance(t)
	secret := e.signIn("")
	e.advance(time.Hour)
	cfg := e.sessions.SessionsConfig
	cfg.Tx = &beforeFirst{cfg.Tx, func() { e.must(e.sessions.SwitchOrg(t.Context(), secret, e.second.ID)) }}
	for range 2 {
		v, err := people.NewSessions(cfg).Current(t.Context(), secret)
		e.must(err)
		if v.Org.ID != e.second.ID || v.Member.OrgID != e.second.ID || v.Session.OrgID != e.second.ID {
			t.Errorf("in %s as member of %s after switching to %s", v.Org.ID, v.Member.OrgID, e.second.ID)
		}
	}
}

func TestSessionFollowsTheMemberships(t *testing.T) {
	t.Parallel()
	e := newEntrance(t)
	secret := e.signIn("")
	e.must(e.db.Members().RemoveMember(t.Context(), e.org.ID, e.user.ID))
	v, err := e.sessions.Current(t.Context(), secret)
	e.must(err)
	if v.Org.ID != e.second.ID || v.Session.OrgID != e.second.ID {
		t.Errorf("in %s, and the person only belongs to %s", v.Org.ID, e.second.ID)
	}
	e.must(e.db.Members().RemoveMember(t.Context(), e.second.ID, e.user.ID))
	if e.signedIn(secret) {
		t.Error("signed in without belonging anywhere")
	}
}

func TestFormTokens(t *testing.T) {
	t.Parallel()
	e := newEntrance(t)
	mine, err := e.sessions.Current(t.Context(), e.signIn(""))
	e.must(err)
	other, err := e.sessions.Current(t.Context(), e.signIn(""))
	e.must(err)
	token := mine.FormToken("a")
	if !mine.FormTokenMatches(token, "a") {
		t.Error("the form's own token does not pass")
	}
	if mine.FormTokenMatches(token, "b") || other.FormTokenMatches(token, "a") || mine.FormTokenMatches("", "a") {
		t.Error("a token of another question or session passes")
	}
}
