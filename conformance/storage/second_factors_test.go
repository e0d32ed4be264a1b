package storage_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var errLost = errors.New("lost the race")

// wantWinners fails the test unless outcomes has exactly want nil errors and all its other
// errors are errLost.
func wantWinners(t *testing.T, what string, want int, outcomes []error) {
	t.Helper()
	winners := 0
	for _, err := range outcomes {
		switch {
		case err == nil:
			winners++
		case !errors.Is(err, errLost):
			t.Errorf("%s: %v", what, err)
		}
	}
	if winners != want {
		t.Errorf("%s: %d of %d won, want %d", what, winners, len(outcomes), want)
	}
}

func lostIfFalse(ok bool, err error) error {
	if err == nil && !ok {
		return errLost
	}
	return err
}

func TestAuthenticatorApps(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, store, ada, bob := t.Context(), db.Factors(), core.NewID(), core.NewID()
		_, err := store.AuthenticatorApp(ctx, ada)
		wantCode(t, "no app", err, core.CodeNotFound)
		must(t, store.SetAuthenticatorApp(ctx, people.AuthenticatorApp{UserID: ada, Sealed: []byte("first"), UsedStep: 9, CreatedAt: start}))
		app := people.AuthenticatorApp{UserID: ada, Sealed: []byte{1, 0, 2}, CreatedAt: later(1)}
		must(t, store.SetAuthenticatorApp(ctx, app))
		other := people.AuthenticatorApp{UserID: bob, Sealed: []byte{3}, CreatedAt: start}
		must(t, store.SetAuthenticatorApp(ctx, other))
		want := func(app people.AuthenticatorApp) {
			t.Helper()
			got, err := store.AuthenticatorApp(ctx, app.UserID)
			must(t, err)
			if diff := cmp.Diff(app, got); diff != "" {
				t.Errorf("AuthenticatorApp (-want +got):\n%s", diff)
			}
		}
		want(app)

		confirmed := later(2)
		for _, use := range []struct {
			step int64
			want bool
		}{{100, true}, {100, false}, {99, false}, {101, true}, {100, false}, {102, true}} {
			if got, err := store.UseStep(ctx, ada, use.step, confirmed); err != nil || got != use.want {
				t.Errorf("UseStep %d: %v, %v", use.step, got, err)
			}
			if app.ConfirmedAt == nil {
				app.ConfirmedAt = new(confirmed)
			}
			confirmed = confirmed.Add(1e9) // later uses do not change ConfirmedAt
		}
		app.UsedStep = 102
		want(app)
		want(other)
		wantCode(t, "in the place of a confirmed one", store.SetAuthenticatorApp(ctx, people.AuthenticatorApp{UserID: ada, Sealed: []byte{4}, CreatedAt: start}), core.CodeConflict)
		want(app)
		if taken, err := store.UseStep(ctx, core.NewID(), 1, start); taken || err != nil {
			t.Errorf("a step of nobody: %v, %v", taken, err)
		}
		must(t, store.DeleteAuthenticatorApp(ctx, ada))
		must(t, store.DeleteAuthenticatorApp(ctx, ada))
		_, err = store.AuthenticatorApp(ctx, ada)
		wantCode(t, "a deleted app", err, core.CodeNotFound)
		want(other)
	})
}

func TestOneTakesATimeStep(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, store, ada := t.Context(), db.Factors(), core.NewID()
		must(t, store.SetAuthenticatorApp(ctx, people.AuthenticatorApp{UserID: ada, Sealed: []byte{1}, CreatedAt: start}))
		wantWinners(t, "one step", 1, atOnce(8, func(int) error { return lostIfFalse(store.UseStep(ctx, ada, 7, start)) }))
	})
}

func TestRecoveryCodes(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, store, ada, bob := t.Context(), db.Factors(), core.NewID(), core.NewID()
		wantCodesLeft := func(user string, want int) {
			t.Helper()
			if got, err := store.RecoveryCodesLeft(ctx, user); err != nil || got != want {
				t.Errorf("RecoveryCodesLeft: %d, %v; want %d", got, err, want)
			}
		}
		wantCodesLeft(ada, 0)
		must(t, store.SetRecoveryCodes(ctx, ada, [][]byte{[]byte("a"), []byte("b"), []byte("c")}))
		must(t, store.SetRecoveryCodes(ctx, bob, [][]byte{[]byte("a")}))
		wantCodesLeft(ada, 3)
		if used, err := store.UseRecoveryCode(ctx, ada, []byte("x"), start); used || err != nil {
			t.Errorf("an unknown code: %v, %v", used, err)
		}
		wantWinners(t, "one code", 1, atOnce(8, func(int) error { return lostIfFalse(store.UseRecoveryCode(ctx, ada, []byte("a"), start)) }))
		wantCodesLeft(ada, 2)
		wantCodesLeft(bob, 1)
		must(t, store.SetRecoveryCodes(ctx, ada, [][]byte{[]byte("d")}))
		wantCodesLeft(ada, 1)
		if used, err := store.UseRecoveryCode(ctx, ada, []byte("b"), start); used || err != nil {
			t.Errorf("a replaced code: %v, %v", used, err)
		}
		must(t, store.SetRecoveryCodes(ctx, ada, nil))
		wantCodesLeft(ada, 0)
		wantCodesLeft(bob, 1)
	})
}

