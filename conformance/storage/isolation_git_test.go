package storage_test

import (
	"reflect"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/core/git"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var gitStore = reflect.TypeFor[git.Store]()

// proposed is a proposal of an organization with a title.
func proposed(title string) git.Proposal {
	return git.Proposal{Branch: "mailhelm/a", Title: title, State: git.Open, Operation: "templates_author", CreatedAt: start, Blobs: map[string]string{"a": "b"}}
}

// ownRepository connects a repository of the owner, which a sync has reserved.
func (o ownedObjects) ownRepository(t *testing.T, db *storage.DB) {
	t.Helper()
	ctx, store := t.Context(), db.Git(masterKey(t, 1))
	must(t, store.InsertConnection(ctx, git.Connection{
		OrgID: o.org, ID: o.org, Kind: git.GitHub, Location: "Owner/definitions", Secret: "secret", Installation: 7, State: git.Waiting, CreatedAt: start,
	}))
	must(t, store.SaveProposal(ctx, o.org, proposed("owned")))
	_, _, ok, err := store.ClaimSync(ctx, o.org, o.org, start, later(60))
	must(t, err)
	if !ok {
		t.Error("the owner's repository is reserved")
	}
}

func (o ownedObjects) repositoryState(t *testing.T, db *storage.DB) []any {
	t.Helper()
	ctx, store := t.Context(), db.Git(masterKey(t, 1))
	c, err := store.Connection(ctx, o.org)
	must(t, err)
	proposals, err := store.Proposals(ctx, o.org, 10)
	must(t, err)
	org, err := db.Orgs().Org(ctx, o.org)
	must(t, err)
	return []any{c, proposals, org.GitConnected}
}

func gitCalls(o ownedObjects, org string) map[string]storeCall {
	call := func(f func(t *testing.T, store git.Store) (any, error)) storeCall {
		return func(t *testing.T, db *storage.DB) (any, error) {
			t.Helper()
			return f(t, db.Git(masterKey(t, 1)))
		}
	}
	return map[string]storeCall{
		"git.Store.Connection": call(func(t *testing.T, s git.Store) (any, error) { t.Helper(); return s.Connection(t.Context(), org) }),
		"git.Store.DeleteConnection": call(func(t *testing.T, s git.Store) (any, error) {
			t.Helper()
			return nil, s.DeleteConnection(t.Context(), org, o.org)
		}),
		"RequestSync": call(func(t *testing.T, s git.Store) (any, error) { t.Helper(); return nil, s.RequestSync(t.Context(), org) }),
		"ClaimSync": call(func(t *testing.T, s git.Store) (any, error) {
			t.Helper()
			c, _, _, err := s.ClaimSync(t.Context(), org, "thief", later(100), later(200))
			return c, err
		}),
		"FinishSync": call(func(t *testing.T, s git.Store) (any, error) {
			t.Helper()
			return s.FinishSync(t.Context(), git.Connection{OrgID: org, ID: o.org, Failure: "stolen"}, o.org, 0)
		}),
		"Proposals": call(func(t *testing.T, s git.Store) (any, error) { t.Helper(); return s.Proposals(t.Context(), org, 10) }),
		"SaveProposal": call(func(t *testing.T, s git.Store) (any, error) {
			t.Helper()
			return nil, s.SaveProposal(t.Context(), org, proposed("stolen"))
		}),
		"DecideProposal": call(func(t *testing.T, s git.Store) (any, error) {
			t.Helper()
			return nil, s.DecideProposal(t.Context(), org, "mailhelm/a", git.Closed)
		}),
		"git.Store.Adopt": call(func(t *testing.T, s git.Store) (any, error) {
			t.Helper()
			return nil, s.Adopt(t.Context(), org, definitions.Ref{Kind: definitions.KindSegment, Key: "vip"})
		}),
	}
}

// TestGitStore checks what the isolation table does not: reservations, and what a deletion releases.
func TestGitStore(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, store, org := t.Context(), db.Git(masterKey(t, 1)), newOrg(t, db)
		c := git.Connection{OrgID: org, ID: core.NewID(), Kind: git.Local, Location: "/srv/a.git", State: git.Waiting, CreatedAt: start}
		must(t, store.InsertConnection(ctx, c))
		if err := store.InsertConnection(ctx, c); !core.IsConflict(err) {
			t.Errorf("a second connection: %v", err)
		}
		claim := func(by string, after int) (int64, bool) {
			t.Helper()
			_, covered, ok, err := store.ClaimSync(ctx, org, by, later(after), later(after+10))
			must(t, err)
			return covered, ok
		}
		covered, ok := claim("first", 0)
		_, second := claim("second", 5)
		if !ok || second {
			t.Errorf("reserved %t and %t", ok, second)
		}
		must(t, store.RequestSync(ctx, org))
		c.State, c.Manifest, c.ReadAt, c.Revision = git.Synced, []byte("{}"), later(5), git.Revision{Branch: "main", Commit: "c0ffee", CommittedAt: start}
		c.Diagnostics = []definitions.Diagnostic{{Severity: definitions.Error, Code: "x", Message: "wrong", Path: "a", Line: 1, Column: 2}}
		if again, err := store.FinishSync(ctx, c, "first", covered); err != nil || !again {
			t.Errorf("%t, %v, want another sync for the later request", again, err)
		}
		got, err := store.Connection(ctx, org)
		must(t, err)
		if !reflect.DeepEqual(got, c) {
			t.Errorf("stored %+v, want %+v", got, c)
		}
		if covered, ok = claim("third", 6); !ok || covered != 1 {
			t.Errorf("%t for %d requests", ok, covered)
		}
		if _, ok = claim("fourth", 20); !ok {
			t.Error("a reservation that is over is kept")
		}
		if _, err := store.FinishSync(ctx, c, "third", covered); !core.IsNotFound(err) {
			t.Errorf("the result of an earlier reservation: %v", err)
		}
		must(t, store.DeleteConnection(ctx, org, c.ID))
		if stored, err := db.Orgs().Org(ctx, org); err != nil || stored.GitConnected {
			t.Errorf("%+v, %v", stored, err)
		}
	})
}
