package storage_test

import (
	"reflect"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/core/git"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var gitStore, adoptionStore = reflect.TypeFor[git.Store](), reflect.TypeFor[git.Adoptions]()

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
	for _, key := range []string{"adopted", "defined"} {
		must(t, db.Segments().InsertSegment(ctx, o.org, segments.Segment{
			ID: core.NewID(), Key: key, Name: key, Source: `attr.email = "none@x"`, ProfileVersion: 1, EvalClass: predicate.Incremental,
			Status: segments.Active, Origin: segments.Git, SourcePath: "a.predicate", CreatedAt: start, UpdatedAt: start,
		}))
	}
	must(t, store.Adopt(ctx, o.org, git.Adoption{Ref: segmentRef("adopted"), AdoptedAt: start}))
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
	adopted, err := store.Adopted(ctx, o.org)
	must(t, err)
	defined, err := db.Segments().AllSegments(ctx, o.org)
	must(t, err)
	return []any{c, proposals, org.GitConnected, adopted, defined}
}

func segmentRef(key string) definitions.Ref {
	return definitions.Ref{Kind: definitions.KindSegment, Key: key}
}

// adoptAsOther lets another organization with a repository adopt a definition, which it does not have.
func adoptAsOther(t *testing.T, db *storage.DB, key string) error {
	t.Helper()
	org := newOrg(t, db)
	store, c := db.Git(masterKey(t, 1)), git.Connection{OrgID: org, ID: core.NewID(), Kind: git.Local, Location: "/srv/a.git", State: git.Waiting, CreatedAt: start}
	must(t, store.InsertConnection(t.Context(), c))
	return store.Adopt(t.Context(), org, git.Adoption{Ref: segmentRef(key), AdoptedAt: start})
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
		"git.Adoptions.Adopt": func(t *testing.T, db *storage.DB) (any, error) { return nil, adoptAsOther(t, db, "defined") },
		"Adopted": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Git(masterKey(t, 1)).Adopted(t.Context(), org)
		},
		"EndAdoption": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Git(masterKey(t, 1)).EndAdoption(t.Context(), org, segmentRef("adopted"))
		},
	}
}

// TestAdoptions checks which definitions can be adopted and when, and what ends an adoption.
func TestAdoptions(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, store, org := t.Context(), db.Git(masterKey(t, 1)), newOrg(t, db)
		adopt := func(ref definitions.Ref, after int) error {
			return store.Adopt(ctx, org, git.Adoption{Ref: ref, AdoptedAt: later(after)})
		}
		wantCode(t, "without a connection", adopt(segmentRef("a"), 0), core.CodeNotFound)
		c := git.Connection{OrgID: org, ID: core.NewID(), Kind: git.Local, Location: "/srv/a.git", State: git.Waiting, CreatedAt: start}
		must(t, store.InsertConnection(ctx, c))
		for key, status := range map[string]segments.Status{"a": segments.Active, "b": segments.Invalid, "gone": segments.Archived} {
			must(t, db.Segments().InsertSegment(ctx, org, segments.Segment{
				ID: core.NewID(), Key: key, Name: key, Source: "x", ProfileVersion: 1, EvalClass: predicate.Incremental,
				Status: status, Origin: segments.Git, SourcePath: "a.predicate", CreatedAt: start, UpdatedAt: start,
			}))
		}
		list := lists.List{ID: core.NewID(), Key: "a", Name: "A", Origin: core.GitOrigin, Source: "api", Status: "active", CreatedAt: start, UpdatedAt: start}
		must(t, db.Lists().InsertList(ctx, org, list))
		wantCode(t, "a list", adopt(definitions.Ref{Kind: definitions.KindList, Key: "a"}, 0), core.CodeNotFound)
		wantCode(t, "a workflow with the key of a segment", adopt(definitions.Ref{Kind: definitions.KindWorkflow, Key: "a"}, 0), core.CodeNotFound)
		wantCode(t, "an archived segment", adopt(segmentRef("gone"), 0), core.CodeNotFound)
		_, _, ok, err := store.ClaimSync(ctx, org, "sync", later(0), later(10))
		must(t, err)
		wantCode(t, "while a sync runs", adopt(segmentRef("a"), 5), core.CodeConflict)
		if again, err := store.FinishSync(ctx, c, "sync", 0); err != nil || !ok || again {
			t.Errorf("%t, %t, %v: the refused adoptions have requested a sync", ok, again, err)
		}
		must(t, adopt(segmentRef("b"), 6))
		must(t, adopt(segmentRef("a"), 7))
		wantCode(t, "twice", adopt(segmentRef("a"), 8), core.CodeNotFound)
		adopted, err := store.Adopted(ctx, org)
		must(t, err)
		if want := []git.Adoption{{Ref: segmentRef("a"), AdoptedAt: later(7)}, {Ref: segmentRef("b"), AdoptedAt: later(6)}}; !reflect.DeepEqual(adopted, want) {
			t.Errorf("adopted %+v, want %+v", adopted, want)
		}
		if a, err := db.Segments().Segment(ctx, org, "a"); err != nil || a.Origin != segments.Managed || a.SourcePath != "" {
			t.Errorf("%v, %+v", err, a)
		}
		must(t, store.EndAdoption(ctx, org, segmentRef("a")))
		wantCode(t, "ended twice", store.EndAdoption(ctx, org, segmentRef("a")), core.CodeNotFound)
		must(t, store.DeleteConnection(ctx, org, c.ID))
		if adopted, err = store.Adopted(ctx, org); err != nil || len(adopted) != 0 {
			t.Errorf("%v, %+v after the connection was deleted", err, adopted)
		}
	})
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
		c.State, c.Manifest, c.TestData, c.ReadAt, c.Revision = git.Synced, []byte("{}"), []string{"fixtures/a/vip.json"}, later(5), git.Revision{Branch: "main", Commit: "c0ffee", CommittedAt: start}
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
