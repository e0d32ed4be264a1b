package rest_test

import (
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
)

const keyHeader = "Idempotency-Key"

// TestEveryContactWriteTakesAKey checks that every write of contacts accepts an idempotency
// key, and that a key in quotation marks equals the bare key. Keys of different endpoints
// or organizations are independent. A replay returns the first response for exactly one
// day.
func TestEveryContactWriteTakesAKey(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		p.Clock.Freeze(p.Clock.Now().Truncate(time.Second))
		a := on(t, p)
		other := a.as(a.Other.Live.APIKey)
		const one, two = "/v1/contacts/keyed%40example.com", "/v1/contacts/other%40example.com"
		for _, w := range []struct {
			method, path, body string
			elsewhere, differs string // the path and the body of a second call at the same endpoint
			status             int
		}{
			{"POST", "/v1/contacts", `{"email":"keyed@example.com"}`, "/v1/contacts", `{"email":"other@example.com"}`, 201},
			{"PUT", one, `{"attributes":{"city":"Graz"}}`, one, `{"attributes":{"city":"Linz"}}`, 200},
			{"PATCH", one, `{"attributes":{"city":"Wien"}}`, two, `{"attributes":{"city":"Wien"}}`, 200},
			{"DELETE", one, "", two, "", 204},
			{"PUT", byID + "keyed", `{"email":"keyed@example.com"}`, byID + "keyed", `{}`, 200},
			{"POST", "/v1/contacts/identify", `{"external_id":"keyed"}`, "/v1/contacts/identify", `{"email":"keyed@example.com"}`, 200},
			{"DELETE", byID + "keyed", "", byID + "other", "", 204},
		} {
			began := p.Clock.Now()
			do := func(key string) *answer { return a.do(t, w.method, w.path, w.body, keyHeader, key) }
			first := do(`"k-1"`).want(w.status)
			if first.header.Get("Idempotent-Replayed") != "" {
				t.Errorf("%s: the key of another endpoint", w.method)
			}
			for _, at := range []time.Duration{0, time.Minute, 24*time.Hour - time.Second} {
				p.Clock.Freeze(began.Add(at))
				again := do("k-1").want(w.status)
				if again.header.Get("Idempotent-Replayed") != "true" || string(again.body) != string(first.body) {
					t.Errorf("%s after %v: %v %s", w.method, at, again.header, again.body)
				}
				a.do(t, w.method, w.elsewhere, w.differs, keyHeader, "k-1").refused(409, core.CodeConflict)
			}
			if theirs := other.do(t, w.method, w.path, w.body, keyHeader, "k-1"); theirs.header.Get("Idempotent-Replayed") != "" || theirs.status == 409 {
				t.Errorf("%s: another organization's key: %d %s", w.method, theirs.status, theirs.body)
			}
			p.Clock.Freeze(began.Add(24 * time.Hour))
			if late := do("k-1"); late.header.Get("Idempotent-Replayed") != "" {
				t.Errorf("%s: remembered beyond a day", w.method)
			}
			a.do(t, "PUT", one, `{}`) // creates the contact again for the next case
		}
	})
}
