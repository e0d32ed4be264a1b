package oauth_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/bearer"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/oauth"
)

// rotate creates a new signing key and returns its key id. The new key signs after the
// duration signing.Notice, or immediately if atOnce is true.
func (w *world) rotate(atOnce bool) string {
	w.t.Helper()
	next, err := signing.Rotation{Store: w.db.SigningKeys(), Transactor: w.db, Master: w.master, Clock: w.clock}.Rotate(w.t.Context(), atOnce)
	w.must(err)
	return next.ID
}

// otherProcess returns the signing keys and the authenticator of another process on the same
// stores, with separate caches.
func (w *world) otherProcess() (*signing.Keys, *bearer.Authenticator) {
	w.t.Helper()
	keys, err := signing.NewKeys(w.t.Context(), w.db.SigningKeys(), w.master, w.clock)
	w.must(err)
	config := w.config
	config.Keys = keys
	verifier, err := oauth.NewVerifier(config)
	w.must(err)
	return keys, bearer.NewAuthenticator(bearer.AuthenticatorConfig{
		Stores: w.db.Access(), Orgs: w.db.Orgs(), Members: members.Ceilings{Members: w.db.Members()}, Tokens: verifier, Clock: w.clock,
	})
}

func (w *world) kidOf(token string) string {
	kid, _ := w.claimsOf(token, 0)["kid"].(string)
	return kid
}

// publishes reports whether the published key set has a key with this key id.
func (w *world) publishes(kid string) bool {
	w.t.Helper()
	var set jose.JSONWebKeySet
	w.must(json.Unmarshal([]byte(w.do(w.request(http.MethodGet, oauth.KeySetPath, "")).body), &set))
	return len(set.Key(kid)) == 1
}

func TestTokensOutliveARotation(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		before := w.goodToken(w.live)
		old, next := w.kidOf(before), w.rotate(false)
		_, other := w.otherProcess()
		w.must(w.keys.Reload(t.Context()))
		if !w.publishes(next) || w.kidOf(w.goodToken(w.live)) != old {
			t.Error("the new key is to be published, and the old one to sign")
		}
		w.advance(signing.Notice)
		after := w.goodToken(w.live)
		if w.kidOf(after) != next || !w.publishes(old) {
			t.Errorf("%s signs, want %s", w.kidOf(after), next)
		}
		for _, process := range []*bearer.Authenticator{w.auth, other} {
			for _, token := range []string{before, after} {
				if _, err := process.Authenticate(t.Context(), token, access.API); err != nil {
					t.Error(err)
				}
			}
		}
		w.advance(signing.Overlap)
		if w.publishes(old) {
			t.Error("the old key is still published")
		}
		// Neither of the next two tokens has expired. So only the key id in the header can be
		// the reason why the second is refused.
		kid, private := w.keys.Current()
		late := w.forge(func(f *forgery) { f.claims["exp"] = w.clock().Add(time.Minute).Unix() })
		if _, err := w.auth.Authenticate(t.Context(), late, access.API); err != nil || kid != next || private == nil {
			t.Errorf("a token of the new key: %v", err)
		}
		late = w.forge(func(f *forgery) {
			f.claims["exp"] = w.clock().Add(time.Minute).Unix()
			f.header["kid"] = old
		})
		if _, err := w.auth.Authenticate(t.Context(), late, access.API); err == nil {
			t.Error("a token with the old kid is accepted after the overlap")
		}
	})
}

// TestProcessesThatDisagreeAcceptEachOther checks that two processes accept each other's
// tokens when only one of them has loaded a new signing key.
func TestProcessesThatDisagreeAcceptEachOther(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		keys, other := w.otherProcess()
		next := w.rotate(true)
		stale := w.goodToken(w.live) // signed by the process that has not loaded the new key
		w.must(keys.Reload(t.Context()))
		if _, err := other.Authenticate(t.Context(), stale, access.API); err != nil {
			t.Errorf("a token of the retired key: %v", err)
		}
		kid, private := keys.Current()
		fresh := w.forge(func(f *forgery) { f.key, f.header["kid"] = private, kid })
		if _, err := w.auth.Authenticate(t.Context(), fresh, access.API); err != nil || kid != next {
			t.Errorf("a token of a key that is new to the process: %v", err)
		}
		if got := w.kidOf(w.goodToken(w.live)); got != next {
			t.Errorf("%s signs after that, want %s", got, next)
		}
	})
}

// TestRevokingOldKeysEndsAccessTokensAlone checks that revoking old signing keys ends the
// access tokens that they signed, in every process that reloads the keys. Grants and
// refresh tokens must stay valid.
func TestRevokingOldKeysEndsAccessTokensAlone(t *testing.T) {
	t.Parallel()
	once(t, func(t *testing.T, w *world) {
		family := w.family(w.app)
		old := w.goodToken(w.live)
		kid, private := w.keys.Current()
		keys, other := w.otherProcess()
		keys.OnRevoke(other.ForgetTokens)
		w.keys.OnRevoke(w.auth.ForgetTokens)
		next, err := signing.Rotation{Store: w.db.SigningKeys(), Transactor: w.db, Master: w.master, Clock: w.clock}.RevokeOld(t.Context())
		w.must(err)
		if _, err := other.Authenticate(t.Context(), old, access.API); err != nil {
			t.Errorf("before the other process reads the keys: %v", err)
		}
		w.must(w.keys.Reload(t.Context()))
		w.must(keys.Reload(t.Context()))
		forged := w.forge(func(f *forgery) { f.key, f.header["kid"] = private, kid })
		for _, process := range []*bearer.Authenticator{w.auth, other} {
			for _, token := range []string{old, family.AccessToken, forged} {
				if _, err := process.Authenticate(t.Context(), token, access.API); err == nil {
					t.Error("a token of a revoked key is accepted")
				}
			}
		}
		renewed := w.refresh(w.app, *family.RefreshToken)
		if renewed.status != http.StatusOK || w.kidOf(renewed.AccessToken) != next.ID || w.publishes(kid) {
			t.Fatalf("a refresh: %d %s", renewed.status, renewed.body)
		}
		if _, err := other.Authenticate(t.Context(), renewed.AccessToken, access.API); err != nil {
			t.Error(err)
		}
	})
}

func TestRotationBesideTokenRequests(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		_, other := w.otherProcess()
		rotated := make(chan string, 1)
		go func() {
			next, err := signing.Rotation{Store: w.db.SigningKeys(), Transactor: w.db, Master: w.master, Clock: w.clock}.Rotate(t.Context(), true)
			if err == nil {
				err = w.keys.Reload(t.Context())
			}
			if err != nil {
				t.Error(err)
			}
			rotated <- next.ID
		}()
		answers := atOnce(100, func() answer { return w.token(w.live) })
		next := <-rotated
		answers = append(answers, w.token(w.live))
		if got := w.kidOf(answers[100].AccessToken); got != next {
			t.Errorf("%s signs afterwards, want %s", got, next)
		}
		for _, a := range answers {
			if a.status != http.StatusOK {
				t.Fatalf("%d %s", a.status, a.body)
			}
			for _, process := range []*bearer.Authenticator{w.auth, other} {
				if _, err := process.Authenticate(t.Context(), a.AccessToken, access.API); err != nil {
					t.Error(err)
				}
			}
		}
	})
}
