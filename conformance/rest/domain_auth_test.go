package rest_test

import (
	"encoding/json"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth/domainauthtest"
)

// TestDecisionsAboutDomainsNeedAPerson checks the routes that an application with a token of its own
// may not call, and that it may read and ask for a measurement. Of a second measurement within an
// hour, it checks the answer and its header.
func TestDecisionsAboutDomainsNeedAPerson(t *testing.T) {
	t.Parallel()
	a := start(t, product.Options{})
	ready := domainauthtest.Ready(t, a.DB, a.OrgID, "example.com", a.Clock.Now())
	const domain = "/v1/domain-auth/domains/example.com"
	machine := a.as(a.Token(t, a.BaseURL))
	for _, call := range [][3]string{
		{"PATCH", domain + "/sources/" + ready.Own, `{"decision":"rejected"}`},
		{"POST", domain + "/readiness/acknowledge", `{"target_policy":"quarantine"}`},
		{"POST", domain + "/timeline/notes", `{"note":"The shop moved."}`},
	} {
		got := machine.do(t, call[0], call[1], call[2]).want(422)
		var problem struct {
			Code   string `json:"code"`
			Errors []struct {
				Field string `json:"field"`
			} `json:"errors"`
		}
		if err := json.Unmarshal(got.body, &problem); err != nil || len(problem.Errors) != 1 || problem.Errors[0].Field != "authorization" || problem.Code != string(core.CodeValidationFailed) {
			t.Errorf("%s %s: %s", call[0], call[1], got.body)
		}
		if wait := got.header.Get("Retry-After"); wait != "" {
			t.Errorf("%s %s: to be repeated after %q", call[0], call[1], wait)
		}
		a.do(t, call[0], call[1], call[2])
	}
	if events := a.rows(t, domain+"/timeline"); len(events) != 3 {
		t.Errorf("the API key, which has an owner, left %d events: %v", len(events), events)
	}
	for _, read := range []string{"", "/sources", "/readiness", "/timeseries", "/timeline"} {
		machine.do(t, "GET", domain+read, "").want(200)
	}
	first := machine.do(t, "POST", domain+"/remeasure", "").want(202)
	if first.header.Get("Retry-After") != "" {
		t.Errorf("first: %v", first.header)
	}
	again := a.do(t, "POST", domain+"/remeasure", "").want(202)
	var answer struct {
		Queued bool   `json:"queued"`
		Wait   int    `json:"retry_after_seconds"`
		Last   string `json:"last_measured_at"`
	}
	if err := json.Unmarshal(again.body, &answer); err != nil || answer.Queued || answer.Wait < 3500 || answer.Wait > 3600 || answer.Last == "" || again.header.Get("Retry-After") == "" {
		t.Errorf("again: %s, %v", again.body, again.header)
	}
	other, _ := a.anotherOrg(t, false)
	other.do(t, "GET", domain+"/sources", "").want(404)
}
