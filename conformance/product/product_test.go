package product_test

import (
	"io"
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

func get(t *testing.T, p *product.Product, address, bearer string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	answer, err := p.HTTP.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

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
			if status, body := get(t, p, address, ""); status != http.StatusOK {
				t.Errorf("%s: %s answered %d: %.300s", name, address, status, body)
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
			if status, body := get(t, p, own, bearer); status != http.StatusOK {
				t.Errorf("%s: own contact: %d %.300s", name, status, body)
			}
			if status, _ := get(t, p, p.BaseURL+"/v1/contacts/"+p.Other.Contact, bearer); status != http.StatusNotFound {
				t.Errorf("%s: the other organization's contact: %d, want 404", name, status)
			}
		}
		if status, body := get(t, p, p.BaseURL+"/v1/contacts/"+p.Other.Contact, p.Other.Live.APIKey); status != http.StatusOK {
			t.Errorf("the other organization cannot read its contact: %d %.300s", status, body)
		}
	})
}

func TestClockMovesTheWholeProduct(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	token := p.Token(t, p.BaseURL)
	if status, body := get(t, p, p.BaseURL+"/v1/_scopes", token); status != http.StatusOK {
		t.Fatalf("fresh token: %d %s", status, body)
	}
	p.Clock.Advance(16 * time.Minute)
	if status, _ := get(t, p, p.BaseURL+"/v1/_scopes", token); status != http.StatusUnauthorized {
		t.Errorf("token after 16 minutes: %d, want 401", status)
	}
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	limit := 2
	p := product.Start(t, product.Options{RateLimit: &limit})
	p.Clock.Freeze(p.Clock.Now())
	for i, want := range []int{200, 200, 429} {
		if status, _ := get(t, p, p.BaseURL+"/v1/_scopes", p.Live.APIKey); status != want {
			t.Errorf("call %d: %d, want %d", i+1, status, want)
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
	if status, body := get(t, p, p.BaseURL+"/v1/contacts/"+p.Contact, p.Live.APIKey); status != http.StatusServiceUnavailable {
		t.Errorf("with a throttling account: %d %.300s", status, body)
	}
	p.Simulator.Faults().Clear()
	if status, body := get(t, p, p.BaseURL+"/v1/contacts/"+p.Contact, p.Live.APIKey); status != http.StatusOK {
		t.Errorf("with a healthy account: %d %.300s", status, body)
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
