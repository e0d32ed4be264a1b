package privacy_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth/arrivals"
	"github.com/mailhelm/mailhelm/core/privacy"
	"github.com/mailhelm/mailhelm/core/receiving"
	"github.com/mailhelm/mailhelm/core/retention"
	"github.com/mailhelm/mailhelm/core/webhooks"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// bounds says, for each table without a period in the register, what bounds its rows.
var bounds = map[string]string{
	"one row for each thing that people or applications create": `activity_properties api_keys asset_contents assets attributes blocked_clients broadcast_tags broadcasts
		clients git_adoptions git_connections handover_caps inbox_tokens lists mail_buckets receiving_addresses receiving_domains segments send_approvals send_policies site_keys tags
		template_tags template_versions templates webhook_endpoints workflow_caps workflow_sends workflow_versions workflows git_proposals production_requests`,
	"the contact list of an account that is an SMTP server":      `consent_contacts consent_lists consent_topics`,
	"a copy of what the sending account has":                     `channels connections contact_lists identities topics tracking_domains`,
	"one row for each move of an organization":                   `erased_address_keys`,
	"one row for each organization or setting":                   `handover_stops inbox_orgs mail_settings retention sites_off undeliverable_rules orgs handover_rates receiving_routes sending_syncs sync_results attribute_passes`,
	"one row for each domain, and figures of a job that deletes": `domainauth_daily domainauth_domains domainauth_events domainauth_findings domainauth_monthly domainauth_records domainauth_reporter_days domainauth_reporters domainauth_reports domainauth_rows domainauth_sources domainauth_totals`,
	"days that the domain itself deletes":                        `handover_days segment_sizes site_counts report_marks`,
	"until they expire":                                          `authorization_codes denied_tokens refresh_tokens sending_claims signing_keys processes attribute_leftovers`,
	"one row for each erased person who must get no mail":        `erased_addresses`,
	"a fixed number of rows":                                     `installation_facts installation_keys schema_versions receiving_routing`,
}

// TestEveryTableIsBounded checks that each table has a period that an organization can set, a
// fixed period, or another stated bound, and only one of them. A new table must be added to one.
func TestEveryTableIsBounded(t *testing.T) {
	t.Parallel()
	places := map[string][]string{}
	add := func(place string, tables ...string) {
		for _, table := range tables {
			places[table] = append(places[table], place)
		}
	}
	kinds := map[string]retention.Name{}
	for _, k := range retention.Kinds() {
		add("kind "+string(k.Name), k.Tables...)
		for _, table := range k.Tables {
			kinds[table] = k.Name
		}
	}
	for _, f := range retention.Fixed() {
		add("fixed", f.Tables...)
	}
	for reason, tables := range bounds {
		add(reason, strings.Fields(tables)...)
	}
	delete(places, "river_job")
	for _, table := range privacy.Register() {
		found := places[table.Name]
		delete(places, table.Name)
		stated := table.Kept != "" && table.Kept != "as long as the organization"
		if len(found) == 0 && !stated {
			t.Errorf("nothing bounds the rows of %s: add it to a kind of core/retention, or to the bounds of this test", table.Name)
		}
		if len(found) > 1 {
			t.Errorf("%s is bounded by %q", table.Name, found)
		}
		if kind, ok := kinds[table.Name]; ok && !strings.Contains(table.Kept, retention.Kept(kind)) {
			t.Errorf("the register says that %s is kept %q, and the kind says %q", table.Name, table.Kept, retention.Kept(kind))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(places)) {
		t.Errorf("%s is no table", name)
	}
}

// TestGuideHasTheKinds compares the table of the guide about retention with the kinds.
func TestGuideHasTheKinds(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../rest/docs/guides/retention.md")
	must(t, err)
	text := strings.ReplaceAll(string(guide), ",", "")
	for _, k := range retention.Kinds() {
		end := fmt.Sprintf(" | %s | %d to %d days", retention.Words(k.Default), k.Min, k.Max)
		if k.MayBeForever {
			end += " or no end"
		}
		i := strings.Index(text, "| `"+string(k.Name)+"` |")
		if line, _, _ := strings.Cut(text[max(i, 0):], "\n"); i < 0 || !strings.HasSuffix(line, end+" |") {
			t.Errorf("the guide has the row %q for %s, want the end %q", line, k.Name, end)
		}
	}
}

// TestFixedPeriodsAreTrue compares the texts about fixed periods with those that delete.
func TestFixedPeriodsAreTrue(t *testing.T) {
	t.Parallel()
	days := func(d time.Duration) string { return fmt.Sprintf("%d days", d/(24*time.Hour)) }
	for table, want := range map[string]string{
		"webhook_deliveries": days(webhooks.Kept), "receiving_messages": days(receiving.Kept), "domainauth_files": days(arrivals.Kept),
		"river_job": fmt.Sprintf("%d hours", engine.FinishedJobsKept/time.Hour),
	} {
		all := retention.Fixed()
		i := slices.IndexFunc(all, func(f retention.FixedKind) bool { return slices.Contains(f.Tables, table) })
		if all[i].Kept != want {
			t.Errorf("%s are kept %q, want %q", table, all[i].Kept, want)
		}
	}
	failed, err := retention.KindOf(retention.FailedJobs)
	must(t, err)
	if want := days(engine.FailedJobsKept); want != retention.Words(failed.Max) {
		t.Errorf("the queue keeps failed jobs for %s, and an organization can choose %s", want, retention.Words(failed.Max))
	}
}
