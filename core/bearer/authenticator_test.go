package bearer_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/bearer"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var start = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// gate is the fixture of these tests: an Authenticator on a real database, with a clock
// that the test advances.
type gate struct {
	t    testing.TB
	db   *storage.DB
	auth *bearer.Authenticator
	org  core.Org

	mu  sync.Mutex
	now time.Time
}

func newGate(t testing.TB, db *storage.DB) *gate {
	t.Helper()
	g := &gate{t: t, db: db, now: start}
	g.org = core.Org{ID: core.NewID(), Name: "Acme", Slug: "acme", Tier: "team", RetentionDays: 90}
	g.must(g.db.Orgs().InsertOrg(t.Context(), g.org))
	g.auth = bearer.NewAuthenticator(bearer.AuthenticatorConfig{
		Stores: db.Access(), Orgs: db.Orgs(), Members: members.Ceilings{Members: db.Members()}, Tokens: readable{g.clock}, Clock: g.clock,
	})
	return g
}

// readable is a TokenVerifier for tokens in plain text: client id, organization id and
// scopes, separated by "~". All its tokens expire ten seconds after the start of the test.
type readable struct{ clock core.Clock }

func (r readable) VerifyToken(_ context.Context, token string, _ access.Resource) (bearer.Token, error) {
	parts := strings.SplitN(token, "~", 3)
	if len(parts) != 3 {
		return bearer.Token{}, errors.New("unreadable")
	}
	return bearer.Token{
		ClientID: parts[0], OrgID: parts[1], Scopes: core.NewScopes(strings.Fields(parts[2])...), ExpiresAt: start.Add(10 * time.Second),
	}, nil
}

func (g *gate) must(err error) {
	g.t.Helper()
	if err != nil {
		g.t.Fatal(err)
	}
}

func (g *gate) clock() time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.now
}

func (g *gate) advance(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now = g.now.Add(d)
}

// key stores a new API key and returns it with its secret. Before that, it calls the
// function change with the key.
func (g *gate) key(env core.Environment, change func(*access.APIKey)) (access.APIKey, string) {
	g.t.Helper()
	minted := access.MintAPIKey(env)
	k := access.APIKey{
		ID: core.NewID(), OrgID: g.org.ID, Name: "key", Environment: env, Prefix: minted.Prefix, SecretHash: minted.Hash,
		Scopes: core.NewScopes("api.account.view", "api.lists.view"), CreatedAt: start,
	}
	change(&k)
	g.must(g.db.Keys().InsertAPIKey(g.t.Context(), k))
	return k, minted.Secret
}

func keepKey(*access.APIKey) {}

func (g *gate) expect(credential string, resource access.Resource, want core.Code) {
	g.t.Helper()
	p, err := g.auth.Authenticate(g.t.Context(), credential, resource)
	if want == "" {
		if err != nil {
			g.t.Errorf("refused: %v", err)
		}
		return
	}
	if err == nil || core.AsError(err).Code != want {
		g.t.Errorf("got %+v, %v; want %s", p, err, want)
	}
	if p.Org.ID != "" || p.Scopes != nil {
		g.t.Errorf("a refusal comes with a principal: %+v", p)
	}
}

func TestAPIKeyBecomesAPrincipal(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		g := newGate(t, db)
		k, secret := g.key(core.Test, keepKey)
		want := core.Principal{
			Org:        g.org,
			Credential: core.Credential{Kind: core.APIKey, ID: k.ID, Name: "sk_test_" + k.Prefix, Environment: core.Test},
			Scopes:     k.Scopes,
		}
		for range 2 { // the first call reads the key from the store, the second from the cache
			got, err := g.auth.Authenticate(t.Context(), secret, access.API)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%v: %s", err, diff)
			}
		}
	})
}

func TestAPIKeysThatAreNoLongerGood(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		g := newGate(t, db)
		at := func(d time.Duration) *time.Time { i := start.Add(d); return &i }
		for name, c := range map[string]struct {
			revoked, expires *time.Time
			want             core.Code
		}{
			"good":                         {nil, nil, ""},
			"in its grace":                 {nil, at(time.Microsecond), ""},
			"revoked":                      {at(-time.Hour), nil, core.CodeKeyRevoked},
			"grace ends now":               {nil, at(0), core.CodeKeyExpired},
			"grace over, not yet swept":    {nil, at(-time.Hour), core.CodeKeyExpired},
			"grace over and swept":         {at(-time.Minute), at(-time.Hour), core.CodeKeyExpired},
			"swept at the very end":        {at(-time.Hour), at(-time.Hour), core.CodeKeyExpired},
			"revoked within its grace":     {at(-2 * time.Hour), at(-time.Hour), core.CodeKeyRevoked},
			"revoked, grace still running": {at(-time.Hour), at(time.Hour), core.CodeKeyRevoked},
		} {
			t.Run(name, func(t *testing.T) {
				_, secret := g.key(core.Live, func(k *access.APIKey) { k.RevokedAt, k.ExpiresAt = c.revoked, c.expires })
				g.expect(secret, access.API, c.want)
			})
		}
	})
}

