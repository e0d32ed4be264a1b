package domainauth_test

import (
	"context"
	"flag"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	coredomainauth "github.com/mailhelm/mailhelm/core/domainauth"
	"github.com/mailhelm/mailhelm/core/domainauth/timeline"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/rest/dashboard/domainauth"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var update = flag.Bool("update", false, "write the golden files again")

const (
	domainID = "0198c5a0-0000-7000-8000-00000000d001"
	sourceID = "0198c5a0-0000-7000-8000-00000000da01"
	otherID  = "0198c5a0-0000-7000-8000-00000000da02"
	eventID  = "0198c5a0-0000-7000-8000-00000000de01"
	noteID   = "0198c5a0-0000-7000-8000-00000000de02"
	page     = domainauth.ListPath + "/bakery.example"

	hostile = `<script>alert(1)<\/script>\u202e`

	posture = `"domain":"bakery.example","policy":"none","subdomain_policy":"quarantine","record":"v=DMARC1; p=none; sp=quarantine; rua=mailto:old@bakery.example; x=` + hostile + `",` +
		`"pass_rate":0.9125,"coverage_days":27,"message_volume":12431,"source_counts":{"confirmed":2,"rejected":1,"unreviewed":3},"open_findings":2,"next_policy":"quarantine",` +
		`"last_report_at":"2026-03-12T05:00:00Z","last_measured_at":"2026-03-12T14:40:00Z"`
	fresh = `"policy":null,"subdomain_policy":null,"record":null,"pass_rate":null,"coverage_days":0,"message_volume":0,"source_counts":{"confirmed":0,"rejected":0,"unreviewed":0},` +
		`"open_findings":0,"next_policy":null,"last_report_at":null,"last_measured_at":null`

	reporting = `"rua":"mailto:dmarc-abc@in.mailhelm.test","reporting_enabled":false,"records":[` +
		`{"type":"TXT","name":"_dmarc.bakery.example","value":"v=DMARC1; p=none; sp=quarantine; rua=mailto:old@bakery.example,mailto:dmarc-abc@in.mailhelm.test","verified":false},` +
		`{"type":"TXT","name":"bakery.example._report._dmarc.in.mailhelm.test","value":"v=DMARC1","verified":true}]`

	sender = `{"id":"` + sourceID + `","name":"` + hostile + `","provider":"sendgrid","classification":"unknown","decision":"unreviewed",` +
		`"finding":{"code":"failing_volume","detail":"120 messages of 120 failed the check of your domain.","opened_at":"2026-03-01T00:00:00Z"},` +
		`"message_count":1200,"aligned_count":1080,"failing_count":120,"spf_pass":0,"dkim_pass":1080,"first_seen_at":"2026-02-20T00:00:00Z","last_seen_at":"2026-03-11T00:00:00Z","sample_ips":["192.0.2.10","2001:db8::1"]}`
	own = `{"id":"` + otherID + `","name":"Own servers","provider":null,"classification":"own","decision":"confirmed","finding":null,` +
		`"message_count":0,"aligned_count":0,"failing_count":0,"spf_pass":0,"dkim_pass":0,"first_seen_at":"2025-02-20T00:00:00Z","last_seen_at":"2026-03-11T00:00:00Z","sample_ips":[]}`

	change = `{"id":"` + eventID + `","kind":"policy_change","origin":"dns","occurred_at":"2026-03-10T09:00:00Z","observed_at":"2026-03-10T11:00:00Z","sightings":3,` +
		`"old_record":null,"new_record":"v=DMARC1; p=none; x=` + hostile + `","title":"The policy is none","note":null}`
	note = `{"id":"` + noteID + `","kind":"note","occurred_at":"2026-03-10T08:00:00Z","observed_at":"2026-03-10T08:00:00Z","sightings":0,` +
		`"old_record":null,"new_record":null,"title":"Note","note":"` + hostile + ` The newsletter moved to another service, and the bakery found out weeks later."}`
	decision = `{"id":"` + otherID + `","kind":"source_decisions","occurred_at":"2026-03-02T08:00:00Z","observed_at":"2026-03-02T08:00:00Z","sightings":0,` +
		`"old_record":null,"new_record":null,"title":"\"Own servers\" was confirmed","note":null}`

	impact = `{"id":"` + sourceID + `","name":"` + hostile + `","classification":"unknown","decision":"unreviewed","failing_messages":120,"relay_broken_messages":0,"blocks":true},` +
		`{"id":"` + otherID + `","name":"Mailing list","classification":"forwarder","decision":"unreviewed","failing_messages":45,"relay_broken_messages":45,"blocks":false}`
)

// measured returns a readiness with these criteria and other members.
func measured(criteria, members string) string {
	return `{"domain":"bakery.example","current_policy":"none","ttl_advice":300,"measured_at":"2026-03-12T14:40:00Z","impact":{"completeness":0.9,"alignment_breadth":0.75,"failing_messages_per_day":6.1111,"sources":[` + impact + `]},` +
		`"criteria":[` + criteria + `],` + members + `}`
}

const (
	unmet = `{"name":"coverage_days","blocking":true,"met":false,"value":9,"threshold":14},{"name":"message_volume","blocking":true,"met":false,"value":840,"threshold":1000},` +
		`{"name":"distinct_providers","blocking":true,"met":false,"value":2,"threshold":3},{"name":"pass_rate","blocking":false,"met":true,"value":0.9125,"threshold":null},` +
		`{"name":"no_unaligned_sending","blocking":true,"met":false,"value":1,"threshold":0},{"name":"acceptable_impact","blocking":true,"met":false,"value":10.01,"threshold":10},` +
		`{"name":"time_at_current_policy","blocking":true,"met":false,"value":null,"threshold":30},{"name":"no_new_unknown_sources","blocking":true,"met":false,"value":2,"threshold":0}`
	met     = `{"name":"coverage_days","blocking":true,"met":true,"value":27,"threshold":14},{"name":"acceptable_impact","blocking":true,"met":true,"value":0,"threshold":10}`
	waiting = `"target_policy":"quarantine","ready":false,"ready_pending_acknowledgement":false,"record_to_publish":null,"record_diff":[],"acknowledgement":null`
	pending = `"target_policy":"quarantine","ready":false,"ready_pending_acknowledgement":true,"record_to_publish":null,"record_diff":[],"acknowledgement":null`
	ready   = `"target_policy":"quarantine","ready":true,"ready_pending_acknowledgement":false,"record_to_publish":"v=DMARC1; p=quarantine; sp=quarantine; rua=mailto:dmarc-abc@in.mailhelm.test",` +
		`"record_diff":[{"tag":"p","from":"none","to":"quarantine"},{"tag":"x","from":"` + hostile + `","to":null},{"tag":"adkim","from":null,"to":"s"}],` +
		`"acknowledgement":{"acknowledged_at":"2026-03-11T09:00:00Z","target_policy":"quarantine","frozen":{"from":"2026-02-10T00:00:00Z","to":"2026-03-11T00:00:00Z","messages":45,"per_day":1.5,"sources":[` + impact + `]}}`
	strictest = `"target_policy":null,"ready":false,"ready_pending_acknowledgement":false,"record_to_publish":null,"record_diff":[],"acknowledgement":null`

	groups = `"groups":[{"classification":"own","decision":"confirmed","total":900,"failing":3},{"classification":"unknown","decision":"unreviewed","total":100,"failing":97}]`
	sides  = `"annotation_id":"` + eventID + `","before":{"from":"2026-02-24T00:00:00Z","to":"2026-03-10T00:00:00Z","days":14,"total":1000,"pass_rate":0.9,"failing":100,` + groups + `},` +
		`"after":{"from":"2026-03-13T00:00:00Z","to":"2026-03-27T00:00:00Z","days":12,"total":1200,"pass_rate":0.985,"failing":18,"groups":[{"classification":"own","decision":"confirmed","total":1200,"failing":18}]}`
	compared   = `{` + sides + `,"delta":{"pass_rate":0.085,"failing_per_day":-5.6428,"messages_per_day":28.5714},"no_delta_reason":null,"after_incomplete":false,"attribution_declined":false,"neighbours":[],"truncations":[]}`
	uncompared = `{` + sides + `,"delta":null,"no_delta_reason":"attribution_declined","after_incomplete":true,"attribution_declined":true,"neighbours":[` + change + `],` +
		`"truncations":[{"reason":"no_reports","from":"2026-03-14T00:00:00Z","to":"2026-03-16T00:00:00Z","days":2},{"reason":"present","from":"2026-03-26T00:00:00Z","to":"2026-03-27T00:00:00Z","days":1}]}`
)

// results are the results of the operations, in the form of REST.
func results() map[string]string {
	return map[string]string{
		"domain_auth_domains_list": `{"data":[{` + posture + `},{"domain":"a-rather-long-name.of-a-new-domain.example",` + fresh + `}],"pagination":{"has_more":true,"next_cursor":"next"}}`,
		"domain_auth_domains_get":  `{` + posture + `,` + reporting + `}`,
		"domain_auth_timeseries_get": `{"data":[{"date":"2026-03-01","total":100,"pass":90,"spf_only":10,"dkim_only":20,"fail":10,"none_disposition":97,"quarantined":2,"rejected":1},` +
			`{"date":"2026-03-02","total":0,"pass":0,"spf_only":0,"dkim_only":0,"fail":0,"none_disposition":0,"quarantined":0,"rejected":0},` +
			`{"date":"2026-03-10","total":1200,"pass":1080,"spf_only":0,"dkim_only":80,"fail":120,"none_disposition":1200,"quarantined":0,"rejected":0}]}`,
		"domain_auth_sources_list":          `{"data":[` + sender + `,` + own + `],"pagination":{"has_more":false,"next_cursor":null}}`,
		"domain_auth_sources_decide":        sender,
		"domain_auth_readiness_get":         measured(unmet, waiting),
		"domain_auth_readiness_acknowledge": `{"acknowledged_at":"2026-03-11T09:00:00Z","target_policy":"quarantine","frozen":{"from":"2026-02-10T00:00:00Z","to":"2026-03-11T00:00:00Z","messages":45,"per_day":1.5,"sources":[]}}`,
		"domain_auth_domains_remeasure":     `{"queued":true,"last_measured_at":null}`,
		"domain_auth_timeline_list":         `{"data":[` + change + `,` + note + `,` + decision + `],"pagination":{"has_more":false,"next_cursor":null}}`,
		"domain_auth_comparison_get":        compared,
		"domain_auth_notes_create":          note,
	}
}

// stored is a store with one domain and one event.
type stored struct{ requestedAt *time.Time }

func (s stored) Domain(_ context.Context, _, name string) (coredomainauth.Domain, error) {
	at := frametest.Now().Add(-20 * time.Minute)
	return coredomainauth.Domain{ID: domainID, Domain: name, MeasuredAt: &at, RequestedAt: s.requestedAt}, nil
}

func (s stored) Domains(ctx context.Context, org, _ string, _ int) ([]coredomainauth.Domain, error) {
	d, err := s.Domain(ctx, org, "bakery.example")
	return []coredomainauth.Domain{d}, err
}

func (stored) Event(_ context.Context, _, domain, id string) (coredomainauth.Event, error) {
	if domain != domainID || id != eventID {
		return coredomainauth.Event{}, core.NotFound("event")
	}
	record := "v=DMARC1; p=none"
	return coredomainauth.Event{
		ID: id, Kind: timeline.PolicyChange, Origin: timeline.Reports, Sightings: 1, Title: "The policy is none", NewRecord: &record,
		OccurredAt: frametest.Now().AddDate(0, 0, -2), ObservedAt: frametest.Now().AddDate(0, 0, -1),
	}, nil
}

// office is an organization with prepared results of operations.
type office struct {
	*frametest.Office
	operations *frametest.Operations
	db         *storage.DB
	pages      http.Handler
}

func newOffice(t *testing.T, requestedAt *time.Time) *office {
	t.Helper()
	return newOfficeOn(t, storagetest.SQLite(t), requestedAt)
}

func newOfficeOn(t *testing.T, db *storage.DB, requestedAt *time.Time) *office {
	t.Helper()
	o := &office{db: db, Office: frametest.NewOffice(t, frametest.DatabaseOf(db),
		frame.Area{Path: domainauth.ListPath, Name: "Domain authentication"}, frame.Area{Path: frame.Path + "/account", Name: "Sending account", Needs: members.MayViewAccount})}
	o.operations = &frametest.Operations{T: t, Results: results(), Errors: map[string]*core.Error{}}
	o.Frame.Operations = o.operations
	room, err := domainauth.New(o.Frame, domainauth.Config{Store: stored{requestedAt}, Arrivals: db.ReportArrivals(), Subscriptions: db.DomainNotices()})
	o.Must(err)
	o.pages = o.Open(room)
	return o
}

// shown compares a page with its golden file. A page never has the markup or the invisible
// characters of outsiders.
func (o *office) shown(name, path string) {
	o.T.Helper()
	_, page := frametest.Get(o.T, o.pages, path)
	o.compare(name, page)
}

func (o *office) posted(name, path string, form url.Values) {
	o.T.Helper()
	_, page := frametest.Post(o.T, o.pages, o.Site.Visitor, path, form)
	o.compare(name, page)
}

func (o *office) compare(name, page string) {
	o.T.Helper()
	if strings.Contains(page, "<script>alert") || strings.Contains(page, "\u202e") {
		o.T.Errorf("%s shows the markup of an outsider", name)
	}
	frametest.CompareGolden(o.T, name, page, *update)
}

func TestGoldenPages(t *testing.T) {
	t.Parallel()
	o := newOffice(t, nil)
	set := func(operation, result string) { o.operations.Results[operation] = result }
	o.shown("domains", domainauth.ListPath)
	o.shown("overview", page)
	o.shown("overview_refused", page+"?days=8")
	o.shown("sources", page+"/sources")
	o.shown("sources_filtered", page+"/sources?decision=unreviewed&classification=unknown&cursor=c1&from=51&done=confirmed")
	o.shown("sources_refused", page+"/sources?decision=perhaps")
	o.shown("policy_not_ready", page+"/policy")
	set("domain_auth_readiness_get", measured(met, pending))
	o.shown("policy_pending", page+"/policy")
	o.operations.Errors["domain_auth_readiness_acknowledge"] = core.Conflict("There is nothing to acknowledge.", "Read the readiness again.")
	o.posted("policy_refused", page+"/policy/acknowledge", url.Values{"target_policy": {"quarantine"}, "note": {"<b>"}})
	set("domain_auth_readiness_get", measured(met, ready))
	o.shown("policy_ready", page+"/policy?done=acknowledged")
	set("domain_auth_readiness_get", measured(met, strictest))
	o.shown("policy_strictest", page+"/policy")
	o.shown("timeline", page+"/timeline")
	o.posted("note_refused", page+"/timeline/notes", url.Values{"once": {noteID}, "note": {"<b>"}, "day": {"yesterday"}})
	o.shown("comparison", page+"/timeline/"+eventID)
	set("domain_auth_comparison_get", uncompared)
	o.shown("comparison_declined", page+"/timeline/"+eventID+"?days=30")
	o.shown("comparison_refused", page+"/timeline/"+eventID+"?days=31")
	o.shown("setup", page+"/setup")
	o.Allow(members.MayViewDomainAuth)
	set("domain_auth_readiness_get", measured(met, pending))
	for name, path := range map[string]string{"sources": "/sources", "policy": "/policy", "timeline": "/timeline", "setup": "/setup"} {
		o.shown("viewer_"+name, page+path)
	}
}

// TestGoldenPagesOfNewDomain shows the pages of a domain of which nothing is known, and the list
// of an organization without domains.
func TestGoldenPagesOfNewDomain(t *testing.T) {
	t.Parallel()
	requested := frametest.Now().Add(-20 * time.Minute)
	o := newOffice(t, &requested)
	nothing := `{"data":[],"pagination":{"has_more":false,"next_cursor":null}}`
	for operation, result := range map[string]string{
		"domain_auth_domains_list": nothing, "domain_auth_sources_list": nothing, "domain_auth_timeline_list": nothing, "domain_auth_timeseries_get": `{"data":[]}`,
		"domain_auth_domains_get": `{"domain":"bakery.example",` + fresh + `,"rua":null,"reporting_enabled":false,"records":[]}`,
	} {
		o.operations.Results[operation] = result
	}
	o.shown("domains_none", domainauth.ListPath)
	o.shown("new_overview", page)
	o.shown("new_sources", page+"/sources")
	o.shown("new_sources_filtered", page+"/sources?decision=confirmed")
	o.shown("new_timeline", page+"/timeline")
	o.shown("new_timeline_filtered", page+"/timeline?kind=note")
	o.shown("new_setup", page+"/setup?done=early")
	o.Allow(members.MayViewDomainAuth)
	o.shown("domains_none_viewer", domainauth.ListPath)
}

// TestForms checks the arguments with which forms call operations, and where each leads.
func TestForms(t *testing.T) {
	t.Parallel()
	o := newOffice(t, nil)
	for _, c := range []struct {
		path       string
		form       url.Values
		name, want string
	}{
		{page + "/sources/" + sourceID + "/decide", url.Values{"to": {"confirmed"}, "decision": {"unreviewed"}, "from": {"51"}, "cursor": {"a b"}}, "domain_auth_sources_decide", `{"decision":"confirmed","domain":"bakery.example","source_id":"` + sourceID + `"}`},
		{page + "/policy/acknowledge", url.Values{"target_policy": {"quarantine"}, "note": {" fine "}}, "domain_auth_readiness_acknowledge", `{"domain":"bakery.example","note":"fine","target_policy":"quarantine"}`},
		{page + "/policy/acknowledge", url.Values{"target_policy": {"quarantine"}}, "domain_auth_readiness_acknowledge", `{"domain":"bakery.example","target_policy":"quarantine"}`},
		{page + "/remeasure", url.Values{"back": {"/policy"}}, "domain_auth_domains_remeasure", `{"domain":"bakery.example"}`},
		{page + "/remeasure", url.Values{"back": {"//evil.example"}}, "domain_auth_domains_remeasure", `{"domain":"bakery.example"}`},
		{page + "/timeline/notes", url.Values{"once": {noteID}, "note": {"moved"}}, "domain_auth_notes_create", `{"domain":"bakery.example","note":"moved"}`},
		{page + "/timeline/notes", url.Values{"once": {noteID}, "note": {"moved"}, "day": {"2026-03-01"}}, "domain_auth_notes_create", `{"domain":"bakery.example","note":"moved","occurred_at":"2026-03-01T00:00:00Z"}`},
		{page + "/timeline/notes", url.Values{"once": {noteID}, "note": {"moved"}, "day": {frametest.Now().Format(time.DateOnly)}}, "domain_auth_notes_create", `{"domain":"bakery.example","note":"moved"}`},
	} {
		o.operations.Calls()
		status, _ := frametest.Post(t, o.pages, o.Site.Visitor, c.path, c.form)
		calls := o.operations.Calls()
		if status != http.StatusSeeOther || len(calls) != 1 || calls[0].Name != c.name || calls[0].Arguments != c.want || calls[0].Once != c.form.Get("once") {
			t.Errorf("%s: %d, %+v", c.path, status, calls)
		}
	}
	for path, want := range map[string]int{page + "/sources/x/decide": http.StatusNotFound, page + "/timeline/" + noteID: http.StatusNotFound} {
		post := strings.HasSuffix(path, "decide")
		status, _ := frametest.Get(t, o.pages, path)
		if post {
			status, _ = frametest.Post(t, o.pages, o.Site.Visitor, path, url.Values{"to": {"confirmed"}})
		}
		if status != want {
			t.Errorf("%s: %d", path, status)
		}
	}
	o.Allow(members.MayViewDomainAuth)
	for _, path := range []string{"/sources/" + sourceID + "/decide", "/policy/acknowledge", "/remeasure", "/timeline/notes"} {
		if status, _ := frametest.Post(t, o.pages, o.Site.Visitor, page+path, url.Values{"once": {noteID}}); status != http.StatusForbidden {
			t.Errorf("%s of a member who may only view: %d", path, status)
		}
	}
}

// TestReadArguments checks the arguments with which pages read.
func TestReadArguments(t *testing.T) {
	t.Parallel()
	o := newOffice(t, nil)
	for path, want := range map[string]string{
		domainauth.ListPath: `domain_auth_domains_list {"limit":50}`,
		page + "?days=90":   `domain_auth_timeseries_get {"domain":"bakery.example","from":"2025-12-12T00:00:00Z","to":"2026-03-12T00:00:00Z"}`,
		page + "/sources?decision=rejected&classification=own&cursor=c&from=51": `domain_auth_sources_list {"classification":"own","cursor":"c","decision":"rejected","domain":"bakery.example","limit":50}`,
		page + "/timeline?kind=note&cursor=c&from=51":                           `domain_auth_timeline_list {"cursor":"c","domain":"bakery.example","kind":"note","limit":50}`,
		page + "/timeline/" + eventID + "?days=7":                               `domain_auth_comparison_get {"annotation_id":"` + eventID + `","domain":"bakery.example","window_days":7}`,
	} {
		o.operations.Calls()
		if status, _ := frametest.Get(t, o.pages, path); status != http.StatusOK {
			t.Errorf("%s: %d", path, status)
		}
		found := false
		for _, call := range o.operations.Calls() {
			found = found || call.Name+" "+call.Arguments == want
		}
		if !found {
			t.Errorf("%s: no call %s", path, want)
		}
	}
}
