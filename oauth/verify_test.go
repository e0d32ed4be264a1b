package oauth

import (
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

func testConfig(tb testing.TB) Config {
	tb.Helper()
	clock := func() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC) }
	db := storagetest.SQLite(tb)
	master, err := signing.LoadMasterKey(filepath.Join(tb.TempDir(), "master.key"))
	if err != nil {
		tb.Fatal(err)
	}
	keys, err := signing.NewKeys(tb.Context(), db.SigningKeys(), master, clock)
	if err != nil {
		tb.Fatal(err)
	}
	return Config{
		Issuer: "http://localhost:8081", APIResource: "http://localhost:8080", AgentResource: "http://localhost:8082",
		Stores: db.Access(), Keys: keys, Clock: clock, Log: slog.New(slog.DiscardHandler),
	}
}

// FuzzVerifyToken checks that the verifier accepts no token other than the issued one, and
// that its errors do not contain the token.
func FuzzVerifyToken(f *testing.F) {
	cfg := testConfig(f)
	issuer, err := newTokenIssuer(cfg.Issuer, cfg.Keys, cfg.Clock)
	if err != nil {
		f.Fatal(err)
	}
	good, err := issuer.issue(grant{
		subject: "oc_live_a", orgID: core.NewID(), client: access.Client{ClientID: "oc_live_a", Environment: core.Live},
		audience: cfg.APIResource, scopes: core.NewScopes("api.lists.view"),
	})
	if err != nil {
		f.Fatal(err)
	}
	verifier, err := NewVerifier(cfg)
	if err != nil {
		f.Fatal(err)
	}
	if _, err := verifier.VerifyToken(f.Context(), good.text, access.API); err != nil {
		f.Fatal(err)
	}
	parts := strings.Split(good.text, ".")
	for _, seed := range []string{good.text, "", "..", "eyJ..", parts[0] + ".." + parts[2], good.text[1:], "eyJhbGciOiJub25lIn0.e30.", "{}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, token string) {
		_, err := verifier.VerifyToken(t.Context(), token, access.API)
		// One signed token has several spellings: an ECDSA signature has a second form, and
		// Base64 has unused bits. So only the header and the claims must be equal.
		if err == nil && !strings.HasPrefix(token, parts[0]+"."+parts[1]+".") {
			t.Fatalf("accepted %q", token)
		}
		if err != nil && len(token) > 12 && strings.Contains(err.Error(), token) {
			t.Fatalf("the error repeats the token: %v", err)
		}
	})
}

// TestVerifierComparesTheExpiry checks when a signed token counts as expired: from the
// second that its claim exp names, also if it was cached before. A token that is valid for
// longer than any that the server issues is refused.
func TestVerifierComparesTheExpiry(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	now := cfg.Clock()
	cfg.Clock = func() time.Time { return now }
	token := func(issuedAt time.Time) string {
		t.Helper()
		issuer, err := newTokenIssuer(cfg.Issuer, cfg.Keys, func() time.Time { return issuedAt })
		if err != nil {
			t.Fatal(err)
		}
		issued, err := issuer.issue(grant{
			subject: "oc_live_a", orgID: "org", client: access.Client{ClientID: "oc_live_a", Environment: core.Live}, audience: cfg.APIResource,
		})
		if err != nil {
			t.Fatal(err)
		}
		return issued.text
	}
	const life = signing.AccessTokenLifetime
	start := now
	for name, c := range map[string]struct {
		issuedAt time.Time
		want     error
	}{
		"a second before its expiry":  {start.Add(time.Second - life), nil},
		"in the second of its expiry": {start.Add(-life), errTokenExpired},
		"a second after its expiry":   {start.Add(-time.Second - life), errTokenExpired},
		"of the longest life":         {start.Add(signing.Overlap - life), nil},
		"of a longer life":            {start.Add(signing.Overlap - life + time.Second), errTokenLifetime},
	} {
		verifier, err := NewVerifier(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := verifier.VerifyToken(t.Context(), token(c.issuedAt), access.API); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	verifier, err := NewVerifier(cfg)
	if err != nil {
		t.Fatal(err)
	}
	cached := token(start)
	for _, c := range []struct {
		at   time.Time
		want error
	}{{start, nil}, {start.Add(life - time.Second), nil}, {start.Add(life), errTokenExpired}} {
		now = c.at
		if _, err := verifier.VerifyToken(t.Context(), cached, access.API); !errors.Is(err, c.want) {
			t.Errorf("cached, after %s: %v, want %v", c.at.Sub(start), err, c.want)
		}
	}
}

func TestVerifierRemembersWithoutAcceptingElsewhere(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	issuer, err := newTokenIssuer(cfg.Issuer, cfg.Keys, cfg.Clock)
	if err != nil {
		t.Fatal(err)
	}
	token, err := issuer.issue(grant{
		subject: "oc_live_a", orgID: "org", client: access.Client{ClientID: "oc_live_a", Environment: core.Live}, audience: cfg.AgentResource,
	})
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := NewVerifier(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := verifier.VerifyToken(t.Context(), token.text, access.API); err == nil {
			t.Error("accepted at the other resource")
		}
		got, err := verifier.VerifyToken(t.Context(), token.text, access.Agent)
		if err != nil || got.ID != token.id || got.OrgID != "org" || got.UserID != "" || !got.ExpiresAt.Equal(cfg.Clock().Add(900*time.Second)) {
			t.Errorf("%+v, %v", got, err)
		}
	}
}