func newPasskey(user, credential string, second int) people.Passkey {
	return people.Passkey{
		ID: core.NewID(), UserID: user, CredentialID: []byte(credential), Name: "Phone", Credential: `{"a":1}`, CreatedAt: later(second),
	}
}

func TestPasskeys(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, store, ada, bob := t.Context(), db.Passkeys(), core.NewID(), core.NewID()
		second, first, other := newPasskey(ada, "two", 2), newPasskey(ada, "one", 1), newPasskey(bob, "three", 1)
		for _, p := range []people.Passkey{second, first, other} {
			must(t, store.InsertPasskey(ctx, p))
		}
		wantCode(t, "a credential twice", store.InsertPasskey(ctx, newPasskey(bob, "one", 3)), core.CodeConflict)
		want := func(user string, passkeys ...people.Passkey) {
			t.Helper()
			got, err := store.Passkeys(ctx, user)
			must(t, err)
			if len(got)+len(passkeys) > 0 && cmp.Diff(passkeys, got) != "" {
				t.Errorf("Passkeys (-want +got):\n%s", cmp.Diff(passkeys, got))
			}
		}
		want(ada, first, second)
		second.Name, second.Credential, second.LastUsedAt = "Key", "{}", new(later(9))
		must(t, store.SetPasskey(ctx, second))
		if got, err := store.PasskeyByCredential(ctx, []byte("two")); err != nil || cmp.Diff(second, got) != "" {
			t.Errorf("PasskeyByCredential: %+v, %v", got, err)
		}
		_, err := store.PasskeyByCredential(ctx, []byte("guess"))
		wantCode(t, "an unknown credential", err, core.CodeNotFound)

		stolen := second
		stolen.UserID = bob
		wantCode(t, "a passkey of somebody else", store.SetPasskey(ctx, stolen), core.CodeNotFound)
		wantCode(t, "a passkey of somebody else", store.DeletePasskey(ctx, bob, second.ID), core.CodeNotFound)
		want(ada, first, second)
		must(t, store.DeletePasskey(ctx, ada, first.ID))
		want(ada, second)
		must(t, store.DeletePasskeysOf(ctx, ada))
		want(ada)
		want(bob, other)
	})
}

func TestPasskeyCeremonies(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, store := t.Context(), db.Passkeys()
		ask := func(hash string, second int) people.PasskeyCeremony {
			c := people.PasskeyCeremony{Hash: []byte(hash), UserID: core.NewID(), Purpose: "confirm", Data: "{}", ExpiresAt: later(second)}
			must(t, store.InsertCeremony(ctx, c))
			return c
		}
		a := ask("a", 10)
		wantCode(t, "a ceremony twice", store.InsertCeremony(ctx, a), core.CodeConflict)
		if got, err := store.TakeCeremony(ctx, a.Hash, later(9)); err != nil || cmp.Diff(a, got) != "" {
			t.Errorf("TakeCeremony: %+v, %v", got, err)
		}
		_, err := store.TakeCeremony(ctx, a.Hash, later(9))
		wantCode(t, "taken before", err, core.CodeNotFound)
		b := ask("b", 10)
		_, err = store.TakeCeremony(ctx, b.Hash, later(10))
		wantCode(t, "expired", err, core.CodeNotFound)
		c := ask("c", 20)
		wantWinners(t, "one ceremony", 1, atOnce(8, func(int) error {
			_, err := store.TakeCeremony(ctx, c.Hash, later(1))
			if e := core.AsError(err); err != nil && e.Code == core.CodeNotFound {
				return errLost
			}
			return err
		}))
		ask("d", 20)
		for _, step := range []struct{ at, want int }{{9, 0}, {10, 1}, {19, 0}, {20, 1}} {
			if n, err := store.PurgeCeremonies(ctx, later(step.at)); err != nil || n != step.want {
				t.Errorf("PurgeCeremonies at %d s: %d, %v; want %d", step.at, n, err, step.want)
			}
		}
	})
}
