package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/cluster/mixed"
	"github.com/mailhelm/mailhelm/conformance/program"
)

// firstPort is below the ports that systems assign to outgoing connections, and no other test uses
// the next ones.
const firstPort = 14000

// TestTopology starts the whole installation. A contact that one API server writes must be at
// the other one, rows of a bulk write must be written by a worker, a report must come from the
// standby, and received mail must have its bucket. Doctor must find nothing to change. Then
// processes are killed, Redis, PgBouncer and PostgreSQL are stopped and started one after the other,
// and the standby takes the place of the primary. The end is a short run of what TestFaultsAtScale
// does.
func TestTopology(t *testing.T) {
	t.Parallel()
	hook := mixed.NewHook(t)
	c := start(t, program.Build(t), firstPort, hook.Certificate, func(string) {})

	if status, _, body := c.call(t, 0, http.MethodPost, "/v1/contacts", `{"email":"ada@example.com"}`); status != http.StatusCreated {
		t.Fatalf("a contact at the first server: %d %s", status, body)
	}
	if status, header, body := c.call(t, 1, http.MethodGet, "/v1/contacts/ada%40example.com", ""); status != http.StatusOK || header.Get("Mailhelm-Replica-Lag") != "" {
		t.Errorf("the contact at the second server: %d %v %s", status, header, body)
	}
	c.writeByWorker(t)
	if status, header, body := c.call(t, 1, http.MethodGet, "/v1/reports/deliverability", ""); status != http.StatusOK || header.Get("Mailhelm-Replica-Lag") == "" {
		t.Errorf("a report: %d %v %s", status, header, body)
	}
	if got := c.command(t, "admin", "org", "mail-storage", "test", c.org, "--json"); !strings.Contains(got, `"ok":true`) && !strings.Contains(got, `"ok": true`) {
		t.Errorf("the bucket: %s", got)
	}
	for _, admin := range c.admins {
		if status, body := get(t, admin+"/readyz"); status != http.StatusOK || strings.Contains(body, "fail") {
			t.Errorf("%s is not ready: %d %s", admin, status, body)
		}
	}
	c.examine(t)
	c.survivesKills(t)
	c.survives(t, "Redis", c.redis.Stop, func() { c.redis.Start(t) }, http.StatusOK)
	c.survives(t, "PgBouncer", c.bouncer.Stop, func() { c.bouncer.Start(t) }, http.StatusServiceUnavailable)
	c.survives(t, "PostgreSQL", func() { c.primary.Stop(t) }, func() { c.primary.Start(t) }, http.StatusServiceUnavailable)
	c.failsOver(t)
	c.worksWhileKilled(t, hook)
}

// failsOver lets the standby take the place of the primary. A contact that was written before must
// be there, a bulk write reaches a worker, and reports come from the new standby.
func (t *topology) failsOver(tb testing.TB) {
	tb.Helper()
	if status, _, body := t.call(tb, 0, http.MethodPost, "/v1/contacts", `{"email":"before@example.com"}`); status != http.StatusCreated {
		tb.Fatalf("a contact before the failover: %d %s", status, body)
	}
	t.survives(tb, "the former primary", func() { t.primary.Kill(tb) }, func() { t.failOver(tb) }, http.StatusServiceUnavailable)
	if status, _, body := t.call(tb, 1, http.MethodGet, "/v1/contacts/before%40example.com", ""); status != http.StatusOK {
		tb.Errorf("the contact after the failover: %d %s", status, body)
	}
	t.writeByWorker(tb)
	for server := range t.apis {
		t.reportsFromStandby(tb, server)
	}
	t.examine(tb)
}

// reportsFromStandby waits until a server answers a report from the standby.
func (t *topology) reportsFromStandby(tb testing.TB, server int) {
	tb.Helper()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for range 150 { // a quarter of a minute
		status, header, body := t.call(tb, server, http.MethodGet, "/v1/reports/deliverability", "")
		if status != http.StatusOK {
			tb.Fatalf("a report of server %d: %d %s", server+1, status, body)
		}
		if header.Get("Mailhelm-Replica-Lag") != "" {
			return
		}
		<-again.C
	}
	tb.Errorf("server %d answers no report from the standby", server+1)
}

