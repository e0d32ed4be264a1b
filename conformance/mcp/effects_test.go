package mcp_test

import (
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

const revision = "2025-11-25"

// TestOneCallOneEffect checks that repeated calls have one effect. Repetitions without an
// idempotency key are recognized for five minutes, those with a key for a day. A call with
// a new key is executed.
func TestOneCallOneEffect(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		p.Clock.Freeze(p.Clock.Now())
		began := p.Clock.Now()
		const arguments = `{"email":"once@example.com"}`
		for _, step := range []struct {
			at       time.Duration
			key      string
			result   string
			replayed bool
		}{
			{0, "", "created", false},
			{5*time.Minute - time.Second, "", "created", true},
			{5*time.Minute - time.Second, "k", "updated", false},
			{5*time.Minute + time.Second, "", "updated", false},
			{24 * time.Hour, "k", "updated", true},
			{24*time.Hour + 6*time.Minute, "k", "updated", false},
		} {
			p.Clock.Freeze(began.Add(step.at))
			got := post(t, p, "Bearer "+p.Token(t, p.MCPURL), revision, tool("contacts_upsert", arguments, step.key))
			if got.structured(t)["result"] != step.result || got.replayed() != step.replayed {
				t.Errorf("at %v, key %q: %s", step.at, step.key, got.body)
			}
		}
		token := "Bearer " + p.Token(t, p.MCPURL)
		post(t, p, token, revision, tool("contacts_upsert", arguments, "taken"))
		other := post(t, p, token, revision, tool("contacts_upsert", `{"email":"twice@example.com"}`, "taken")).structured(t)
		if other["code"] != "conflict" || other["status"] != 409.0 {
			t.Errorf("a key with other arguments: %v", other)
		}
	})
}

// TestExternalIDsLastThroughArchiving checks that an archived contact can still be found,
// archived again and reactivated by its external id.
func TestExternalIDsLastThroughArchiving(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		token := "Bearer " + p.Token(t, p.MCPURL)
		do := func(name, arguments, key string) map[string]any {
			t.Helper()
			return post(t, p, token, revision, tool(name, arguments, key)).structured(t)
		}
		created := do("contacts_upsert", `{"email":"ext@example.com","external_id":"crm-1"}`, "")["contact"].(map[string]any)
		for i, want := range []bool{true, false} {
			if got := do("contacts_archive", `{"external_id":"crm-1"}`, string(rune('a'+i))); got["archived"] != want || got["summary"] == "" {
				t.Errorf("archive %d: %v", i+1, got)
			}
		}
		if got := do("contacts_archive", `{"external_id":"nobody"}`, ""); got["archived"] != false {
			t.Errorf("archive of nobody: %v", got)
		}
		found := do("contacts_lookup", `{"external_id":"crm-1"}`, "")
		gone := found["contact"].(map[string]any)
		if gone["status"] != "archived" || gone["id"] != created["id"] || gone["email"] != "ext@example.com" || found["mailable_note"] != "Not mailable: the contact is archived." {
			t.Errorf("archived: %v", found)
		}
		back := do("contacts_upsert", `{"external_id":"crm-1"}`, "")
		if back["result"] != "reactivated" || back["contact"].(map[string]any)["id"] != created["id"] {
			t.Errorf("taken back: %v", back)
		}
	})
}

// TestFailuresOfTheAccountAreToolErrors checks the tool errors for failures of the sending
// account. The status is 503 if the account refuses or throttles and 504 if the outcome is
// unknown; retry_after says how long to wait.
func TestFailuresOfTheAccountAreToolErrors(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	token := "Bearer " + p.Token(t, p.MCPURL)
	for kind, status := range map[sending.FailureKind]float64{sending.Refused: 503, sending.Throttled: 503, sending.TimedOut: 504} {
		p.Simulator.Faults().Set(simulator.Fault{Kind: kind})
		for name, arguments := range map[string]string{
			"contacts_lookup": `{"email":"` + p.Contact + `"}`, "contacts_upsert": `{"email":"never@example.com"}`,
			"contacts_archive": `{"email":"` + p.Contact + `"}`, "sending_readiness_check": `{}`,
		} {
			got := post(t, p, token, revision, tool(name, arguments, ""))
			value := got.structured(t)
			if got.status != 200 || got.Result["isError"] != true || value["code"] != "upstream_unavailable" || value["status"] != status || value["retry_after"] == nil {
				t.Errorf("%s, %s: %s", name, kind, got.body)
			}
		}
	}
	p.Simulator.Faults().Clear()
	if got := post(t, p, token, revision, tool("contacts_lookup", `{"email":"never@example.com"}`, "")).structured(t); got["code"] != "not_found" {
		t.Errorf("a failed write left something: %v", got)
	}
	if got := post(t, p, token, revision, tool("contacts_upsert", `{"email":"never@example.com"}`, "")); got.replayed() || got.structured(t)["result"] != "created" {
		t.Errorf("a failure was remembered: %s", got.body)
	}
}
