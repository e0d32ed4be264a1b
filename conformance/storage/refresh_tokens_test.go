package storage_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// nextToken returns a new refresh token of the grant g without storing it.
func nextToken(g access.Grant) access.RefreshToken {
	return access.RefreshToken{Hash: []byte(core.NewID()), GrantID: g.ID, OrgID: g.OrgID, ClientID: g.ClientID, IssuedAt: start}
}

func newToken(t *testing.T, db *storage.DB, g access.Grant) access.RefreshToken {
	t.Helper()
	token := nextToken(g)
	must(t, db.Tokens().InsertRefreshToken(t.Context(), token))
	return token
}

// wantToken fails the test unless the refresh token is stored and its used state is
// wantUsed.
func wantToken(t *testing.T, db *storage.DB, want access.RefreshToken, wantUsed bool) {
	t.Helper()
	got, used, err := db.Tokens().PeekRefreshToken(t.Context(), want.Hash)
	must(t, err)
	if diff := cmp.Diff(want, got); used != wantUsed || diff != "" {
		t.Errorf("used %v, want %v (-want +got):\n%s", used, wantUsed, diff)
	}
}

func wantNoToken(t *testing.T, db *storage.DB, token access.RefreshToken) {
	t.Helper()
	_, _, err := db.Tokens().PeekRefreshToken(t.Context(), token.Hash)
	wantCode(t, "a token that is not stored", err, core.CodeNotFound)
}

func TestRotation(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, g := t.Context(), newGrant(t, db, newOrg(t, db))
		family := []access.RefreshToken{newToken(t, db, g)}
		wantCode(t, "a token twice", db.Tokens().InsertRefreshToken(ctx, family[0]), core.CodeConflict)
		wantToken(t, db, family[0], false)
		for i := range 3 {
			next := nextToken(g)
			outcome, err := db.Tokens().RotateRefreshToken(ctx, family[i].Hash, next, later(i))
			if err != nil || outcome != access.Redeemed {
				t.Fatalf("rotation %d: %v, %v", i, outcome, err)
			}
			wantToken(t, db, family[i], true)
			wantToken(t, db, next, false)
			family = append(family, next)
		}
		wantRevoked(t, db, g, nil)

		// A replay of the first refresh token revokes the grant, so that the current token
		// stops working too.
		theft, stolen := later(10), nextToken(g)
		if outcome, err := db.Tokens().RotateRefreshToken(ctx, family[0].Hash, stolen, theft); err != nil || outcome != access.Replayed {
			t.Errorf("the first generation again: %v, %v", outcome, err)
		}
		wantNoToken(t, db, stolen)
		wantRevoked(t, db, g, &theft)
		if outcome, err := db.Tokens().RotateRefreshToken(ctx, family[3].Hash, stolen, later(11)); err != nil || outcome != access.Unknown {
			t.Errorf("the live one of a revoked grant: %v, %v", outcome, err)
		}
		wantNoToken(t, db, stolen)
		wantToken(t, db, family[3], false)
	})
}

// TestRotationStaysInTheFamily checks that a refresh token cannot be rotated for another
// organization, grant or client. The outcome must be Unknown for used and unused tokens, so
// that it does not reveal whether the token exists.
func TestRotationStaysInTheFamily(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, g := t.Context(), newGrant(t, db, newOrg(t, db))
		token, used := newToken(t, db, g), newToken(t, db, g)
		if outcome, err := db.Tokens().RotateRefreshToken(ctx, used.Hash, nextToken(g), start); err != nil || outcome != access.Redeemed {
			t.Fatalf("%v, %v", outcome, err)
		}
		client := nextToken(g)
		client.ClientID = "oc_live_other"
		for what, next := range map[string]access.RefreshToken{
			"another organization": nextToken(newGrant(t, db, newOrg(t, db))),
			"another grant":        nextToken(newGrant(t, db, g.OrgID)),
			"another client":       client,
		} {
			for _, old := range []access.RefreshToken{token, used} {
				if outcome, err := db.Tokens().RotateRefreshToken(ctx, old.Hash, next, start); err != nil || outcome != access.Unknown {
					t.Errorf("to %s: %v, %v", what, outcome, err)
				}
			}
			wantNoToken(t, db, next)
		}
		if outcome, err := db.Tokens().RotateRefreshToken(ctx, []byte("guess"), nextToken(g), start); err != nil || outcome != access.Unknown {
			t.Errorf("a guess: %v, %v", outcome, err)
		}
		wantToken(t, db, token, false)
		wantRevoked(t, db, g, nil)
	})
}

