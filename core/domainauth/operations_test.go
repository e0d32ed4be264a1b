package domainauth_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

const (
	atNone       = "v=DMARC1; p=none; rua=mailto:old@example.com"
	atQuarantine = "v=DMARC1; p=quarantine; sp=quarantine"
)

func TestPostureOfANewDomain(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		all := w.want(t, "domain_auth_domains_list", `{}`)["data"].([]any)
		if len(all) != 1 {
			t.Fatalf("verified domains only: %v", all)
		}
		p := all[0].(map[string]any)
		for member, want := range map[string]any{
			"domain": domain, "policy": nil, "subdomain_policy": nil, "record": nil, "pass_rate": nil, "coverage_days": 0.0, "message_volume": 0.0,
			"open_findings": 0.0, "next_policy": nil, "last_report_at": nil, "last_measured_at": nil,
		} {
			if p[member] != want {
				t.Errorf("%s: %v, want %v", member, p[member], want)
			}
		}
		detail := w.want(t, "domain_auth_domains_get", `{"domain":"EXAMPLE.com."}`)
		records := detail["records"].([]any)
		if detail["reporting_enabled"] != false || len(records) != 2 || !strings.HasPrefix(detail["rua"].(string), "mailto:dmarc-") {
			t.Fatalf("%v", detail)
		}
		policy, consent := records[0].(map[string]any), records[1].(map[string]any)
		if policy["name"] != "_dmarc.example.com" || policy["value"] != "v=DMARC1; p=none; sp=none; rua="+detail["rua"].(string) || policy["verified"] != false {
			t.Errorf("policy record: %v", policy)
		}
		if consent["name"] != "example.com._report._dmarc.inbox.example" || consent["value"] != "v=DMARC1" || consent["verified"] != false {
			t.Errorf("consent record: %v", consent)
		}
		w.refuse(t, "domain_auth_domains_get", `{"domain":"pending.example"}`, core.CodeNotFound)
		w.refuse(t, "domain_auth_domains_get", `{"domain":"not a domain"}`, core.CodeNotFound)
	})
}

func TestPostureWithReports(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.publish(t, atNone)
		w.read(t, "a.example", 2, "none", own(90), stranger(10))
		w.read(t, "b.example", 2, "none", own(50))
		w.read(t, "a.example", 40, "none", own(1000)) // before the window
		p := w.want(t, "domain_auth_domains_get", `{"domain":"example.com"}`)
		for member, want := range map[string]any{
			"policy": "none", "subdomain_policy": "none", "record": atNone, "next_policy": "quarantine", "pass_rate": 140.0 / 150, "coverage_days": 1.0, "message_volume": 150.0,
		} {
			if p[member] != want {
				t.Errorf("%s: %v, want %v", member, p[member], want)
			}
		}
		if counts := p["source_counts"].(map[string]any); counts["unreviewed"] != 2.0 || counts["confirmed"] != 0.0 {
			t.Errorf("sources: %v", counts)
		}
		if p["last_report_at"] == nil || p["last_measured_at"] == nil {
			t.Errorf("times: %v, %v", p["last_report_at"], p["last_measured_at"])
		}
		if record := p["records"].([]any)[0].(map[string]any); record["value"] != atNone+","+p["rua"].(string) || record["verified"] != false {
			t.Errorf("the record keeps what is published: %v", record)
		}
		days := w.want(t, "domain_auth_timeseries_get", `{"domain":"example.com"}`)["data"].([]any)
		want := map[string]any{
			"date": "2026-06-18", "total": 150.0, "pass": 140.0, "spf_only": 0.0, "dkim_only": 0.0, "fail": 10.0, "none_disposition": 150.0, "quarantined": 0.0, "rejected": 0.0,
		}
		if len(days) != 1 || fmt.Sprint(days[0]) != fmt.Sprint(want) {
			t.Errorf("days: %v", days)
		}
	})
}

