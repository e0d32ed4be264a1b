package oauth_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/bearer"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// notifyTimeout is the longest time that a test waits for a notification of PostgreSQL. A
// notification usually takes milliseconds.
const notifyTimeout = 20 * time.Second

// node imitates another server process on the same PostgreSQL database. It caches which
// caller each token belongs to. When PostgreSQL notifies it of a change, such as a revoked
// grant, it removes the entries that the change concerns from its cache.
type node struct {
	t       *testing.T
	auth    *bearer.Authenticator
	changes chan access.Change // those that were applied
}

func newNode(t *testing.T, w *world, url string) *node {
	t.Helper()
	db := storagetest.Open(t, storage.Config{URL: url, MaxConns: 4})
	n := &node{t: t, changes: make(chan access.Change, 100), auth: bearer.NewAuthenticator(bearer.AuthenticatorConfig{
		Stores: db.Access(), Orgs: db.Orgs(), Members: members.Ceilings{Members: db.Members()}, Tokens: w.verifier, Clock: w.clock,
	})}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		db.FollowAccessChanges(ctx, func(c access.Change) {
			n.auth.Apply(c)
			n.changes <- c
		})
	}()
	t.Cleanup(func() { cancel(); <-done })
	n.await(access.Change{Kind: access.Anything}) // it listens
	return n
}

// await waits until the node has applied the change to its cache. It fails the test after
// 20 seconds.
func (n *node) await(want access.Change) {
	n.t.Helper()
	deadline := time.After(notifyTimeout)
	for {
		select {
		case got := <-n.changes:
			if got == want {
				return
			}
		case <-deadline:
			n.t.Fatalf("not told of %+v", want)
		}
	}
}

func (n *node) accepts(bearer string) bool {
	n.t.Helper()
	_, err := n.auth.Authenticate(n.t.Context(), bearer, access.API)
	return err == nil
}

// TestRevocationReachesOtherNodes checks every kind of revocation. When the revocation
// commits, it must take effect in another process on the same PostgreSQL database. The
// clock is fixed, so no cache entry expires by itself.
func TestRevocationReachesOtherNodes(t *testing.T) {
	t.Parallel()
	url := enginetest.PostgresURL(t)
	w := newWorld(t, storagetest.Open(t, storage.Config{URL: url, MaxConns: 4}))
	ctx, n := t.Context(), newNode(t, w, url)
	open := w.selfRegistered(access.MintClientSecret().Secret, callback)
	minted := access.MintAPIKey(core.Live)
	key := access.APIKey{
		ID: core.NewID(), OrgID: w.app.OrgID, Name: "key", Environment: core.Live, Prefix: minted.Prefix,
		SecretHash: minted.Hash, Scopes: core.NewScopes(appScopes), CreatedAt: w.clock(),
	}
	w.must(w.db.Keys().InsertAPIKey(ctx, key))
	denied, family, another := w.goodToken(w.live), w.family(w.app), w.family(w.native)
	grant, _ := w.claimsOf(family.AccessToken, 1)["gid"].(string)
	id, _ := w.claimsOf(denied, 1)["jti"].(string)
	bob := w.person(w.app.OrgID, "bob", members.PlainMember)
	for _, c := range []struct {
		what   string
		bearer string
		revoke func(ctx context.Context) error
		told   access.Change
	}{
		{"an API key", minted.Secret, func(ctx context.Context) error {
			return w.db.Keys().RevokeAPIKey(ctx, key.OrgID, key.ID, w.clock())
		}, access.Change{Kind: access.CredentialChanged, ID: key.ID}},
		{"an access token", denied, func(ctx context.Context) error {
			return w.db.Tokens().DenyToken(ctx, id, w.clock().Add(time.Hour))
		}, access.Change{Kind: access.TokenDenied, ID: id}},
		{"a client", w.goodToken(w.test), func(ctx context.Context) error {
			return w.db.Clients().RevokeClient(ctx, w.test.OrgID, w.test.ID, w.clock())
		}, access.Change{Kind: access.CredentialChanged, ID: w.test.ID}},
		{"a grant", family.AccessToken, func(ctx context.Context) error {
			return w.db.Grants().RevokeGrant(ctx, w.app.OrgID, grant, w.clock())
		}, access.Change{Kind: access.GrantChanged, ID: grant}},
		{"a blocked client", w.family(open).AccessToken, func(ctx context.Context) error {
			return w.db.OpenClients().BlockClient(ctx, w.ann.OrgID, open.ClientID, w.clock())
		}, access.Change{Kind: access.OrgChanged, ID: w.ann.OrgID}},
		{"a member", another.AccessToken, func(ctx context.Context) error {
			return errors.Join(w.db.Members().RemoveMember(ctx, w.ann.OrgID, bob.UserID), w.db.Members().RemoveMember(ctx, w.ann.OrgID, w.ann.UserID))
		}, access.Change{Kind: access.MemberChanged, ID: w.ann.UserID}},
	} {
		if !n.accepts(c.bearer) {
			t.Fatalf("%s is not good", c.what)
		}
		undone := errors.New("undone")
		err := w.db.InTx(ctx, func(ctx context.Context) error { return errors.Join(c.revoke(ctx), undone) })
		if !errors.Is(err, undone) || !n.accepts(c.bearer) {
			t.Errorf("%s: ended by a transaction that was undone: %v", c.what, err)
		}
		began := time.Now()
		w.must(c.revoke(ctx))
		n.await(c.told)
		if n.accepts(c.bearer) {
			t.Errorf("%s: still accepted after %v", c.what, time.Since(began))
		}
		t.Logf("%s: %v", c.what, time.Since(began))
	}
}

