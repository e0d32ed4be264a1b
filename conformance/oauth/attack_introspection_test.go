package oauth_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/oauth"
)

// TestAttackIntrospectionByAStranger checks that a self-registered client can introspect
// only the tokens that were issued to it. If an organization blocks the client,
// introspection must report the client's tokens of this organization as inactive.
func TestAttackIntrospectionByAStranger(t *testing.T) {
	t.Parallel()
	once(t, func(t *testing.T, w *world) {
		stranger, another := w.selfRegistered(access.MintClientSecret().Secret, callback), w.selfRegistered(access.MintClientSecret().Secret, callback)
		own, foreign := w.family(stranger), w.family(w.app)
		for _, token := range []string{foreign.AccessToken, *foreign.RefreshToken, w.goodToken(w.live)} {
			w.expectIntrospection(stranger, token, inactive)
		}
		for _, token := range []string{own.AccessToken, *own.RefreshToken} {
			if response := w.ask(stranger, token); response["active"] != true || response["client_id"] != stranger.ClientID {
				t.Errorf("of its own: %v", response)
			}
			w.expectIntrospection(another, token, inactive)
			w.expectIntrospection(w.other, token, inactive)
		}
		w.expectError(w.post(oauth.IntrospectionPath, registeredClient{Client: stranger.Client}, "token", own.AccessToken), 401, "invalid_client")
		w.must(w.db.OpenClients().BlockClient(t.Context(), w.ann.OrgID, stranger.ClientID, w.clock()))
		for _, token := range []string{own.AccessToken, *own.RefreshToken} {
			w.expectIntrospection(stranger, token, inactive)
		}
	})
}
