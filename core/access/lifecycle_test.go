package access_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var operator = access.ActorOf(access.Operator)

func (g *gate) lifecycle() access.Lifecycle {
	return access.Lifecycle{
		Stores: g.db.Access(), Orgs: g.db.Orgs(), Transactor: g.db, Clock: g.clock, Principals: g.auth,
	}
}

func (g *gate) mustCreateKey(names ...string) (access.APIKey, string) {
	g.t.Helper()
	k, secret, err := g.lifecycle().CreateKey(g.t.Context(), operator, access.NewKey{
		OrgID: g.org.ID, Name: "CI", Environment: core.Live, Scopes: core.NewScopes(names...),
	})
	g.must(err)
	return k, secret
}

// line has the parts of an audit event that the tests compare.
type line struct{ Action, Actor, Subject, Detail string }

// auditLines returns the organization's audit events, oldest first.
func (g *gate) auditLines() []line {
	g.t.Helper()
	events, err := g.db.Audit().FindAudit(g.t.Context(), g.org.ID, access.AuditFilter{Limit: 100})
	g.must(err)
	var lines []line
	for _, e := range events {
		if e.OrgID != g.org.ID || e.OccurredAt.IsZero() {
			g.t.Errorf("event %+v", e)
		}
		lines = append([]line{{e.Action, e.ActorKind + " " + e.ActorID, e.SubjectID, e.Detail}}, lines...)
	}
	return lines
}

// wantAccepted authenticates with a key at the public API. If want is "", the call must
// succeed. Otherwise it must fail with the error code want.
func (g *gate) wantAccepted(secret string, want core.Code) {
	g.t.Helper()
	p, err := g.auth.Authenticate(g.t.Context(), secret, access.API)
	switch {
	case want == "" && err != nil:
		g.t.Errorf("refused: %v", err)
	case want != "" && (err == nil || core.AsError(err).Code != want):
		g.t.Errorf("got %+v, %v; want %s", p, err, want)
	}
}

func (g *gate) wantCode(what string, err error, code core.Code) {
	g.t.Helper()
	if err == nil || core.AsError(err).Code != code {
		g.t.Errorf("%s: %v, want %s", what, err, code)
	}
}

func TestLifeOfAKey(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		g, ctx := newGate(t, db), t.Context()
		l, user := g.lifecycle(), core.NewID()
		old, oldSecret := g.mustCreateKey("api.account.view", "api.lists.view")
		g.wantAccepted(oldSecret, "")

		g.advance(time.Minute)
		edited, err := l.EditKeyScopes(ctx, access.ActorOf(user), g.org.ID, old.ID, core.NewScopes("api.lists.view", "api.topics.view"))
		g.must(err)
		if p, err := g.auth.Authenticate(ctx, oldSecret, access.API); err != nil || cmp.Diff(edited.Scopes, p.Scopes) != "" {
			t.Errorf("after the edit: %v, %v", p.Scopes, err)
		}
		_, err = l.EditKeyScopes(ctx, operator, g.org.ID, old.ID, edited.Scopes) // equal scopes change nothing
		g.must(err)

		g.advance(time.Minute)
		next, nextSecret, err := l.RotateKey(ctx, operator, g.org.ID, old.ID)
		g.must(err)
		rotated := g.clock()
		if next.Name != old.Name || next.Environment != old.Environment || cmp.Diff(edited.Scopes, next.Scopes) != "" || nextSecret == oldSecret {
			t.Errorf("the successor is %+v", next)
		}
		_, _, err = l.RotateKey(ctx, operator, g.org.ID, old.ID)
		g.wantCode("a second rotation", err, core.CodeConflict)
		g.wantAccepted(oldSecret, "")
		g.wantAccepted(nextSecret, "")
		if ended, err := l.ExpireGrace(ctx); ended != 0 || err != nil {
			t.Errorf("within the grace %d keys ended, %v", ended, err)
		}

		g.advance(access.Grace - time.Microsecond)
		g.wantAccepted(oldSecret, "")
		g.advance(time.Microsecond)
		g.wantAccepted(oldSecret, core.CodeKeyExpired)
		g.advance(30 * time.Second)
		for want := range []int{1, 0} {
			if ended, err := l.ExpireGrace(ctx); ended != 1-want || err != nil {
				t.Errorf("after the grace %d keys ended, %v", ended, err)
			}
		}
		g.wantAccepted(oldSecret, core.CodeKeyExpired)
		g.wantAccepted(nextSecret, "")

		_, err = l.RevokeKey(ctx, operator, g.org.ID, next.ID)
		g.must(err)
		g.wantAccepted(nextSecret, core.CodeKeyRevoked)
		_, err = l.RevokeKey(ctx, operator, g.org.ID, next.ID) // revoking twice changes nothing
		g.must(err)
		g.wantAccepted(access.MintAPIKey(core.Live).Secret, core.CodeInvalidKey)

		end, err := json.Marshal(rotated.Add(24 * time.Hour))
		g.must(err)
		by, byUser := "operator operator", "user "+user
		want := []line{
			{"api_key.created", by, old.ID, `{"environment":"live","scopes":["api.account.view","api.lists.view"]}`},
			{"api_key.scopes_updated", byUser, old.ID, `{"added":["api.topics.view"],"removed":["api.account.view"]}`},
			{"api_key.rotated", by, old.ID, `{"replaced_by":"` + next.ID + `","expires_at":` + string(end) + `}`},
			{"api_key.rotated", by, next.ID, `{"replaces":"` + old.ID + `"}`},
			{"api_key.grace_expired", "system mailhelm", old.ID, `{}`},
			{"api_key.revoked", by, next.ID, `{}`},
		}
		if diff := cmp.Diff(want, g.auditLines()); diff != "" {
			t.Errorf("audit log (-want +got):\n%s", diff)
		}
	})
}

