package server

import (
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

func TestEveryAddressAnswers(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		for name, address := range map[string]string{
			"api":       p.BaseURL + "/v1/_health",
			"auth":      p.AuthURL + "/.well-known/oauth-authorization-server",
			"keys":      p.AuthURL + "/.well-known/jwks.json",
			"mcp":       p.MCPURL + "/mcp/_health",
			"fetch":     p.FetchURL + "/_health",
			"docs":      p.DocsURL + "/",
			"error":     p.DocsURL + "/api/errors/not_found",
			"metrics":   p.AdminURL + "/metrics",
			"readiness": p.AdminURL + "/readyz",
			"liveness":  p.AdminURL + "/livez",
		} {
			if got := get(t, p, address, ""); got.status != http.StatusOK {
				t.Errorf("%s: %s answered %d: %.300s", name, address, got.status, got.body)
			}
		}
		for _, path := range []string{"/llms.txt", "/llms-full.txt"} {
			redirect := get(t, p, p.AppURL+path, "")
			got := get(t, p, p.AppURL+redirect.header.Get("Location"), "")
			if redirect.status != http.StatusFound || got.status != http.StatusOK || !strings.HasPrefix(got.body, "# ") {
				t.Errorf("%s answered %d, and its target %d: %.300s", path, redirect.status, got.status, got.body)
			}
		}
	})
}

func TestBothCredentialKindsOfBothOrganizations(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		own := p.BaseURL + "/v1/contacts/" + p.Contact
		for name, bearer := range map[string]string{
			"live key": p.Live.APIKey, "test key": p.Test.APIKey,
			"live token": p.Token(t, p.BaseURL), "test token": p.TokenWith(t, p.Test, p.BaseURL),
		} {
			if got := get(t, p, own, bearer); got.status != http.StatusOK {
				t.Errorf("%s: own contact: %d %.300s", name, got.status, got.body)
			}
			if got := get(t, p, p.BaseURL+"/v1/contacts/"+p.Other.Contact, bearer); got.status != http.StatusNotFound {
				t.Errorf("%s: the other organization's contact: %d, want 404", name, got.status)
			}
		}
		if got := get(t, p, p.BaseURL+"/v1/contacts/"+p.Other.Contact, p.Other.Live.APIKey); got.status != http.StatusOK {
			t.Errorf("the other organization cannot read its contact: %d %.300s", got.status, got.body)
		}
	})
}

func TestClockMovesTheWholeProduct(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	token := p.Token(t, p.BaseURL)
	if got := get(t, p, p.BaseURL+"/v1/_scopes", token); got.status != http.StatusOK {
		t.Fatalf("fresh token: %d %s", got.status, got.body)
	}
	p.Clock.Advance(16 * time.Minute)
	if got := get(t, p, p.BaseURL+"/v1/_scopes", token); got.status != http.StatusUnauthorized {
		t.Errorf("token after 16 minutes: %d, want 401", got.status)
	}
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	limit := 2
	p := product.Start(t, product.Options{RateLimit: &limit})
	p.Clock.Freeze(p.Clock.Now())
	for i, want := range []int{200, 200, 429} {
		if got := get(t, p, p.BaseURL+"/v1/_scopes", p.Live.APIKey); got.status != want {
			t.Errorf("call %d: %d, want %d", i+1, got.status, want)
		}
	}
}

func TestLogIsCompleteWhenTheProductHasEnded(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	t.Run("product", func(t *testing.T) {
		p := product.Start(t, product.Options{Log: &log})
		get(t, p, p.BaseURL+"/v1/lists", p.Live.APIKey)
	})
	if !strings.Contains(log.String(), `"operation":"lists_list"`) {
		t.Errorf("the log holds no line about the call:\n%s", log.String())
	}
}

func TestSimulatedFaultsFailCalls(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	p.Simulator.Faults().Set(simulator.Fault{Kind: sending.Throttled})
	if got := get(t, p, p.BaseURL+"/v1/contacts/"+p.Contact, p.Live.APIKey); got.status != http.StatusServiceUnavailable {
		t.Errorf("with a throttling account: %d %.300s", got.status, got.body)
	}
	p.Simulator.Faults().Clear()
	if got := get(t, p, p.BaseURL+"/v1/contacts/"+p.Contact, p.Live.APIKey); got.status != http.StatusOK {
		t.Errorf("with a healthy account: %d %.300s", got.status, got.body)
	}
}

// TestEachIsOnBothEngines checks that Each runs a test twice, as the subtest "sqlite" on
// SQLite and as the subtest "postgres" on PostgreSQL.
func TestEachIsOnBothEngines(t *testing.T) {
	t.Parallel()
	engines := make(chan string, 2)
	t.Run("each", func(t *testing.T) {
		product.Each(t, func(t *testing.T, p *product.Product) { engines <- path.Base(t.Name()) + " is " + p.DB.Engine() })
	})
	close(engines)
	var got []string
	for engine := range engines {
		got = append(got, engine)
	}
	slices.Sort(got)
	if want := []string{"postgres is postgres", "sqlite is sqlite"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
