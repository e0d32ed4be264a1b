package rest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/core/inboxes"
	"github.com/mailhelm/mailhelm/core/senders"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/testsends"
	"github.com/mailhelm/mailhelm/rest"
)

// absent maps an operation to the argument that names an object, for the operations whose
// example names none. Others have one of namingArguments in their example.
var (
	absent          = map[string]string{"messages_search": "channel", "reports_get_sending_health": "channel", "workflows_author": "workflow_id"}
	namingArguments = []string{"id", "workflow", "job_id", "message_id", "broadcast_id", "slug", "identity", "domain", "contact", "name", "email"}
)

// draftWithoutTopic stands for the id of a draft that has no topic.
const draftWithoutTopic = "the draft without a topic"

// declaredFailures is a product with the objects with which calls can fail.
type declaredFailures struct{ *documentedCalls }

// changes maps a code to the arguments that replace those of an operation's example, so that
// the call fails with the code; nil removes an argument. The contact one@example.com has the
// external id one, and two@example.com has none.
var changes = map[core.Code]map[string]any{
	core.CodePlanRetentionExceeded:     {"from": "2020-01-01T00:00:00Z"},
	core.CodeAttributeValidationFailed: {"attributes": map[string]any{"orders": "many"}},
	core.CodeContactExternalIDMismatch: {"email": "one@example.com", "external_id": "another"},
	core.CodeContactEmailTaken:         {"email": "two@example.com", "external_id": "one"},
	core.CodeUnknownExternalID:         {"email": nil, "external_id": "unknown"},
	core.CodeExternalIDConflict:        {"email": "two@example.com", "external_id": "one"},
	core.CodeStaleContentHash:          {"base_content_hash": "none"},
	core.CodeInboxExpired:              {"id": endedInbox},
}

// changesFor has further changes for one operation, whose example does not reach the sending
// account or names an object with which the call does not fail.
var changesFor = map[string]map[string]any{
	"contacts_archive upstream_unavailable":  {"email": "one@example.com"},
	"contacts_identify upstream_unavailable": {"email": "new@example.com", "external_id": nil},

	"verified_senders_create conflict": {"email": takenSender},

	"templates_author conflict":           {"slug": "welcome"},
	"workflows_author not_found":          {"key": nil},
	"workflows_author conflict":           {"key": "retired"},
	"workflows_author stale_content_hash": {"source": "workflow"},
	"workflows_activate conflict":         {"workflow": "retired"},

	"inbox_pull_tokens_create conflict": {"id": fullInbox},

	"inbound_domains_create receiving_domain_not_owned": {"domain": "in.unknown.example"},
	"inbound_webhook_rotate_secret webhook_not_set":     {"domain": domainWithoutWebhook},

	"domain_auth_readiness_acknowledge conflict": {"domain": domainWithoutReports},

	"broadcasts_send no_topic_acknowledgement_required": {"id": draftWithoutTopic},
}

// TestDeclaredFailuresHappen makes each operation fail with each code that it declares. The
// reference page of the operation lists the code.
func TestDeclaredFailuresHappen(t *testing.T) {
	t.Parallel()
	d := newDeclaredFailures(t)
	provoked := 0
	for _, synced := range []bool{true, false} {
		if !synced {
			if _, err := d.SQL(t).ExecContext(t.Context(), `DELETE FROM contact_lists`); err != nil {
				t.Fatal(err)
			}
		}
		for _, op := range catalogue.Operations(catalogue.Domains{}) {
			for _, code := range op.Info().Fails {
				if synced == (code == core.CodeContactListNotSynced) {
					continue
				}
				if !provokedElsewhere(op.Info().Name, code) {
					d.provoke(t, op, code)
					provoked++
				}
				d.checkListed(t, op, code)
			}
		}
	}
	if provoked < 50 {
		t.Errorf("only %d failures are declared", provoked)
	}
}