func TestEndedKeysCannotBeChanged(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		g, ctx := newGate(t, db), t.Context()
		l := g.lifecycle()
		revoked, _ := g.mustCreateKey("api.lists.view")
		_, err := l.RevokeKey(ctx, operator, g.org.ID, revoked.ID)
		g.must(err)
		inGrace, inGraceSecret := g.mustCreateKey("api.lists.view")
		expired, _ := g.mustCreateKey("api.lists.view")
		for _, k := range []access.APIKey{inGrace, expired} {
			_, _, err := l.RotateKey(ctx, operator, g.org.ID, k.ID)
			g.must(err)
		}
		_, err = l.RevokeKey(ctx, operator, g.org.ID, inGrace.ID)
		g.must(err)
		g.wantAccepted(inGraceSecret, core.CodeKeyRevoked)
		g.advance(access.Grace)
		g.wantAccepted(inGraceSecret, core.CodeKeyRevoked)
		before := g.auditLines()
		for _, k := range []access.APIKey{revoked, inGrace, expired} {
			_, err = l.EditKeyScopes(ctx, operator, g.org.ID, k.ID, core.AllScopes())
			g.wantCode("edit", err, core.CodeConflict)
			_, _, err = l.RotateKey(ctx, operator, g.org.ID, k.ID)
			g.wantCode("rotate", err, core.CodeConflict)
			_, err = l.RevokeKey(ctx, operator, g.org.ID, k.ID)
			g.must(err)
		}
		if diff := cmp.Diff(before, g.auditLines()); diff != "" {
			t.Errorf("refusals left lines (-before +after):\n%s", diff)
		}
		if got, err := db.Keys().APIKey(ctx, g.org.ID, expired.ID); err != nil || got.RevokedAt != nil {
			t.Errorf("an expired key was revoked: %+v, %v", got, err)
		}
		if ended, err := l.ExpireGrace(ctx); ended != 1 || err != nil {
			t.Errorf("%d keys ended, %v; want the one that nobody revoked", ended, err)
		}
	})
}