func TestDecisions(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.read(t, "a.example", 2, "none", own(90), stranger(10))
		listed := w.want(t, "domain_auth_sources_list", `{"domain":"example.com"}`)["data"].([]any)
		if len(listed) != 2 {
			t.Fatalf("%v", listed)
		}
		first, second := listed[0].(map[string]any), listed[1].(map[string]any)
		if first["message_count"] != 90.0 || first["aligned_count"] != 90.0 || second["failing_count"] != 10.0 || second["classification"] != "unknown" {
			t.Errorf("%v\n%v", first, second)
		}
		id := second["id"].(string)
		decide := func(decision string) map[string]any {
			return w.want(t, "domain_auth_sources_decide", `{"domain":"example.com","source_id":"`+id+`","decision":"`+decision+`"}`)
		}
		if got := decide("rejected"); got["decision"] != "rejected" || got["message_count"] != 10.0 {
			t.Errorf("%v", got)
		}
		decide("rejected") // says nothing new
		if got := w.want(t, "domain_auth_sources_list", `{"domain":"example.com","decision":"rejected"}`)["data"].([]any); len(got) != 1 {
			t.Errorf("rejected: %v", got)
		}
		if got := w.want(t, "domain_auth_sources_list", `{"domain":"example.com","classification":"spoofing"}`)["data"].([]any); len(got) != 0 {
			t.Errorf("spoofing: %v", got)
		}
		decide("unreviewed")
		events := w.want(t, "domain_auth_timeline_list", `{"domain":"example.com","kind":"source_decisions"}`)["data"].([]any)
		if len(events) != 2 {
			t.Errorf("events: %v", events)
		}
		w.refuse(t, "domain_auth_sources_decide", `{"domain":"example.com","source_id":"`+core.NewID()+`","decision":"confirmed"}`, core.CodeNotFound)
		w.refuse(t, "domain_auth_sources_decide", `{"domain":"example.com","source_id":"`+id+`","decision":"maybe"}`, core.CodeValidationFailed)
		page := w.want(t, "domain_auth_sources_list", `{"domain":"example.com","limit":1}`)
		cursor := page["pagination"].(map[string]any)["next_cursor"].(string)
		rest := w.want(t, "domain_auth_sources_list", `{"domain":"example.com","limit":1,"cursor":"`+cursor+`"}`)
		if got := rest["data"].([]any); len(got) != 1 || got[0].(map[string]any)["id"] != id {
			t.Errorf("second page: %v", got)
		}
		w.refuse(t, "domain_auth_sources_list", `{"domain":"example.com","decision":"rejected","cursor":"`+cursor+`"}`, core.CodeValidationFailed)
	})
}

// TestPersonBoundOperations checks which operations refuse an application that acts for itself.
func TestPersonBoundOperations(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.read(t, "a.example", 2, "none", own(90))
		id := w.want(t, "domain_auth_sources_list", `{"domain":"example.com"}`)["data"].([]any)[0].(map[string]any)["id"].(string)
		person := w.caller
		w.caller = core.Principal{Org: w.org, Credential: core.Credential{Kind: core.OAuthClient, ID: core.NewID()}}
		for name, arguments := range map[string]string{
			"domain_auth_sources_decide":        `{"domain":"example.com","source_id":"` + id + `","decision":"confirmed"}`,
			"domain_auth_readiness_acknowledge": `{"domain":"example.com","target_policy":"quarantine"}`,
			"domain_auth_notes_create":          `{"domain":"example.com","note":"x"}`,
		} {
			refused := w.refuse(t, name, arguments, core.CodeValidationFailed)
			if len(refused.Fields) != 1 || refused.Fields[0].Field != "authorization" || refused.HTTPStatus() != 422 || refused.RetryAfter != 0 {
				t.Errorf("%s: %+v", name, refused)
			}
		}
		if got := w.want(t, "domain_auth_domains_remeasure", `{"domain":"example.com"}`); got["queued"] != true {
			t.Errorf("remeasure: %v", got)
		}
		if events := w.want(t, "domain_auth_timeline_list", `{"domain":"example.com"}`)["data"].([]any); len(events) != 0 {
			t.Errorf("a refused call left events: %v", events)
		}
		for _, accepted := range []core.Principal{
			person,
			{Org: w.org, Credential: core.Credential{Kind: core.APIKey, ID: core.NewID()}, KeyOwner: core.NewID()},
			{Org: w.org, UserID: core.NewID(), Credential: core.Credential{Kind: core.OAuthClient, ID: core.NewID()}},
		} {
			w.caller = accepted
			w.want(t, "domain_auth_notes_create", `{"domain":"example.com","note":"The newsletter moved."}`)
		}
	})
}

// ready reads reports of 20 days with which the domain is ready for quarantine, except for mail
// that a forwarder broke.
func (w *world) ready(t *testing.T) {
	t.Helper()
	w.publish(t, atNone)
	for ago := 1; ago <= 20; ago++ {
		for _, reporter := range []string{"a.example", "b.example", "c.example"} {
			w.read(t, reporter, ago, "none", own(100), forwarded(1))
		}
	}
	for _, s := range w.want(t, "domain_auth_sources_list", `{"domain":"example.com"}`)["data"].([]any) {
		w.want(t, "domain_auth_sources_decide", `{"domain":"example.com","source_id":"`+s.(map[string]any)["id"].(string)+`","decision":"confirmed"}`)
	}
}

