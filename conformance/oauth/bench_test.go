package oauth_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/bearer"
	"github.com/mailhelm/mailhelm/core/cache"
	"github.com/mailhelm/mailhelm/oauth"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// The size of one measured round. In a round, several clients send requests to one server
// at the same time.
const (
	roundClients  = 4
	roundRequests = 32 // of each client
)

// BenchmarkTokenEndpoint compares the token endpoint with a minimal handler that only
// parses the form and signs a token with the same claims. Rounds alternate between the two,
// so that other load on the machine affects both. The metric "of-bare" is the token
// endpoint's throughput as a fraction of the minimal handler's.
func BenchmarkTokenEndpoint(b *testing.B) {
	w := newWorld(b, storagetest.SQLite(b))
	bare := httptest.NewServer(w.bareTokenHandler())
	defer bare.Close()
	transport := &http.Transport{MaxIdleConnsPerHost: roundClients}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	body := url.Values{"grant_type": {"client_credentials"}, "client_id": {w.live.ClientID}, "client_secret": {w.live.secret}}.Encode()
	var ours, theirs time.Duration
	rounds := 0
	for b.Loop() {
		theirs += tokenRound(b, client, bare.URL, body)
		ours += tokenRound(b, client, w.issuer+oauth.TokenPath, body)
		rounds++
	}
	b.ReportMetric(float64(theirs)/float64(ours), "of-bare")
	b.ReportMetric(float64(rounds*roundClients*roundRequests)/ours.Seconds(), "tokens/s")
}

func tokenRound(b *testing.B, client *http.Client, address, body string) time.Duration {
	b.Helper()
	began := time.Now()
	var all sync.WaitGroup
	for range roundClients {
		all.Go(func() {
			for range roundRequests {
				resp, err := client.Post(address, form, strings.NewReader(body))
				if err != nil {
					b.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
				if resp.StatusCode != http.StatusOK {
					b.Errorf("status %d", resp.StatusCode)
				}
			}
		})
	}
	all.Wait()
	return time.Since(began)
}

func (w *world) bareTokenHandler() http.Handler {
	kid, private := w.keys.Current()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: private, KeyID: kid}}, nil)
	w.must(err)
	claims := w.claimsOf(w.goodToken(w.live), 1)
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil || r.PostForm.Get("client_secret") == "" {
			out.WriteHeader(http.StatusBadRequest)
			return
		}
		payload, _ := json.Marshal(claims)
		signed, _ := signer.Sign(payload)
		text, _ := signed.CompactSerialize()
		_ = json.NewEncoder(out).Encode(map[string]any{"access_token": text, "token_type": "Bearer", "expires_in": 900})
	})
}

func BenchmarkVerifyToken(b *testing.B) {
	w := newWorld(b, storagetest.SQLite(b))
	token := w.goodToken(w.live)
	b.Run("first", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			fresh, err := oauth.NewVerifier(w.config)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := fresh.VerifyToken(b.Context(), token, access.API); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("remembered", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := w.verifier.VerifyToken(b.Context(), token, access.API); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkKnownToken compares the check of a cached token with the least work that such a
// check needs: one hash and one lookup. The benchmark alternates between the check and that
// least work. The metric "added-ns" is the additional time of a check, in nanoseconds.
func BenchmarkKnownToken(b *testing.B) {
	w := newWorld(b, storagetest.SQLite(b))
	token := w.goodToken(w.live)
	cached := cache.New[access.Proof, bearer.Token](1)
	cached.Put(access.ProofOf(token), bearer.Token{}, start.Add(time.Hour), cached.Epoch())
	const turn = 1000
	var ours, theirs time.Duration
	checks := 0
	for b.Loop() {
		began := time.Now()
		for range turn {
			if _, ok := cached.Get(access.ProofOf(token), w.clock()); !ok {
				b.Fatal("not cached")
			}
		}
		between := time.Now()
		for range turn {
			if _, err := w.auth.Authenticate(b.Context(), token, access.API); err != nil {
				b.Fatal(err)
			}
		}
		theirs, ours, checks = theirs+between.Sub(began), ours+time.Since(between), checks+turn
	}
	b.ReportMetric(float64((ours-theirs).Nanoseconds())/float64(checks), "added-ns")
	b.ReportMetric(float64(ours.Nanoseconds())/float64(checks), "ns/check")
}

func BenchmarkAuthenticateToken(b *testing.B) {
	w := newWorld(b, storagetest.SQLite(b))
	token := w.goodToken(w.live)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.auth.Authenticate(b.Context(), token, access.API); err != nil {
			b.Fatal(err)
		}
	}
}
