package rest_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

func TestIdempotency(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		const body = `{"email":"once@example.com","attributes":{"city":"Graz"}}`
		create := func(key, body string) *answer { return a.do(t, "POST", "/v1/contacts", body, "Idempotency-Key", key) }

		first := create("key-1", body).want(201)
		again := create(`"key-1"`, `{ "attributes": {"city": "Graz"}, "email": "once@example.com" }`).want(201)
		if !same(t, first.body, again.body) || first.header.Get("Idempotent-Replayed") != "" || again.header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("first %s %v\nagain %s %v", first.body, first.header, again.body, again.header)
		}
		create("key-1", `{"email":"twice@example.com"}`).refused(409, core.CodeConflict)

		// The same key at another route, or from another organization, does not cause a
		// replay.
		a.do(t, "PUT", "/v1/contacts/once%40example.com", `{}`, "Idempotency-Key", "key-1").want(200)
		a.as(a.Other.Live.APIKey).do(t, "POST", "/v1/contacts", `{"email":"once@example.com"}`, "Idempotency-Key", "key-1").want(201)

		// A refused call does not use up its idempotency key.
		create("key-2", `{"email":"bad"}`).refused(422, core.CodeValidationFailed)
		create("key-2", `{"email":"fresh@example.com"}`).want(201)
		create("key-3", `{"email":"fresh@example.com"}`).refused(409, core.CodeConflict)
		create("key-3", `{"email":"fresher@example.com"}`).want(201)

		a.do(t, "DELETE", "/v1/contacts/fresh%40example.com", "", "Idempotency-Key", "key-4").want(204)
		if h := a.do(t, "DELETE", "/v1/contacts/fresh%40example.com", "", "Idempotency-Key", "key-4").want(204).header; h.Get("Idempotent-Replayed") != "true" {
			t.Error("a replayed deletion does not say so")
		}

		p.Clock.Advance(24*time.Hour - time.Minute)
		if h := create("key-1", body).want(201).header; h.Get("Idempotent-Replayed") != "true" {
			t.Error("the key is forgotten before 24 hours are over")
		}
		p.Clock.Advance(2 * time.Minute)
		// the key has expired, so this is a new call, and it fails because the contact exists
		create("key-1", body).refused(409, core.CodeConflict)
	})
}

// TestIdempotencyInFlight makes two equal calls at the same time while the sending account
// is slow. It checks that one call waits for the account, and that the other fails with a
// time to retry.
func TestIdempotencyInFlight(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		a.Simulator.Faults().Set(simulator.Fault{Method: simulator.MethodPutContact, Delay: 1500 * time.Millisecond, Times: 1})
		const body = `{"email":"slow@example.com"}`
		results := make(chan *answer, 2)
		for range 2 {
			go func() { results <- a.do(t, "POST", "/v1/contacts", body, "Idempotency-Key", "k") }()
		}
		early, late := <-results, <-results
		early.refused(409, core.CodeConflict)
		if got := early.header.Get("Retry-After"); got != "1" {
			t.Errorf("Retry-After = %q, want 1", got)
		}
		late.want(201)
		if h := a.do(t, "POST", "/v1/contacts", body, "Idempotency-Key", "k").want(201).header; h.Get("Idempotent-Replayed") != "true" {
			t.Error("the repeated call is not a replay")
		}
	})
}

// TestSendingAccountFails checks that every route that calls the sending account reports
// the account's failure with a time to retry, and leaves no partial write.
func TestSendingAccountFails(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		path := "/v1/contacts/" + a.Org.Contact
		before := a.do(t, "GET", path, "").want(200)
		for name, tc := range map[string]struct {
			fault  simulator.Fault
			status int
			wait   string
		}{
			"refused":   {simulator.Fault{Kind: sending.Refused}, 503, "5"},
			"throttled": {simulator.Fault{Kind: sending.Throttled, RetryAfter: 17 * time.Second}, 503, "17"},
			"timed-out": {simulator.Fault{Kind: sending.TimedOut}, 504, "5"},
		} {
			a.Simulator.Faults().Set(tc.fault)
			for _, call := range [][3]string{
				{"GET", path, ""},
				{"POST", "/v1/contacts", `{"email":"never@example.com"}`},
				{"PUT", path, `{}`},
				{"PATCH", path, `{"unsubscribe_all":true}`},
				{"DELETE", path, ""},
			} {
				failed := a.do(t, call[0], call[1], call[2], "Idempotency-Key", name)
				p := failed.refused(tc.status, core.CodeUpstreamUnavailable)
				if got := failed.header.Get("Retry-After"); got != tc.wait || strconv.Itoa(p.RetryAfter) != tc.wait {
					t.Errorf("%s, %s: Retry-After = %q, retry_after = %d, want %s", name, call[0], got, p.RetryAfter, tc.wait)
				}
			}
			// Reads from the database, such as contacts and the plan, succeed without the
			// sending account.
			a.do(t, "GET", "/v1/contacts", "").want(200)
			a.Clock.Advance(2 * time.Minute) // the cached data of the account has then expired
			var account struct {
				AWS   any `json:"aws"`
				Quota any `json:"send_quota"`
				Org   any `json:"org"`
			}
			a.do(t, "GET", "/v1/account", "").want(200).decode(&account)
			if account.AWS != nil || account.Quota != nil || account.Org == nil {
				t.Errorf("%s: account = %+v", name, account)
			}
		}
		a.Simulator.Faults().Clear()
		if after := a.do(t, "GET", path, "").want(200); !same(t, before.body, after.body) {
			t.Errorf("before: %s\nafter: %s", before.body, after.body)
		}
		a.do(t, "GET", "/v1/contacts/never%40example.com", "").refused(404, core.CodeNotFound)
		a.do(t, "POST", "/v1/contacts", `{"email":"never@example.com"}`, "Idempotency-Key", "refused").want(201)
	})
}