func TestAcknowledgement(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.publish(t, atNone)
		refused := w.refuse(t, "domain_auth_readiness_acknowledge", `{"domain":"example.com","target_policy":"quarantine"}`, core.CodeConflict)
		if refused.HTTPStatus() != 409 {
			t.Errorf("status %d", refused.HTTPStatus())
		}
		w.ready(t)
		before := w.want(t, "domain_auth_readiness_get", `{"domain":"example.com"}`)
		if before["ready"] != false || before["ready_pending_acknowledgement"] != true || before["record_to_publish"] != nil || before["acknowledgement"] != nil {
			t.Fatalf("before: %v", before)
		}
		w.refuse(t, "domain_auth_readiness_acknowledge", `{"domain":"example.com","target_policy":"reject"}`, core.CodeValidationFailed)
		got := w.want(t, "domain_auth_readiness_acknowledge", `{"domain":"example.com","target_policy":"quarantine","note":"It is a mailing list."}`)
		frozen := got["frozen"].(map[string]any)
		if got["target_policy"] != "quarantine" || frozen["messages"] != 60.0 || frozen["per_day"] != 3.0 {
			t.Errorf("%v", got)
		}
		after := w.want(t, "domain_auth_readiness_get", `{"domain":"example.com"}`)
		record, _ := after["record_to_publish"].(string)
		if after["ready"] != true || !strings.HasPrefix(record, "v=DMARC1; p=quarantine; sp=quarantine; rua=mailto:old@example.com,mailto:dmarc-") || after["ttl_advice"] != 300.0 {
			t.Errorf("after: %v", after)
		}
		w.refuse(t, "domain_auth_readiness_acknowledge", `{"domain":"example.com","target_policy":"quarantine"}`, core.CodeConflict)
		w.read(t, "d.example", 1, "none", forwarded(40))
		if kept := w.want(t, "domain_auth_readiness_get", `{"domain":"example.com"}`)["acknowledgement"].(map[string]any); kept["frozen"].(map[string]any)["messages"] != 60.0 {
			t.Errorf("later reports change what was accepted: %v", kept)
		}
		events := w.want(t, "domain_auth_timeline_list", `{"domain":"example.com","kind":"acknowledgement"}`)["data"].([]any)
		if len(events) != 1 || events[0].(map[string]any)["note"] != "It is a mailing list." {
			t.Errorf("events: %v", events)
		}
		w.publish(t, atQuarantine) // the next step needs its own
		if next := w.want(t, "domain_auth_readiness_get", `{"domain":"example.com"}`); next["acknowledgement"] != nil || next["target_policy"] != "reject" {
			t.Errorf("next: %v", next)
		}
	})
}

// TestNothingPublishes runs every operation that writes, and compares what DNS was last known to
// say about the domain.
func TestNothingPublishes(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.ready(t)
		posture := w.want(t, "domain_auth_domains_get", `{"domain":"example.com"}`)
		id := w.want(t, "domain_auth_sources_list", `{"domain":"example.com"}`)["data"].([]any)[0].(map[string]any)["id"].(string)
		calls := map[string]string{
			"domain_auth_sources_decide": `{"domain":"example.com","source_id":"` + id + `","decision":"rejected"}`, "domain_auth_readiness_acknowledge": `{"domain":"example.com","target_policy":"quarantine"}`,
			"domain_auth_domains_remeasure": `{"domain":"example.com"}`, "domain_auth_notes_create": `{"domain":"example.com","note":"x"}`,
		}
		w.want(t, "domain_auth_readiness_acknowledge", calls["domain_auth_readiness_acknowledge"])
		for name, op := range w.operations {
			info := op.Info()
			switch {
			case info.Effect == core.Reads:
				continue
			case info.Effect == core.Destroys || info.ReachesPeople:
				t.Errorf("%s destroys or reaches people", name)
			case calls[name] == "":
				t.Errorf("%s is not part of this test", name)
			}
			if !strings.Contains(info.Purpose, "publishes no") && !strings.Contains(info.Purpose, "publishes nothing") && !strings.Contains(info.Purpose, "changes no record") {
				t.Errorf("%s does not say that it publishes nothing", name)
			}
			if name != "domain_auth_readiness_acknowledge" {
				w.want(t, name, calls[name])
			}
		}
		now := w.want(t, "domain_auth_domains_get", `{"domain":"example.com"}`)
		for _, member := range []string{"policy", "subdomain_policy", "record", "next_policy", "last_measured_at"} {
			if fmt.Sprint(now[member]) != fmt.Sprint(posture[member]) {
				t.Errorf("%s went from %v to %v", member, posture[member], now[member])
			}
		}
	})
}