// provokedElsewhere reports whether another test makes an operation fail with a code.
func provokedElsewhere(operation string, code core.Code) bool {
	switch code {
	case core.CodeContactClaimRace: // needs two calls at once: TestALostClaimHasRetryAfter
		return true
	case core.CodeUpstreamUnavailable: // needs a server without a mail server: TestVerifiedSendersNeedAMailServer
		return operation == "verified_senders_create"
	case core.CodeInboundNotDeployed: // needs a server without a mail host: TestReceivingDomainsNeedAMailHost
		return operation == "inbound_domains_create"
	case core.CodeInvalidScope: // needs a credential that may read nothing: conformance/bundles, TestExportByScope
		return operation == "bundles_export" || operation == "bundles_import"
	case core.CodeConflict: // there too, TestImportWithARepository and TestExportOfALostImage
		return operation == "bundles_export" || operation == "bundles_import"
	case core.CodeTestEnvironmentForbidden: // there too, TestImportByScope
		return operation == "bundles_import"
	}
	return false
}

func newDeclaredFailures(t *testing.T) *declaredFailures {
	t.Helper()
	d := &declaredFailures{documentedCalls: newDocumented(t)}
	d.do(t, "PUT", "/v1/contacts/by-external-id/one", `{"email":"one@example.com"}`).want(201)
	d.do(t, "POST", "/v1/contacts", `{"email":"two@example.com"}`).want(201)
	d.ids[draftWithoutTopic] = d.created(t, "/v1/broadcasts", `{"name":"To all","template_id":"welcome","audience_kind":"list","audience_id":"newsletter"}`, "id")
	d.addInbox(t, endedInbox, d.Clock.Now().Add(-time.Minute))
	d.addInbox(t, fullInbox, d.Clock.Now().AddDate(0, 1, 0))
	for range inboxes.MaxPullTokens - 1 {
		d.do(t, "POST", "/v1/inboxes/"+fullInbox+"/pull-tokens", "{}").want(201)
	}
	return d
}

// Ids of an inbox that has ended, and of one that has the maximum number of pull links.
const (
	endedInbox = "01900000-0000-7000-8000-0000000000e1"
	fullInbox  = "01900000-0000-7000-8000-0000000000e2"
)

// disableInboxes allows the organization new inboxes or not.
func (d *declaredFailures) disableInboxes(t *testing.T, disabled bool) {
	t.Helper()
	if _, err := d.DB.Inboxes().SetDisabled(t.Context(), d.OrgID, disabled); err != nil {
		t.Fatal(err)
	}
}

// useUpTestSends uses up the test sends that the organization may make in this hour.
func (d *declaredFailures) useUpTestSends(t *testing.T) {
	t.Helper()
	now := d.Clock.Now()
	for range testsends.PerHour {
		used := testsends.TestSend{ID: core.NewID(), Kind: "template", SubjectID: "welcome", At: now, ByKind: string(core.Person), ByID: "u"}
		if _, err := d.DB.TestSends().Begin(t.Context(), d.OrgID, used, now.Add(-time.Hour), testsends.PerHour); err != nil {
			t.Fatal(err)
		}
	}
}

