package storage_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// newCode stores an authorization code of the grant g that expires 60 s after start, and
// returns it.
func newCode(t *testing.T, db *storage.DB, g access.Grant) access.AuthorizationCode {
	t.Helper()
	c := access.AuthorizationCode{
		Hash: []byte(core.NewID()), GrantID: g.ID, OrgID: g.OrgID, ClientID: g.ClientID,
		RedirectURI: "https://client.example/callback?x=ü", Challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
		ExpiresAt: later(60),
	}
	must(t, db.Tokens().InsertCode(t.Context(), c))
	return c
}

func TestACodeIsGoodOnce(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, g := t.Context(), newGrant(t, db, newOrg(t, db))
		code := newCode(t, db, g)
		wantCode(t, "a code twice", db.Tokens().InsertCode(ctx, code), core.CodeConflict)
		got, outcome, err := db.Tokens().RedeemCode(ctx, code.Hash, later(59))
		if err != nil || outcome != access.Redeemed {
			t.Fatalf("the first time: %v, %v", outcome, err)
		}
		if diff := cmp.Diff(code, got); diff != "" {
			t.Errorf("RedeemCode (-want +got):\n%s", diff)
		}
		wantRevoked(t, db, g, nil)

		theft := later(61) // a second use is detected even after the code has expired
		got, outcome, err = db.Tokens().RedeemCode(ctx, code.Hash, theft)
		if err != nil || outcome != access.Replayed || got.GrantID != g.ID {
			t.Errorf("the second time: %+v, %v, %v", got, outcome, err)
		}
		wantRevoked(t, db, g, &theft)
		if _, outcome, err := db.Tokens().RedeemCode(ctx, code.Hash, later(62)); err != nil || outcome != access.Replayed {
			t.Errorf("the third time: %v, %v", outcome, err)
		}
		wantRevoked(t, db, g, &theft)
	})
}

func TestCodesThatAreUnknown(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, store, org := t.Context(), db.Grants(), newOrg(t, db)
		live, revoked := newGrant(t, db, org), newGrant(t, db, org)
		expired, late := newCode(t, db, live), newCode(t, db, revoked)
		twin := revoked // a grant with the same id in another organization, which must not be revoked
		twin.OrgID = newOrg(t, db)
		must(t, store.InsertGrant(ctx, twin))
		must(t, store.RevokeGrant(ctx, org, revoked.ID, later(1)))
		for what, c := range map[string]struct {
			hash []byte
			at   int
		}{
			"one never issued":         {[]byte("guess"), 1},
			"one that has expired":     {expired.Hash, 60},
			"one of a revoked grant":   {late.Hash, 2},
			"the empty one":            {[]byte{}, 1},
			"one that is part of one":  {expired.Hash[:8], 1},
			"one that is absent (nil)": {nil, 1},
		} {
			got, outcome, err := db.Tokens().RedeemCode(ctx, c.hash, later(c.at))
			if diff := cmp.Diff(access.AuthorizationCode{}, got); err != nil || outcome != access.Unknown || diff != "" {
				t.Errorf("%s: %v, %v\n%s", what, outcome, err, diff)
			}
		}
		wantRevoked(t, db, live, nil)
		if _, outcome, err := db.Tokens().RedeemCode(ctx, expired.Hash, later(59)); err != nil || outcome != access.Redeemed {
			t.Errorf("a code that was tried too late and then in time: %v, %v", outcome, err)
		}
	})
}

func TestRacesForACode(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		const racers = 50
		g := newGrant(t, db, newOrg(t, db))
		code := newCode(t, db, g)
		var outcomes [3]atomic.Int32
		for _, err := range atOnce(racers, func(int) error {
			_, outcome, err := db.Tokens().RedeemCode(t.Context(), code.Hash, later(1))
			outcomes[outcome].Add(1)
			return err
		}) {
			must(t, err)
		}
		if won, replayed := outcomes[access.Redeemed].Load(), outcomes[access.Replayed].Load(); won != 1 || replayed != racers-1 {
			t.Errorf("%d redeemed it and %d replayed it, want 1 and %d", won, replayed, racers-1)
		}
		theft := later(1)
		wantRevoked(t, db, g, &theft)
	})
}

// TestRedeemingInATransaction checks that a rollback makes an authorization code redeemable
// again, and that only one of several concurrent transactions redeems it.
func TestRedeemingInATransaction(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		g := newGrant(t, db, newOrg(t, db))
		code := newCode(t, db, g)
		undone := errors.New("by test")
		err := db.InTx(t.Context(), func(ctx context.Context) error {
			_, outcome, err := db.Tokens().RedeemCode(ctx, code.Hash, later(1))
			if err != nil || outcome != access.Redeemed {
				t.Errorf("in a transaction: %v, %v", outcome, err)
			}
			return undone
		})
		if !errors.Is(err, undone) {
			t.Fatal(err)
		}

		const racers = 20
		var issued atomic.Int32
		for _, err := range atOnce(racers, func(int) error {
			return db.InTx(t.Context(), func(ctx context.Context) error {
				_, outcome, err := db.Tokens().RedeemCode(ctx, code.Hash, later(1))
				if err != nil || outcome != access.Redeemed {
					return err
				}
				issued.Add(1)
				return db.Tokens().InsertRefreshToken(ctx, nextToken(g))
			})
		}) {
			must(t, err)
		}
		if issued.Load() != 1 {
			t.Errorf("%d exchanges issued a token, want 1", issued.Load())
		}
	})
}

// TestPurgeTakesGrantsWithoutARedeemedCode checks that PurgeGrants removes a grant once its
// authorization code has expired without being redeemed.
func TestPurgeTakesGrantsWithoutARedeemedCode(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, store, org := t.Context(), db.Grants(), newOrg(t, db)
		forgotten, redeemed, revoked, coded := newGrant(t, db, org), newGrant(t, db, org), newGrant(t, db, org), newGrant(t, db, org)
		twin := forgotten // a grant with the same id in another organization, which must be kept
		twin.OrgID = newOrg(t, db)
		must(t, store.InsertGrant(ctx, twin))
		newCode(t, db, forgotten)
		newCode(t, db, revoked)
		used := newCode(t, db, redeemed)
		if _, outcome, err := db.Tokens().RedeemCode(ctx, used.Hash, later(59)); err != nil || outcome != access.Redeemed {
			t.Fatal(outcome, err)
		}
		must(t, store.RevokeGrant(ctx, org, revoked.ID, later(1)))
		if n, err := store.PurgeGrants(ctx, later(59)); err != nil || n != 0 {
			t.Errorf("a purge while the codes are good: %d, %v", n, err)
		}
		// At the second purge the codes no longer exist, because the first purge has deleted
		// them. The second purge must still keep the grant whose code was redeemed.
		for range 2 {
			_, err := store.PurgeGrants(ctx, later(60))
			must(t, err)
		}
		for _, gone := range []access.Grant{forgotten, revoked} {
			_, err := store.Grant(ctx, org, gone.ID)
			wantCode(t, "a grant whose code was not redeemed", err, core.CodeNotFound)
		}
		for _, kept := range []access.Grant{redeemed, coded, twin} {
			wantRevoked(t, db, kept, nil)
		}
	})
}