// survivesKills kills an API server and a worker. The other ones must do their work, and the killed
// ones must start again.
func (t *topology) survivesKills(tb testing.TB) {
	tb.Helper()
	t.servers[0].kill()
	if status, _, body := t.call(tb, 1, http.MethodGet, "/v1/contacts/ada%40example.com", ""); status != http.StatusOK {
		tb.Errorf("with the first server killed, the second one answers %d %s", status, body)
	}
	t.servers[0].start(tb)
	t.workers[1].kill()
	t.writeByWorker(tb)
	t.workers[1].start(tb)
}

// survives stops a part, and starts it again. In between, both API servers must answer with the
// status want; 503 must say when to try again. Afterwards both must answer again.
func (t *topology) survives(tb testing.TB, part string, stop, start func(), want int) {
	tb.Helper()
	stop()
	for server := range t.apis {
		status, header, body := t.call(tb, server, http.MethodGet, "/v1/contacts/ada%40example.com", "")
		if status != want || (want == http.StatusServiceUnavailable && header.Get("Retry-After") == "") {
			tb.Errorf("without %s, server %d answers %d %v %s", part, server+1, status, header, body)
		}
	}
	start()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for server := range t.apis {
		status := 0
		for range 300 { // half a minute
			if status, _, _ = t.call(tb, server, http.MethodGet, "/v1/contacts/ada%40example.com", ""); status == http.StatusOK {
				break
			}
			<-again.C
		}
		if status != http.StatusOK {
			tb.Errorf("after %s was started again, server %d answers %d", part, server+1, status)
		}
	}
}

// writeByWorker writes rows in bulk, and waits until a worker has done so.
func (t *topology) writeByWorker(tb testing.TB) {
	tb.Helper()
	status, _, body := t.call(tb, 0, http.MethodPost, "/v1/contacts/bulk", `{"contacts":[{"email":"grace@example.com"},{"email":"alan@example.com"}]}`)
	var job struct {
		ID     string `json:"job_id"`
		Status string
	}
	if err := json.Unmarshal([]byte(body), &job); err != nil || status != http.StatusAccepted {
		tb.Fatalf("a bulk write: %d %v %s", status, err, body)
	}
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for range 600 { // half a minute
		if job.Status == "completed" {
			break
		}
		<-again.C
		if _, _, body = t.call(tb, 1, http.MethodGet, "/v1/contacts/bulk/"+job.ID, ""); json.Unmarshal([]byte(body), &job) != nil {
			tb.Fatalf("the bulk write: %s", body)
		}
	}
	if status, _, body := t.call(tb, 1, http.MethodGet, "/v1/contacts/alan%40example.com", ""); status != http.StatusOK {
		tb.Errorf("a contact of the bulk write, which is %s: %d %s", job.Status, status, body)
	}
}

// examine runs doctor with the settings of the first API server.
func (t *topology) examine(tb testing.TB) {
	tb.Helper()
	var report struct {
		Checks []struct{ Name, Status, Detail string }
	}
	if err := json.Unmarshal([]byte(t.command(tb, "doctor", "--role", "api", "--port", strconv.Itoa(t.first), "--json")), &report); err != nil {
		tb.Fatal(err)
	}
	seen := map[string]string{}
	for _, check := range report.Checks {
		seen[check.Name] = check.Status
		if check.Status != "ok" && check.Name != "mail to people" {
			tb.Errorf("doctor: %+v", check)
		}
	}
	for _, name := range []string{"database pooler", "database replica"} {
		if seen[name] != "ok" {
			tb.Errorf("doctor finds the %s %q: %+v", name, seen[name], report)
		}
	}
}

// call sends a request with the API key to one of the API servers.
func (t *topology) call(tb testing.TB, server int, method, path, body string) (int, http.Header, string) {
	tb.Helper()
	r, err := http.NewRequestWithContext(tb.Context(), method, t.apis[server]+path, strings.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + t.key}}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return send(tb, r)
}

func get(tb testing.TB, address string) (int, string) {
	tb.Helper()
	r, err := http.NewRequestWithContext(tb.Context(), http.MethodGet, address, nil)
	if err != nil {
		tb.Fatal(err)
	}
	status, _, body := send(tb, r)
	return status, body
}

func send(tb testing.TB, r *http.Request) (int, http.Header, string) {
	tb.Helper()
	client := http.Client{Timeout: 30 * time.Second}
	answer, err := client.Do(r)
	if err != nil {
		tb.Fatal(err)
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		tb.Fatal(fmt.Errorf("%s: %w", r.URL, err))
	}
	return answer.StatusCode, answer.Header, string(content)
}