func TestUnknownCredentialsReadTheSame(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		g := newGate(t, db)
		k, secret := g.key(core.Live, keepKey)
		stranger := access.MintAPIKey(core.Live).Secret
		_, revoked := g.key(core.Live, func(k *access.APIKey) { k.RevokedAt = &start })
		messages := map[string]bool{}
		for name, credential := range map[string]string{
			"nothing":                         "",
			"never minted":                    stranger,
			"same prefix, other rest":         "sk_live_" + k.Prefix + stranger[16:],
			"same secret, other environment":  "sk_test_" + secret[8:],
			"one character less":              secret[:len(secret)-1],
			"one character more":              secret + "A",
			"lower case":                      strings.ToLower(secret),
			"prefix of a revoked key":         revoked[:16] + stranger[16:],
			"the stored hash":                 "sk_live_" + fmt.Sprintf("%x", k.SecretHash),
			"rubbish":                         "rubbish",
			"too long":                        strings.Repeat("a", 10_000),
			"token of no client":              access.MintClientID(core.Live) + "~" + g.org.ID + "~api.lists.view",
			"NUL":                             "sk_live_\x00",
			"a key with a space in front":     " " + secret,
			"two keys":                        secret + "," + secret,
			"an API key's identifying prefix": secret[:16],
		} {
			_, err := g.auth.Authenticate(t.Context(), credential, access.API)
			if err == nil || core.AsError(err).Code != core.CodeInvalidKey {
				t.Errorf("%s: %v", name, err)
				continue
			}
			messages[core.AsError(err).Message] = true
		}
		if len(messages) != 1 {
			t.Errorf("%d different messages", len(messages))
		}
	})
}

// TestKeysWithOnePrefix checks that keys of two organizations may have the same prefix. The
// hash of the secret decides which of the two keys was sent.
func TestKeysWithOnePrefix(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		g := newGate(t, db)
		other := core.Org{ID: core.NewID(), Name: "Other", Slug: "other", Tier: "free", RetentionDays: 30}
		g.must(g.db.Orgs().InsertOrg(t.Context(), other))
		first, secret := g.key(core.Live, keepKey)
		_, rest := g.key(core.Live, keepKey)
		second := "sk_live_" + first.Prefix + rest[16:]
		g.key(core.Live, func(k *access.APIKey) {
			k.OrgID, k.Prefix, k.SecretHash = other.ID, first.Prefix, access.HashSecret(second)
		})
		for credential, org := range map[string]string{secret: g.org.ID, second: other.ID} {
			if p, err := g.auth.Authenticate(t.Context(), credential, access.API); err != nil || p.Org.ID != org {
				t.Errorf("%+v, %v; want organization %s", p, err, org)
			}
		}
	})
}

func TestAgentEndpointTakesNoAPIKeys(t *testing.T) {
	t.Parallel()
	g := newGate(t, storagetest.SQLite(t))
	_, secret := g.key(core.Live, keepKey)
	g.expect(secret, access.API, "")
	for _, credential := range []string{secret, secret[:20], "sk_live_", "sk_test_x", "sk_other"} {
		g.expect(credential, access.Agent, core.CodeWrongHost)
	}
	g.expect("sk_live_"+strings.Repeat("A", 8<<10), access.Agent, core.CodeInvalidKey) // too long to be examined
	if status := core.CodeWrongHost.Info().Status; status != 400 {
		t.Errorf("wrong_host is answered %d", status)
	}
}