func TestRemeasure(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.publish(t, atNone)
		measured := w.now.Format(time.RFC3339)
		w.now = w.now.Add(time.Minute)
		if got := w.want(t, "domain_auth_domains_remeasure", `{"domain":"example.com"}`); got["queued"] != true || got["retry_after_seconds"] != nil || got["last_measured_at"] != measured {
			t.Errorf("first: %v", got)
		}
		w.now = w.now.Add(59*time.Minute + 30*time.Second)
		if got := w.want(t, "domain_auth_domains_remeasure", `{"domain":"example.com"}`); got["queued"] != false || got["retry_after_seconds"] != 30.0 {
			t.Errorf("early: %v", got)
		}
		w.now = w.now.Add(30 * time.Second)
		if got := w.want(t, "domain_auth_domains_remeasure", `{"domain":"example.com"}`); got["queued"] != true {
			t.Errorf("after an hour: %v", got)
		}
	})
}

func TestNotesAndComparison(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		for ago := 1; ago <= 35; ago++ {
			w.read(t, "a.example", ago, "none", own(100), stranger(uint64(ago)))
		}
		occurred := daysAgo(18).Add(9 * time.Hour)
		note := w.want(t, "domain_auth_notes_create", `{"domain":"example.com","note":"The shop moved.","occurred_at":"`+occurred.Format(time.RFC3339)+`"}`)
		id := note["id"].(string)
		got := w.want(t, "domain_auth_comparison_get", `{"domain":"example.com","annotation_id":"`+id+`"}`)
		before, after := got["before"].(map[string]any), got["after"].(map[string]any)
		failing := func(from, to int) (n float64) {
			for ago := from; ago <= to; ago++ {
				n += float64(ago)
			}
			return n
		}
		if before["total"] != 1400+failing(19, 32) || before["failing"] != failing(19, 32) || after["failing"] != failing(2, 15) || got["delta"] == nil {
			t.Errorf("%v", got)
		}
		w.refuse(t, "domain_auth_comparison_get", `{"domain":"example.com","annotation_id":"`+core.NewID()+`"}`, core.CodeNotFound)
		for _, bad := range []string{`{"domain":"example.com","note":"x","occurred_at":"2027-01-01T00:00:00Z"}`, `{"domain":"example.com","note":"x","occurred_at":"2020-01-01T00:00:00Z"}`, `{"domain":"example.com","note":"  "}`} {
			w.refuse(t, "domain_auth_notes_create", bad, core.CodeValidationFailed)
		}
		w.refuse(t, "domain_auth_timeseries_get", `{"domain":"example.com","from":"2020-01-01T00:00:00Z"}`, core.CodePlanRetentionExceeded)
	})
}

// TestIsolation checks that an organization sees nothing of another one with the same domain.
func TestIsolation(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.ready(t)
		source := w.want(t, "domain_auth_sources_list", `{"domain":"example.com"}`)["data"].([]any)[0].(map[string]any)["id"].(string)
		note := w.want(t, "domain_auth_notes_create", `{"domain":"example.com","note":"x"}`)["id"].(string)
		other := newWorld(t, w.db)
		if got := other.want(t, "domain_auth_domains_get", `{"domain":"example.com"}`); got["message_volume"] != 0.0 || got["record"] != nil {
			t.Errorf("posture: %v", got)
		}
		for _, list := range []string{"domain_auth_sources_list", "domain_auth_timeseries_get", "domain_auth_timeline_list"} {
			if got := other.want(t, list, `{"domain":"example.com"}`)["data"].([]any); len(got) != 0 {
				t.Errorf("%s: %v", list, got)
			}
		}
		other.refuse(t, "domain_auth_sources_decide", `{"domain":"example.com","source_id":"`+source+`","decision":"confirmed"}`, core.CodeNotFound)
		other.refuse(t, "domain_auth_comparison_get", `{"domain":"example.com","annotation_id":"`+note+`"}`, core.CodeNotFound)
	})
}
