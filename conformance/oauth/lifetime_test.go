package oauth_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// lifetimes are the allowed lifetimes of a client's grants, in days. 0 means that grants
// do not expire.
var lifetimes = []int{0, 30, 90, 365}

// lasting registers a client whose grants expire after the given number of days; 0 means
// never.
func (w *world) lasting(days int) registeredClient {
	w.t.Helper()
	c, secret, err := w.lifecycle().CreateClient(w.t.Context(), access.ActorOf(access.Operator), access.NewClient{
		OrgID: w.ann.OrgID, Name: "lasting", Environment: core.Live, Scopes: core.NewScopes("api.account.view"),
		RedirectURIs: []string{callback}, RefreshDays: days,
	})
	w.must(err)
	return registeredClient{Client: c, secret: secret}
}

func (w *world) lifecycle() access.Lifecycle {
	return access.Lifecycle{
		Stores: w.db.Access(), Orgs: w.db.Orgs(), Transactor: w.db, Clock: w.clock,
	}
}

// TestRefreshLifetimeIsAbsolute checks that a grant ends one refresh lifetime after the
// authorization, to the second. Three things must not change this end: a late redemption of
// the authorization code, a refresh, and a new lifetime in the client's settings. A grant
// with the lifetime 0 must not end.
func TestRefreshLifetimeIsAbsolute(t *testing.T) {
	t.Parallel()
	for _, days := range lifetimes {
		t.Run(strconv.Itoa(days), func(t *testing.T) {
			t.Parallel()
			once(t, func(t *testing.T, w *world) {
				c := w.lasting(days)
				code := w.code(c)
				w.advance(50 * time.Second)
				a := w.granted(w.redeem(c, code))
				changed := c.Client
				if changed.RefreshDays = 365; days == 365 {
					changed.RefreshDays = 30
				}
				_, err := w.lifecycle().EditClient(t.Context(), access.ActorOf(access.Operator), changed)
				w.must(err)
				life := time.Duration(days) * 24 * time.Hour
				if days == 0 {
					life = 20 * 365 * 24 * time.Hour
				}
				w.advance(life/2 - 50*time.Second)
				a = w.granted(w.refresh(c, *a.RefreshToken))
				w.advance(life/2 - time.Second)
				a = w.granted(w.refresh(c, *a.RefreshToken))
				w.advance(time.Second)
				if days == 0 {
					w.granted(w.refresh(c, *a.RefreshToken))
					return
				}
				w.expectError(w.refresh(c, *a.RefreshToken), http.StatusBadRequest, "invalid_grant")
			})
		})
	}
}

// TestOtherLifetimesAreRefused checks that no client can be created with a grant lifetime
// other than 0, 30, 90 or 365 days.
func TestOtherLifetimesAreRefused(t *testing.T) {
	t.Parallel()
	protocol(t, func(t *testing.T, w *world) {
		for _, days := range []int{-1, 1, 31, 366, 1 << 40} {
			_, _, err := w.lifecycle().CreateClient(t.Context(), access.ActorOf(access.Operator), access.NewClient{
				OrgID: w.ann.OrgID, Name: "odd", Environment: core.Live, Scopes: core.NewScopes("api.account.view"),
				RedirectURIs: []string{callback}, RefreshDays: days,
			})
			if err == nil || core.AsError(err).Code != core.CodeValidationFailed {
				t.Errorf("%d days: %v", days, err)
			}
		}
	})
}