func TestRevokedKeyIsRefused(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		g := newGate(t, db)
		here, secretHere := g.key(core.Live, keepKey)
		there, secretThere := g.key(core.Live, keepKey)
		g.expect(secretHere, access.API, "")
		g.expect(secretThere, access.API, "")

		// A revocation by this process applies at once.
		g.must(g.db.Keys().RevokeAPIKey(t.Context(), g.org.ID, here.ID, start))
		g.auth.Forget(here.ID)
		g.expect(secretHere, access.API, core.CodeKeyRevoked)

		// A revocation by another process applies within five seconds.
		g.must(g.db.Keys().RevokeAPIKey(t.Context(), g.org.ID, there.ID, start))
		g.advance(5*time.Second - time.Microsecond)
		g.expect(secretThere, access.API, "")
		g.advance(time.Microsecond)
		g.expect(secretThere, access.API, core.CodeKeyRevoked)
	})
}

func TestRememberedKeyEndsWithItsGrace(t *testing.T) {
	t.Parallel()
	g := newGate(t, storagetest.SQLite(t))
	end := start.Add(2 * time.Second)
	_, secret := g.key(core.Live, func(k *access.APIKey) { k.ExpiresAt = &end })
	g.expect(secret, access.API, "")
	g.advance(2 * time.Second)
	g.expect(secret, access.API, core.CodeKeyExpired)
}

// TestRememberedPrincipalNeedsNoStore checks that cached principals need no database read:
// the calls succeed without a store.
func TestRememberedPrincipalNeedsNoStore(t *testing.T) {
	t.Parallel()
	g := newGate(t, storagetest.SQLite(t))
	_, secret := g.key(core.Live, keepKey)
	g.expect(secret, access.API, "")
	g.must(g.db.Close())
	g.advance(5*time.Second - time.Microsecond)
	g.expect(secret, access.API, "")
	g.advance(time.Microsecond)
	g.expect(secret, access.API, core.CodeTemporarilyUnavailable)
}

func TestPlanChangeAppliesAfterForgetOrg(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		g := newGate(t, db)
		_, secret := g.key(core.Test, keepKey)
		g.expect(secret, access.API, "")
		limit := 50
		g.must(g.db.Orgs().SetRateLimit(t.Context(), g.org.ID, &limit))
		g.auth.ForgetOrg(g.org.ID)
		p, err := g.auth.Authenticate(t.Context(), secret, access.API)
		if err != nil || p.RateLimit() == nil || *p.RateLimit() != 5 {
			t.Errorf("%+v, %v", p, err)
		}
	})
}

func TestTokenIsRememberedNoLongerThanItLives(t *testing.T) {
	t.Parallel()
	g := newGate(t, storagetest.SQLite(t))
	c := access.Client{
		ID: core.NewID(), ClientID: access.MintClientID(core.Live), OrgID: g.org.ID, Name: "c",
		Environment: core.Live, Scopes: core.NewScopes("api.lists.view"), CreatedAt: start,
	}
	g.must(g.db.Clients().InsertClient(t.Context(), c))
	token := c.ClientID + "~" + g.org.ID + "~api.lists.view api.account.view"
	g.advance(8 * time.Second)
	p, err := g.auth.Authenticate(t.Context(), token, access.Agent)
	if err != nil || !cmp.Equal(p.Scopes, c.Scopes) {
		t.Fatalf("%+v, %v", p, err)
	}
	g.must(g.db.Close())
	g.advance(2*time.Second - time.Microsecond)
	g.expect(token, access.Agent, "")
	g.advance(time.Microsecond)
	// the cache entry has expired, so the call reads the store, which is closed and fails
	g.expect(token, access.Agent, core.CodeTemporarilyUnavailable)
}

// TestOpenClientActsForPeopleAlone checks that a client that belongs to no organization
// gets no token of the client_credentials grant, because no member has consented to it.
func TestOpenClientActsForPeopleAlone(t *testing.T) {
	t.Parallel()
	g := newGate(t, storagetest.SQLite(t))
	const documentID = "https://agent.example/client.json"
	described := access.ClientDocument{ClientID: documentID, Name: "Agent"}.Client(start)
	_, err := g.db.OpenClients().SaveDocumentClient(t.Context(), described)
	g.must(err)
	g.expect(documentID+"~"+g.org.ID+"~api.lists.view", access.API, core.CodeInvalidKey)
}

func BenchmarkAuthenticateAPIKey(b *testing.B) {
	g := newGate(b, storagetest.SQLite(b))
	_, secret := g.key(core.Live, keepKey)
	b.Run("remembered", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := g.auth.Authenticate(b.Context(), secret, access.API); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("from the store", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			g.auth.ForgetOrg(g.org.ID)
			if _, err := g.auth.Authenticate(b.Context(), secret, access.API); err != nil {
				b.Fatal(err)
			}
		}
	})
}
