package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"go.yaml.in/yaml/v3"
)

// alertFile is the form of prometheus-alerts.yml.
type alertFile struct {
	Groups []struct {
		Rules []struct {
			Alert       string
			Labels      map[string]string
			Annotations map[string]string
		}
	}
}

// alertCases has input series for each alert: those with which it fires at the end of three
// hours, and similar ones with which it does not. A value "a+bxN" is a series that grows by b a
// minute. labels are those of the alert without the severity.
var alertCases = map[string]struct {
	fires, quiet map[string]string
	labels       map[string]string
}{
	"MailhelmDown": {
		map[string]string{`up{job="mailhelm",instance="a"}`: "1x170 0x10"},
		map[string]string{`up{job="mailhelm",instance="a"}`: "0x170 1x10"},
		map[string]string{"job": "mailhelm", "instance": "a"},
	},
	"MailhelmNoWorker": {
		map[string]string{`mailhelm_processes{role="api"}`: "2x180", `mailhelm_processes{role="worker"}`: "1x170 0x10", `mailhelm_processes{role="all"}`: "0x180"},
		map[string]string{`mailhelm_processes{role="api"}`: "0x180", `mailhelm_processes{role="worker"}`: "1x180", `mailhelm_processes{role="all"}`: "0x180"},
		nil,
	},
	"MailhelmDatabaseUnavailable": {
		map[string]string{`mailhelm_faults_total{cause="temporarily_unavailable",surface="rest"}`: "0+1x180"},
		map[string]string{`mailhelm_faults_total{cause="temporarily_unavailable",surface="rest"}`: "7x180", `mailhelm_faults_total{cause="overloaded",surface="rest"}`: "0+1x180"},
		nil,
	},
	"MailhelmInternalErrors": {
		map[string]string{`mailhelm_faults_total{cause="internal_error",surface="agent"}`: "0x175 1x5"},
		map[string]string{`mailhelm_faults_total{cause="internal_error",surface="agent"}`: "0x100 1x80"},
		nil,
	},
	"MailhelmOverloaded": {
		map[string]string{`mailhelm_faults_total{cause="overloaded",surface="rest"}`: "0+60x180"},
		map[string]string{`mailhelm_faults_total{cause="overloaded",surface="rest"}`: "0+1x180"},
		nil,
	},
	"MailhelmAccountUnavailable": {
		map[string]string{`mailhelm_faults_total{cause="upstream_unavailable",surface="rest"}`: "0+60x180"},
		map[string]string{`mailhelm_faults_total{cause="upstream_unavailable",surface="rest"}`: "0+1x180"},
		nil,
	},
	"MailhelmServerErrors": {
		map[string]string{`mailhelm_http_requests_total{host="api",route="/v1/lists",status="5xx"}`: "0+2x180", `mailhelm_http_requests_total{host="api",route="/v1/lists",status="2xx"}`: "0+98x180"},
		map[string]string{`mailhelm_http_requests_total{host="api",route="/v1/lists",status="5xx"}`: "0+1x180", `mailhelm_http_requests_total{host="api",route="/v1/lists",status="2xx"}`: "0+199x180"},
		map[string]string{"host": "api"},
	},
	"MailhelmSlowCalls": {
		map[string]string{`mailhelm_call_seconds_bucket{le="1"}`: "0+90x180", `mailhelm_call_seconds_bucket{le="2.5"}`: "0+100x180", `mailhelm_call_seconds_bucket{le="+Inf"}`: "0+100x180"},
		map[string]string{`mailhelm_call_seconds_bucket{le="1"}`: "0+100x180", `mailhelm_call_seconds_bucket{le="2.5"}`: "0+100x180", `mailhelm_call_seconds_bucket{le="+Inf"}`: "0+100x180"},
		nil,
	},
	"MailhelmDatabaseConnectionsScarce": {
		map[string]string{`mailhelm_database_refused_total{instance="a",pool="main"}`: "0+60x180"},
		map[string]string{`mailhelm_database_refused_total{instance="a",pool="main"}`: "0+1x180"},
		map[string]string{"instance": "a", "pool": "main"},
	},
	"MailhelmWorkLate": {
		map[string]string{`mailhelm_queue_oldest_seconds{queue="event_webhooks"}`: "0+60x180"},
		map[string]string{`mailhelm_queue_oldest_seconds{queue="event_webhooks"}`: "200x180", `mailhelm_queue_oldest_seconds{queue="broadcast_recipients"}`: "0+60x180"},
		map[string]string{"queue": "event_webhooks"},
	},
	"MailhelmReceivedMailLate": {
		map[string]string{`mailhelm_queue_oldest_seconds{queue="received_mail"}`: "0x100 61x80"}, map[string]string{`mailhelm_queue_oldest_seconds{queue="received_mail"}`: "30x180"}, nil,
	},
	"MailhelmImportsLate": {
		map[string]string{`mailhelm_queue_oldest_seconds{queue="contact_imports"}`: "0+60x180"},
		map[string]string{`mailhelm_queue_oldest_seconds{queue="contact_imports"}`: "0+30x180"},
		map[string]string{"queue": "contact_imports"},
	},
	"MailhelmBroadcastStalled": {
		map[string]string{`mailhelm_queue_waiting{queue="broadcast_recipients"}`: "500x180"}, map[string]string{`mailhelm_queue_waiting{queue="broadcast_recipients"}`: "500-2x180"}, nil,
	},
	"MailhelmJobsLate": {
		map[string]string{`mailhelm_jobs_oldest_seconds{kind="git_sync"}`: "0+60x180"}, map[string]string{`mailhelm_jobs_oldest_seconds{kind="git_sync"}`: "500x180"}, map[string]string{"kind": "git_sync"},
	},
	"MailhelmJobsFail": {
		map[string]string{`mailhelm_job_runs_total{kind="git_sync",outcome="discarded"}`: "0x150 0+1x30"},
		map[string]string{`mailhelm_job_runs_total{kind="git_sync",outcome="discarded"}`: "0x150 1x30", `mailhelm_job_runs_total{kind="git_sync",outcome="failed"}`: "0+1x180"},
		map[string]string{"kind": "git_sync"},
	},
	"MailhelmSyncStale": {
		map[string]string{`mailhelm_sync_success_timestamp_seconds{kind="contacts"}`: "60x180"},
		map[string]string{`mailhelm_sync_success_timestamp_seconds{kind="contacts"}`: "0+60x180", `mailhelm_sync_success_timestamp_seconds{kind="templates"}`: "0x180"},
		map[string]string{"kind": "contacts"},
	},
	"MailhelmSyncsFail": {
		map[string]string{`mailhelm_sync_failing_organizations{kind="contacts"}`: "0x100 1x80"},
		map[string]string{`mailhelm_sync_failing_organizations{kind="contacts"}`: "0x150 1x30"},
		map[string]string{"kind": "contacts"},
	},
	"MailhelmRedisUnavailable": {
		map[string]string{`mailhelm_rate_limit_fallbacks_total{cause="failed"}`: "0+1x180"}, map[string]string{`mailhelm_rate_limit_fallbacks_total{cause="failed"}`: "5x180"}, nil,
	},
	"MailhelmScannerFails": {
		map[string]string{`mailhelm_scans_total{scanner="clamd",outcome="timeout"}`: "0+1x180"},
		map[string]string{`mailhelm_scans_total{scanner="clamd",outcome="pass"}`: "0+1x180"},
		map[string]string{"scanner": "clamd"},
	},
	"MailhelmMailNotAccepted": {
		map[string]string{`mailhelm_received_messages_total{outcome="store_failed"}`: "0+1x180"},
		map[string]string{`mailhelm_received_messages_total{outcome="accepted"}`: "0+1x180"},
		map[string]string{"outcome": "store_failed"},
	},
	"MailhelmFiguresStale": {
		map[string]string{`mailhelm_figures_age_seconds`: "0x170 121+60x10"}, map[string]string{`mailhelm_figures_age_seconds`: "14x180"}, nil,
	},
}