func TestRacesForARefreshToken(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		const racers, each = 8, 125
		g := newGrant(t, db, newOrg(t, db))
		old := newToken(t, db, g)
		var outcomes [racers][3]int
		var issued [racers][]access.RefreshToken
		for _, err := range atOnce(racers, func(i int) error {
			for range each {
				next := nextToken(g)
				outcome, err := db.Tokens().RotateRefreshToken(t.Context(), old.Hash, next, later(1))
				if err != nil {
					return err
				}
				outcomes[i][outcome]++
				if _, _, err := db.Tokens().PeekRefreshToken(t.Context(), next.Hash); err == nil {
					issued[i] = append(issued[i], next)
				}
			}
			return nil
		}) {
			must(t, err)
		}
		var total [3]int
		stored := 0
		for i := range racers {
			for outcome, n := range outcomes[i] {
				total[outcome] += n
			}
			stored += len(issued[i])
		}
		if want := [3]int{access.Redeemed: 1, access.Replayed: racers*each - 1}; total != want || stored != 1 {
			t.Errorf("outcomes %v, want %v; %d next tokens stored, want 1", total, want, stored)
		}
		theft := later(1)
		wantRevoked(t, db, g, &theft)
	})
}

func TestARotationThatIsUndone(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		g := newGrant(t, db, newOrg(t, db))
		old, taken, next := newToken(t, db, g), newToken(t, db, g), nextToken(g)
		undone := errors.New("by test")
		err := db.InTx(t.Context(), func(ctx context.Context) error {
			if outcome, err := db.Tokens().RotateRefreshToken(ctx, old.Hash, next, start); err != nil || outcome != access.Redeemed {
				t.Errorf("in a transaction: %v, %v", outcome, err)
			}
			return undone
		})
		if !errors.Is(err, undone) {
			t.Fatal(err)
		}
		wantNoToken(t, db, next)
		wantToken(t, db, old, false)

		_, err = db.Tokens().RotateRefreshToken(t.Context(), old.Hash, taken, start)
		wantCode(t, "a next token that exists", err, core.CodeConflict)
		wantToken(t, db, old, false)
	})
}

func TestPurgeGrants(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, store, org := t.Context(), db.Grants(), newOrg(t, db)
		expires := later(100)
		bounded := access.Grant{ID: core.NewID(), OrgID: org, ClientID: "c", CreatedAt: start, ExpiresAt: &expires}
		must(t, store.InsertGrant(ctx, bounded))
		endless, revoked := newGrant(t, db, org), newGrant(t, db, org)
		for _, g := range []access.Grant{bounded, endless, revoked} {
			old := newToken(t, db, g)
			if outcome, err := db.Tokens().RotateRefreshToken(ctx, old.Hash, nextToken(g), start); err != nil || outcome != access.Redeemed {
				t.Fatalf("%v, %v", outcome, err)
			}
		}
		must(t, store.RevokeGrant(ctx, org, revoked.ID, later(200)))
		newCode(t, db, newGrant(t, db, org)) // expires after 60 s, like the code used below
		used := newCode(t, db, endless)
		_, _, err := db.Tokens().RedeemCode(ctx, used.Hash, start)
		must(t, err)
		must(t, db.Tokens().DenyToken(ctx, core.NewID(), later(300)))
		for _, step := range []struct{ at, want int }{{59, 0}, {60, 3}, {99, 0}, {100, 1}, {199, 0}, {200, 1}, {299, 0}, {300, 1}, {900000, 0}} {
			if n, err := store.PurgeGrants(ctx, later(step.at)); err != nil || n != step.want {
				t.Errorf("PurgeGrants at %d s: %d, %v; want %d", step.at, n, err, step.want)
			}
		}
	})
}