func TestInvalidKeysAreRefused(t *testing.T) {
	t.Parallel()
	g := newGate(t, storagetest.SQLite(t))
	l, ctx := g.lifecycle(), t.Context()
	good := access.NewKey{OrgID: g.org.ID, Name: "CI", Environment: core.Test, Scopes: core.NewScopes("api.lists.view")}
	for what, c := range map[string]struct {
		change func(*access.NewKey)
		want   core.Code
	}{
		"no name":              {func(n *access.NewKey) { n.Name = " \u200b" }, core.CodeValidationFailed},
		"a line in the name":   {func(n *access.NewKey) { n.Name = "a\nb" }, core.CodeValidationFailed},
		"an escape sequence":   {func(n *access.NewKey) { n.Name = "\x1b[2Ja" }, core.CodeValidationFailed},
		"an unknown scope":     {func(n *access.NewKey) { n.Scopes = core.Scopes{"api.everything"} }, core.CodeValidationFailed},
		"no environment":       {func(n *access.NewKey) { n.Environment = "" }, core.CodeValidationFailed},
		"no such organization": {func(n *access.NewKey) { n.OrgID = core.NewID() }, core.CodeNotFound},
	} {
		n := good
		c.change(&n)
		_, secret, err := l.CreateKey(ctx, operator, n)
		g.wantCode(what, err, c.want)
		if secret != "" {
			t.Errorf("%s: a secret was returned", what)
		}
	}
	k, _ := g.mustCreateKey("api.lists.view")
	stranger := core.NewID()
	_, err := l.EditKeyScopes(ctx, operator, stranger, k.ID, nil)
	g.wantCode("another organization's edit", err, core.CodeNotFound)
	_, _, err = l.RotateKey(ctx, operator, stranger, k.ID)
	g.wantCode("another organization's rotation", err, core.CodeNotFound)
	_, err = l.RevokeKey(ctx, operator, stranger, k.ID)
	g.wantCode("another organization's revocation", err, core.CodeNotFound)
	if lines := g.auditLines(); len(lines) != 1 {
		t.Errorf("lines %v, want the one of the key that was made", lines)
	}
}

// TestConcurrentChangesOfAKeyAreSerialized checks that concurrent operations on one key
// run one after another. Only one rotation may create a new key, and only one operation
// may log that the old key was ended. Every change of scopes must be logged.
func TestConcurrentChangesOfAKeyAreSerialized(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		g, ctx := newGate(t, db), t.Context()
		k, _ := g.mustCreateKey("api.lists.view")
		count := func(times int, do func() bool) int {
			var wg sync.WaitGroup
			won := make(chan bool, times)
			for range times {
				wg.Go(func() { won <- do() })
			}
			wg.Wait()
			close(won)
			n := 0
			for w := range won {
				if w {
					n++
				}
			}
			return n
		}
		if n := count(8, func() bool {
			_, _, err := g.lifecycle().RotateKey(ctx, operator, g.org.ID, k.ID)
			return err == nil
		}); n != 1 {
			t.Errorf("%d successors, want 1", n)
		}
		g.advance(access.Grace)
		if n := count(8, func() bool {
			ended, err := g.lifecycle().ExpireGrace(ctx)
			if err != nil {
				t.Error(err)
			}
			return ended == 1
		}); n != 1 {
			t.Errorf("%d ended the grace, want 1", n)
		}
		if lines := g.auditLines(); len(lines) != 4 {
			t.Errorf("lines %v, want created, rotated twice and grace_expired", lines)
		}
	})
}

func TestGraceEndsByJob(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		g, ctx := newGate(t, db), t.Context()
		k, secret := g.mustCreateKey("api.lists.view")
		_, _, err := g.lifecycle().RotateKey(ctx, operator, g.org.ID, k.ID)
		g.must(err)
		g.advance(access.Grace)

		queue, err := db.NewJobs(engine.JobsConfig{Poll: 20 * time.Millisecond})
		g.must(err)
		worker, worked := g.lifecycle().GraceWorker(slog.New(slog.DiscardHandler)), make(chan error, 10)
		engine.AddWorker(queue, jobs.Worker[access.GraceArgs]{Every: worker.Every, Work: func(ctx context.Context, args access.GraceArgs) error {
			err := worker.Work(ctx, args)
			worked <- err
			return err
		}})
		g.must(queue.Start(ctx))
		g.must(<-worked)
		g.must(queue.Stop(context.WithoutCancel(ctx)))
		if worker.Every != time.Minute {
			t.Errorf("the job runs every %s", worker.Every)
		}
		if lines := g.auditLines(); lines[len(lines)-1] != (line{"api_key.grace_expired", "system mailhelm", k.ID, "{}"}) {
			t.Errorf("lines %v", lines)
		}
		g.wantAccepted(secret, core.CodeKeyExpired)
	})
}
