package attacks_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
)

// inParallel calls f with 0 to n-1 in n concurrent goroutines and waits for all of them.
func inParallel(n int, f func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { f(i) })
	}
	all.Wait()
}

// TestOneKeyWritesOnce creates the same contact in 16 concurrent calls with one idempotency
// key and two credentials of the organization. One call creates the contact. The others get
// the same answer, or 409 with Retry-After.
func TestOneKeyWritesOnce(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		callers := []caller{{p, p.Live.APIKey}, {p, p.Token(t, p.BaseURL)}}
		answers := make([]reply, 16)
		inParallel(len(answers), func(i int) {
			answers[i] = callers[i%2].rest(t, "POST", "/v1/contacts", `{"email":"once@example.com"}`, "Idempotency-Key", "k1")
		})
		fresh := 0
		for _, got := range answers {
			replayed := got.header.Get("Idempotent-Replayed") == "true"
			switch {
			case got.status == 201 && !replayed:
				fresh++
			case got.status == 201:
			case got.status == 409 && got.header.Get("Retry-After") != "":
			default:
				t.Errorf("%d: %.200s", got.status, got.body)
			}
		}
		if fresh != 1 {
			t.Errorf("%d calls wrote, want 1", fresh)
		}
	})
}

// TestIdempotencyKeysAreScopedToCallers checks that an answer stored for an idempotency
// key is returned only to callers of the same organization that have the scope for the
// call.
func TestIdempotencyKeysAreScopedToCallers(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		own, other := caller{p, p.Live.APIKey}, caller{p, p.Other.Live.APIKey}
		const body = `{"email":"key@example.com"}`
		own.rest(t, "POST", "/v1/contacts", body, "Idempotency-Key", "shared").want(t, 201)
		got := other.rest(t, "POST", "/v1/contacts", body, "Idempotency-Key", "shared").want(t, 201)
		if got.header.Get("Idempotent-Replayed") != "" {
			t.Errorf("another organization was given the answer: %s", got.body)
		}
		reader := caller{p, p.Token(t, p.BaseURL, "api.contacts.view")}
		reader.rest(t, "POST", "/v1/contacts", body, "Idempotency-Key", "shared").want(t, 403)
		own.rest(t, "PUT", "/v1/contacts/key@example.com", `{}`, "Idempotency-Key", "shared").want(t, 200)
		own.rest(t, "POST", "/v1/contacts", `{"email":"key2@example.com"}`, "Idempotency-Key", "shared").want(t, 409)
	})
}

// TestSwappedAddressesDoNotDeadlock moves three contacts between four addresses in 32
// concurrent upserts. No call may block forever or fail with a server error.
func TestSwappedAddressesDoNotDeadlock(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		agent := caller{p, p.Token(t, p.MCPURL)}
		inParallel(32, func(i int) {
			arguments := fmt.Sprintf(`{"external_id":"e%d","email":"swap%d@example.com","attributes":{"orders":%d}}`, i%3, (i/3)%4, i)
			got := agent.tool(t, "contacts_upsert", arguments).want(t, 200)
			if failed, problem := got.failed(t); failed && !strings.HasPrefix(problem.Code, "contact_") && problem.Code != "conflict" {
				t.Errorf("%s: %.300s", arguments, got.body)
			}
		})
		caller{p, p.Live.APIKey}.rest(t, "GET", "/v1/contacts?limit=5", "").want(t, 200)
	})
}