// ruleTest is a test in the form of `promtool test rules`.
type ruleTest struct {
	Interval    string        `yaml:"interval"`
	InputSeries []inputSeries `yaml:"input_series"`
	AlertTests  []alertTest   `yaml:"alert_rule_test"`
}

type inputSeries struct {
	Series string `yaml:"series"`
	Values string `yaml:"values"`
}

type alertTest struct {
	At        string          `yaml:"eval_time"`
	Alert     string          `yaml:"alertname"`
	ExpAlerts []expectedAlert `yaml:"exp_alerts"`
}

type expectedAlert struct {
	Labels      map[string]string `yaml:"exp_labels"`
	Annotations map[string]string `yaml:"exp_annotations"`
}

// newRuleTest returns a test whose alert is evaluated after three hours.
func newRuleTest(alert string, series map[string]string, expected ...expectedAlert) ruleTest {
	t := ruleTest{Interval: "1m", AlertTests: []alertTest{{At: "3h", Alert: alert, ExpAlerts: expected}}}
	for name, values := range series {
		t.InputSeries = append(t.InputSeries, inputSeries{name, values})
	}
	return t
}

// TestAlerts checks the alert rules with promtool: their form, and for each alert that it fires
// with some series and does not fire with similar ones.
func TestAlerts(t *testing.T) {
	t.Parallel()
	var file alertFile
	if err := yaml.Unmarshal(packaged("prometheus-alerts.yml"), &file); err != nil {
		t.Fatal(err)
	}
	rules, err := filepath.Abs(filepath.Join("files", "prometheus-alerts.yml"))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]any{"rule_files": []string{rules}, "evaluation_interval": "5m"}
	var all []ruleTest
	var names []string
	for _, rule := range file.Groups[0].Rules {
		names = append(names, rule.Alert)
		tc, known := alertCases[rule.Alert]
		if !known {
			t.Errorf("%s has no case", rule.Alert)
			continue
		}
		labels := map[string]string{"severity": rule.Labels["severity"]}
		for name, value := range tc.labels {
			labels[name] = value
		}
		all = append(all, newRuleTest(rule.Alert, tc.fires, expectedAlert{labels, rule.Annotations}), newRuleTest(rule.Alert, tc.quiet))
	}
	for name := range alertCases {
		if !slices.Contains(names, name) {
			t.Errorf("there is no alert %s", name)
		}
	}
	tests["tests"] = all
	text, err := yaml.Marshal(tests)
	if err != nil {
		t.Fatal(err)
	}
	written := filepath.Join(t.TempDir(), "tests.yml")
	if err := os.WriteFile(written, text, 0o600); err != nil {
		t.Fatal(err)
	}
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		enginetest.SkipMissing(t, "promtool is not installed: the alert rules are not tested")
	}
	for _, args := range [][]string{{"check", "rules", rules}, {"test", "rules", written}} {
		if output, err := exec.CommandContext(t.Context(), promtool, args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args[:2], " "), err, output)
		}
	}
}
