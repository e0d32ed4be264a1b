package people_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/people/peopletest"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	h := peopletest.New(t, storagetest.SQLite(t))
	idle := h.SignIn(password)
	h.Advance(people.SessionIdle - time.Second)
	if !h.SignedIn(idle) {
		t.Error("ended before it was idle for two hours")
	}
	h.Advance(people.SessionIdle)
	if h.SignedIn(idle) {
		t.Error("lives although it was idle for two hours")
	}
	busy := h.SignIn(password)
	began := h.Clock()
	for h.Clock().Before(began.Add(people.SessionLifetime - time.Hour)) {
		if !h.SignedIn(busy) {
			t.Fatalf("ended after %v of use", h.Clock().Sub(began))
		}
		h.Advance(time.Hour)
	}
	h.Advance(time.Hour)
	if h.SignedIn(busy) {
		t.Error("lives longer than twelve hours by being used")
	}
}

func TestOnlyASecretOpensASession(t *testing.T) {
	t.Parallel()
	h := peopletest.New(t, storagetest.SQLite(t))
	secret := h.SignIn(password)
	for _, wrong := range []string{"", "x", strings.ToLower(secret), secret + "A", secret[1:], strings.Repeat("A", 52), string(access.HashSecret(secret))} {
		if h.SignedIn(wrong) {
			t.Errorf("%q opens a session", wrong)
		}
	}
}

func TestSwitchingTheOrganization(t *testing.T) {
	t.Parallel()
	h := peopletest.New(t, storagetest.SQLite(t))
	secret := h.SignIn(password)
	orgs, err := h.Sessions.Organizations(t.Context(), h.User.ID)
	h.Must(err)
	if len(orgs) != 2 || orgs[0].ID != h.Orgs[0].ID || orgs[1].ID != h.Orgs[1].ID {
		t.Fatalf("organizations %+v", orgs)
	}
	before, err := h.Sessions.Current(t.Context(), secret)
	h.Must(err)
	h.Must(h.Sessions.SwitchOrg(t.Context(), secret, h.Orgs[1].ID))
	after, err := h.Sessions.Current(t.Context(), secret)
	h.Must(err)
	if after.Org.ID != h.Orgs[1].ID || after.Member.OrgID != h.Orgs[1].ID {
		t.Errorf("in %s after switching to %s", after.Org.ID, h.Orgs[1].ID)
	}
	if after.FormTokenMatches(before.FormToken("q"), "q") {
		t.Error("a form of the other organization passes")
	}
	foreign := core.Org{ID: core.NewID(), Name: "Foreign", Slug: "foreign", Tier: "team", RetentionDays: 90}
	h.Must(h.DB.Orgs().InsertOrg(t.Context(), foreign))
	for _, orgID := range []string{foreign.ID, core.NewID(), "", "x\x00"} {
		if err := h.Sessions.SwitchOrg(t.Context(), secret, orgID); core.AsError(err).Code != core.CodeNotFound {
			t.Errorf("switch to %q: %v", orgID, err)
		}
	}
	if err := h.Sessions.SwitchOrg(t.Context(), "", h.Orgs[0].ID); core.AsError(err).Code != core.CodeInvalidKey {
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
	h := peopletest.New(t, storagetest.SQLite(t))
	secret := h.SignIn(password)
	h.Advance(time.Hour)
	cfg := h.Sessions.SessionsConfig
	cfg.Tx = &beforeFirst{cfg.Tx, func() { h.Must(h.Sessions.SwitchOrg(t.Context(), secret, h.Orgs[1].ID)) }}
	for range 2 {
		v, err := people.NewSessions(cfg).Current(t.Context(), secret)
		h.Must(err)
		if v.Org.ID != h.Orgs[1].ID || v.Member.OrgID != h.Orgs[1].ID || v.Session.OrgID != h.Orgs[1].ID {
			t.Errorf("in %s as member of %s after switching to %s", v.Org.ID, v.Member.OrgID, h.Orgs[1].ID)
		}
	}
}

func TestSessionFollowsTheMemberships(t *testing.T) {
	t.Parallel()
	h := peopletest.New(t, storagetest.SQLite(t))
	secret := h.SignIn(password)
	h.Must(h.DB.Members().RemoveMember(t.Context(), h.Orgs[0].ID, h.User.ID))
	v, err := h.Sessions.Current(t.Context(), secret)
	h.Must(err)
	if v.Org.ID != h.Orgs[1].ID || v.Session.OrgID != h.Orgs[1].ID {
		t.Errorf("in %s, and the person only belongs to %s", v.Org.ID, h.Orgs[1].ID)
	}
	h.Must(h.DB.Members().RemoveMember(t.Context(), h.Orgs[1].ID, h.User.ID))
	if h.SignedIn(secret) {
		t.Error("signed in without belonging anywhere")
	}
}

func TestFormTokens(t *testing.T) {
	t.Parallel()
	h := peopletest.New(t, storagetest.SQLite(t))
	mine, err := h.Sessions.Current(t.Context(), h.SignIn(password))
	h.Must(err)
	other, err := h.Sessions.Current(t.Context(), h.SignIn(password))
	h.Must(err)
	token := mine.FormToken("a")
	if !mine.FormTokenMatches(token, "a") {
		t.Error("the form's own token does not pass")
	}
	if mine.FormTokenMatches(token, "b") || other.FormTokenMatches(token, "a") || mine.FormTokenMatches("", "a") {
		t.Error("a token of another question or session passes")
	}
}
