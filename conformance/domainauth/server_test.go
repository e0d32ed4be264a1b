package domainauth

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/domainauth/history"
	"github.com/mailhelm/mailhelm/conformance/product"
)

// server calls the operations of an organization over HTTP.
type server struct {
	p   *product.Product
	key string
	// routes has the method and the path of each operation, as the OpenAPI document has them.
	routes map[string][2]string
}

// startServer starts the product at a time that stands still.
func startServer(t *testing.T, postgres bool, now time.Time) *product.Product {
	t.Helper()
	p := product.Start(t, product.Options{Postgres: postgres})
	p.Clock.Freeze(now)
	return p
}

// newSceneAt adds the domain of a history to an organization of the product, whose operations are
// then called over HTTP, and polls the domain.
func newSceneAt(t *testing.T, p *product.Product, org product.Org, h *history.History) *scene {
	t.Helper()
	s := newSceneIn(t, p.DB, org.OrgID, history.Domain, h.Zone, p.Clock.Now())
	s.server = &server{p: p, key: org.Live.APIKey, routes: routesOf(t, p)}
	s.poll()
	return s
}

// routesOf reads the OpenAPI document of the product.
func routesOf(t *testing.T, p *product.Product) map[string][2]string {
	t.Helper()
	answer := p.Send(t, product.Request{Method: http.MethodGet, URL: p.BaseURL + "/v1/openapi.json"})
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal([]byte(answer.Body), &document); err != nil {
		t.Fatal(err)
	}
	routes := map[string][2]string{}
	for path, methods := range document.Paths {
		for method, text := range methods {
			var operation struct {
				ID string `json:"operationId"`
			}
			if json.Unmarshal(text, &operation) == nil {
				routes[operation.ID] = [2]string{strings.ToUpper(method), path}
			}
		}
	}
	return routes
}

// call calls the route of an operation at a time, with the arguments of the operation as a JSON
// object, and returns the body of the answer.
func (s *server) call(t *testing.T, now time.Time, operation, arguments string) []byte {
	t.Helper()
	s.p.Clock.Freeze(now)
	var members map[string]any
	if err := json.Unmarshal([]byte(arguments), &members); err != nil {
		t.Fatal(err)
	}
	route, ok := s.routes[operation]
	if !ok {
		t.Fatalf("the OpenAPI document has no operation %s", operation)
	}
	method, path, query := route[0], route[1], url.Values{}
	for name, value := range members {
		text := fmt.Sprint(value)
		if placed := strings.Replace(path, "{"+name+"}", url.PathEscape(text), 1); placed != path {
			path = placed
			delete(members, name)
		} else if text != "" {
			query.Set(name, text)
		}
	}
	sent := product.Request{Method: method, URL: s.p.BaseURL + path, Bearer: s.key}
	if method == http.MethodGet {
		sent.URL += "?" + query.Encode()
	} else {
		body, err := json.Marshal(members)
		if err != nil {
			t.Fatal(err)
		}
		sent.Body = string(body)
	}
	answer := s.p.Send(t, sent)
	if answer.Status/100 != 2 {
		t.Fatalf("%s %s: %d %s", method, sent.URL, answer.Status, answer.Body)
	}
	return []byte(answer.Body)
}
