package storage_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// newSession stores a session that expires 100 s after start, and returns it.
func newSession(t *testing.T, db *storage.DB, org, user string) people.Session {
	t.Helper()
	s := people.Session{
		Hash: []byte(core.NewID()), UserID: user, OrgID: org, CreatedAt: start, LastSeenAt: start, ExpiresAt: later(100),
	}
	must(t, db.Sessions().InsertSession(t.Context(), s))
	return s
}

func wantSession(t *testing.T, db *storage.DB, want people.Session) {
	t.Helper()
	got, err := db.Sessions().Session(t.Context(), want.Hash, later(1))
	must(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Session (-want +got):\n%s", diff)
	}
}

func wantNoSession(t *testing.T, db *storage.DB, hash []byte, at int) {
	t.Helper()
	_, err := db.Sessions().Session(t.Context(), hash, later(at))
	wantCode(t, "a session that is not there", err, core.CodeNotFound)
}

func TestSessions(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, store, org := t.Context(), db.Sessions(), newOrg(t, db)
		session := newSession(t, db, org, core.NewID())
		other := newSession(t, db, org, core.NewID())
		wantSession(t, db, session)
		wantCode(t, "a session twice", store.InsertSession(ctx, session), core.CodeConflict)
		if _, err := store.Session(ctx, session.Hash, later(99)); err != nil {
			t.Errorf("a moment before its end: %v", err)
		}
		wantNoSession(t, db, session.Hash, 100)
		wantNoSession(t, db, []byte("guess"), 1)
		wantNoSession(t, db, nil, 1)

		proved := later(30)
		session.OrgID, session.LastSeenAt, session.ExpiresAt, session.SecondFactorAt = newOrg(t, db), later(31), later(200), &proved
		must(t, store.TouchSession(ctx, session))
		wantSession(t, db, session)
		wantSession(t, db, other)

		awaiting := newSession(t, db, org, core.NewID())
		awaiting.Hash, awaiting.AwaitsSecondFactor = []byte("awaiting"), true
		must(t, store.InsertSession(ctx, awaiting))
		wantSession(t, db, awaiting)

		stolen := session
		stolen.UserID = core.NewID()
		wantCode(t, "a session of somebody else", store.TouchSession(ctx, stolen), core.CodeNotFound)
		wantSession(t, db, session)
	})
}

func TestSigningOut(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, store, org, ada := t.Context(), db.Sessions(), newOrg(t, db), core.NewID()
		here, phone, desk := newSession(t, db, org, ada), newSession(t, db, org, ada), newSession(t, db, newOrg(t, db), ada)
		other := newSession(t, db, org, core.NewID())
		must(t, store.DeleteSession(ctx, here.Hash))
		must(t, store.DeleteSession(ctx, here.Hash))
		wantNoSession(t, db, here.Hash, 1)
		wantSession(t, db, phone)
		wantCode(t, "a session that ended", store.TouchSession(ctx, here), core.CodeNotFound)

		lapsed := newSession(t, db, org, ada)
		if ended, err := store.DeleteOtherSessionsOf(ctx, ada, phone.Hash); err != nil || ended < 1 {
			t.Errorf("%d ended, %v", ended, err)
		}
		wantSession(t, db, phone)
		wantSession(t, db, other)
		wantNoSession(t, db, lapsed.Hash, 1)

		must(t, store.DeleteSessionsOf(ctx, ada))
		wantNoSession(t, db, phone.Hash, 1)
		wantNoSession(t, db, desk.Hash, 1)
		wantSession(t, db, other)
	})
}

func TestPurgeSessions(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, store, org := t.Context(), db.Sessions(), newOrg(t, db)
		newSession(t, db, org, core.NewID())
		longer := newSession(t, db, org, core.NewID())
		longer.ExpiresAt = later(200)
		must(t, store.TouchSession(ctx, longer))
		for _, step := range []struct{ at, want int }{{99, 0}, {100, 1}, {199, 0}, {200, 1}, {201, 0}} {
			if n, err := store.PurgeSessions(ctx, later(step.at)); err != nil || n != step.want {
				t.Errorf("PurgeSessions at %d s: %d, %v; want %d", step.at, n, err, step.want)
			}
		}
	})
}