// TestAReconnectedNodeClearsItsCaches checks a server that lost the connection on which
// PostgreSQL notifies it. The server may have missed a revocation, so it must empty its
// caches when it connects again.
func TestAReconnectedNodeClearsItsCaches(t *testing.T) {
	t.Parallel()
	url := enginetest.PostgresURL(t)
	w := newWorld(t, storagetest.Open(t, storage.Config{URL: url, MaxConns: 4}))
	n, token := newNode(t, w, url), w.goodToken(w.live)
	if !n.accepts(token) {
		t.Fatal("not accepted")
	}
	raw, err := sql.Open("postgres", url)
	w.must(err)
	defer raw.Close() //nolint:errcheck // the test is over
	// One statement ends the listening connections and revokes the client. So PostgreSQL
	// sends the notification while no process listens.
	_, err = raw.ExecContext(t.Context(), `WITH ended AS (SELECT pg_terminate_backend(pid) AS done FROM pg_stat_activity
		WHERE datname = current_database() AND query LIKE 'LISTEN%')
		UPDATE clients SET revoked_at = $1 FROM ended WHERE id = $2 AND done`, w.clock().UnixMicro(), w.live.ID)
	w.must(err)
	n.await(access.Change{Kind: access.Anything})
	if n.accepts(token) {
		t.Error("still accepted")
	}
}

// TestSQLiteSendsNoNotifications checks that SQLite sends no notifications of changes. Only
// one process uses an SQLite database, and it updates its own caches.
func TestSQLiteSendsNoNotifications(t *testing.T) {
	t.Parallel()
	storagetest.SQLite(t).FollowAccessChanges(t.Context(), func(c access.Change) { t.Errorf("told of %+v", c) })
}

// TestRevocationReachesAnotherServer checks that an API key revoked at one server is
// refused at a second server on the same PostgreSQL database.
func TestRevocationReachesAnotherServer(t *testing.T) {
	t.Parallel()
	one := product.Start(t, product.Options{Postgres: true})
	two := product.Start(t, product.Options{Beside: one})
	one.Clock.Freeze(one.Clock.Now())
	status := func() int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, two.BaseURL+"/v1/_scopes", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+one.Live.APIKey)
		got, err := two.HTTP.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = got.Body.Close()
		return got.StatusCode
	}
	if got := status(); got != http.StatusOK {
		t.Fatalf("the key at the second server: %d", got)
	}
	keys, err := one.DB.Keys().APIKeys(t.Context(), core.Live, one.Live.APIKey[len("sk_live_"):][:8])
	if err != nil || len(keys) != 1 {
		t.Fatalf("%d keys, %v", len(keys), err)
	}
	if err := one.DB.Keys().RevokeAPIKey(t.Context(), one.OrgID, keys[0].ID, one.Clock.Now()); err != nil {
		t.Fatal(err)
	}
	product.Await(t, notifyTimeout, func() error {
		if got := status(); got != http.StatusUnauthorized {
			return fmt.Errorf("the revoked key at the second server: %d", got)
		}
		return nil
	})
}