// useUpStarts uses up the codes that the API key may request in this hour.
func (d *declaredFailures) useUpStarts(t *testing.T) {
	t.Helper()
	now := d.Clock.Now()
	for range senders.StartsPerHour {
		err := d.DB.InTx(t.Context(), func(ctx context.Context) error {
			_, err := d.DB.SenderStarts().AddStart(ctx, d.keyID(t), now, senders.StartLimit{Most: senders.StartsPerHour, Within: time.Hour})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// forgetTestSends lets the organization make test sends again.
func (d *declaredFailures) forgetTestSends(t *testing.T) {
	t.Helper()
	if _, err := d.SQL(t).ExecContext(t.Context(), "DELETE FROM test_sends"); err != nil {
		t.Fatal(err)
	}
}

// provoke makes a call of the operation that must fail with the code.
func (d *declaredFailures) provoke(t *testing.T, op core.Operation, code core.Code) {
	t.Helper()
	arguments := d.failing(t, op.Info(), code)
	if code == core.CodeUpstreamUnavailable {
		d.Clock.Advance(2 * time.Minute) // what is cached of the account has then expired
		d.Simulator.Faults().Set(simulator.Fault{Kind: sending.Refused})
		defer d.Simulator.Faults().Clear()
	}
	if code == core.CodeRateLimited {
		d.useUpTestSends(t)
		defer d.forgetTestSends(t)
		d.disableInboxes(t, true)
		defer d.disableInboxes(t, false)
		d.useUpStarts(t)
	}
	at := slices.IndexFunc(rest.Routes(), func(r rest.Route) bool { return r.Operation == op.Info().Name })
	if at < 0 {
		d.provokeTool(t, op, code, arguments)
		return
	}
	route := rest.Routes()[at]
	got := d.do(t, route.Method, targetOf(route, arguments), bodyOf(t, route, arguments))
	var problem core.Problem
	if got.status < 400 || json.Unmarshal(got.body, &problem) != nil || problem.Code != code || !statusFits(code, got.status) {
		t.Errorf("%s: want %s, got %d %.300s", op.Info().Name, code, got.status, got.body)
	}
}

// provokeTool calls the tool of an operation without a route. It must fail with the code.
func (d *declaredFailures) provokeTool(t *testing.T, op core.Operation, code core.Code, arguments map[string]any) {
	t.Helper()
	text, err := json.Marshal(arguments)
	if err != nil {
		t.Fatal(err)
	}
	got := d.callTool(t, d.Token(t, d.MCPURL), op.Info().Name, string(text))
	var refusal struct{ Code core.Code }
	if json.Unmarshal(got.body, &refusal) != nil || refusal.Code != code {
		t.Errorf("%s: want %s, got %.300s", op.Info().Name, code, got.body)
	}
}

// failing returns the arguments of the operation's example, changed so that the call fails
// with the code.
func (d *declaredFailures) failing(t *testing.T, info core.OperationInfo, code core.Code) map[string]any {
	t.Helper()
	arguments := map[string]any{}
	if info.Example != "" {
		if err := json.Unmarshal([]byte(d.actual(info.Example)), &arguments); err != nil {
			t.Fatal(err)
		}
	}
	maps.Copy(arguments, changes[code])
	maps.Copy(arguments, changesFor[info.Name+" "+string(code)])
	if name, is := arguments["id"].(string); is {
		arguments["id"] = d.actual(name)
	}
	maps.DeleteFunc(arguments, func(_ string, value any) bool { return value == nil })
	if code != core.CodeNotFound {
		return arguments
	}
	name := absent[info.Name]
	for _, candidate := range namingArguments {
		if _, named := arguments[candidate]; named && name == "" {
			name = candidate
		}
	}
	switch old := fmt.Sprint(arguments[name]); {
	case name == "":
		t.Errorf("%s declares %s and names no object", info.Name, code)
	case uuidForm.MatchString(old):
		arguments[name] = core.NewID()
	case strings.Contains(old, "@"):
		arguments[name] = "unknown@example.com"
	case name == "identity" || name == "domain":
		arguments[name] = "unknown.example.com"
	default:
		arguments[name] = "unknown"
	}
	return arguments
}

// targetOf returns the path and the query of a call. It removes the arguments of the path.
func targetOf(route rest.Route, arguments map[string]any) string {
	target := route.Path
	for name, value := range arguments {
		if in := "{" + name + "}"; strings.Contains(target, in) {
			target = strings.ReplaceAll(target, in, strings.ReplaceAll(url.PathEscape(fmt.Sprint(value)), "@", "%40"))
			delete(arguments, name)
		}
	}
	if route.Method != http.MethodGet && route.Method != http.MethodDelete {
		return target
	}
	query := url.Values{}
	for name, value := range arguments {
		query.Set(name, fmt.Sprint(value))
	}
	return target + "?" + query.Encode()
}

// bodyOf returns the body of a call, "" for a method without one.
func bodyOf(t *testing.T, route rest.Route, arguments map[string]any) string {
	t.Helper()
	if route.Method == http.MethodGet || route.Method == http.MethodDelete {
		return ""
	}
	text, err := json.Marshal(arguments)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// statusFits reports whether the status is that of the code in the catalogue.
func statusFits(code core.Code, status int) bool {
	return slices.ContainsFunc(core.Codes(), func(info core.CodeInfo) bool { return info.Code == code && info.Status == status })
}

// checkListed checks that the reference page of the operation links to the code.
func (d *declaredFailures) checkListed(t *testing.T, op core.Operation, code core.Code) {
	t.Helper()
	page := "/tools/"
	if slices.ContainsFunc(rest.Routes(), func(r rest.Route) bool { return r.Operation == op.Info().Name }) {
		page = "/api/"
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.DocsURL+page+op.Info().Name+".md", nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := d.HTTP.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil || !strings.Contains(string(text), "/api/errors/"+string(code)) {
		t.Errorf("%s: its page does not list %s (%d, %v)", op.Info().Name, code, got.StatusCode, err)
	}
}
