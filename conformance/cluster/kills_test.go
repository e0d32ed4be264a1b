package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/cluster/mixed"
	"github.com/mailhelm/mailhelm/conformance/program"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

const (
	// scaleMinutes are the minutes in which TestFaultsAtScale makes scaleKills. Its history must
	// have callsPerMinute for each of them. It goes on for calls that are missing, for up to one
	// and a half times as long again.
	scaleMinutes   = 10
	callsPerMinute = 10_000
	// shortDrain is enough for a message that a server was processing when it was killed, or when
	// the primary was: another one takes it after two minutes.
	shortDrain = 4 * time.Minute
	// mailDomain receives mail.
	mailDomain = "in.acme.example"
)

// scaleKills are the kills in scaleMinutes, by part.
var scaleKills = map[string]int{
	"API server": 24, "worker": 24, "PgBouncer": 14, "Redis": 12, "standby": 12, "primary": 11, "primary with failover": 3,
}

// worksWhileKilled is a short run of mixed work, in which each part but the standby is killed once.
func (t *topology) worksWhileKilled(tb testing.TB, hook *mixed.Hook) {
	tb.Helper()
	journal := mixed.NewJournal()
	w := t.mixedWork(tb, mixed.Config{Journal: journal, Seed: 1, Callers: 6, Rate: 60, Keys: 20, Recipients: 5, Drain: shortDrain}, hook)
	k := &killer{topology: t, tb: tb, journal: journal, chance: rand.New(rand.NewPCG(1, 2))}
	w.Prepare(tb.Context())
	working, stop := context.WithCancel(tb.Context())
	done := make(chan struct{})
	go func() { defer close(done); w.Run(working) }()
	for _, part := range []string{"API server", "worker", "Redis", "PgBouncer", "primary with failover"} {
		k.kill(part)
		k.pause(time.Second)
	}
	stop()
	<-done
	report(tb, journal, w)
}

// TestFaultsAtScale kills parts of the installation a hundred times in ten minutes of mixed work. It
// runs with MAILHELM_TEST_FULL=1 only. MAILHELM_FAULT_SEED is the seed of the calls and kills,
// MAILHELM_FAULT_RATE the number of calls that are made in a second at most, and
// MAILHELM_FAULT_MINUTES the number of minutes, for a run with fewer kills. TestTopology has a short
// run.
func TestFaultsAtScale(t *testing.T) {
	t.Parallel()
	if !enginetest.Full() {
		return
	}
	seed, minutes := uint64(setting("MAILHELM_FAULT_SEED", 1)), setting("MAILHELM_FAULT_MINUTES", scaleMinutes)
	rate, calls := setting("MAILHELM_FAULT_RATE", 250), callsPerMinute*minutes
	hook, journal := mixed.NewHook(t), mixed.NewJournal()
	c := start(t, program.Build(t), firstPort+100, hook.Certificate, func(step string) { t.Log(step) })
	w := c.mixedWork(t, mixed.Config{Journal: journal, Seed: seed, Callers: 24, Rate: float64(rate), Keys: 200, Recipients: 25, Drain: 5 * time.Minute}, hook)
	w.Prepare(t.Context())
	t.Logf("seed %d, %d minutes, %d calls a second at most", seed, minutes, rate)
	working, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); w.Run(working) }()
	began, until := time.Now(), time.Duration(minutes)*time.Minute
	k := &killer{topology: c, tb: t, journal: journal, chance: rand.New(rand.NewPCG(seed, 3))}
	k.killAll(began, until, minutes, w)
	for w.Registers() < calls && time.Since(began) < 5*until/2 {
		k.pause(5 * time.Second)
	}
	stop()
	<-done
	t.Logf("| duration, calls of registers | %v, %d |", time.Since(began).Round(time.Second), w.Registers())
	if w.Registers() < calls {
		t.Errorf("%d calls of registers, want %d: the machine is too slow", w.Registers(), calls)
	}
	report(t, journal, w)
}

// setting returns the number in an environment variable, or the usual one.
func setting(name string, usual int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil && n > 0 {
		return n
	}
	return usual
}

// report checks the work and prints its figures. It fails the test for what must not happen.
func report(tb testing.TB, journal *mixed.Journal, w *mixed.Work) {
	tb.Helper()
	checked := w.Check(tb.Context())
	tb.Logf("\n%s%s", journal.Figures(), checked)
	failures := journal.Failures()
	for _, failure := range failures[:min(len(failures), 30)] {
		tb.Error(failure)
	}
	if more := len(failures) - 30; more > 0 {
		tb.Errorf("%d more", more)
	}
}

// killer kills parts of the installation.
type killer struct {
	*topology
	tb      testing.TB
	journal *mixed.Journal
	chance  *rand.Rand
}

// killAll makes the kills of scaleKills in a random order, divided over the time until, or its share
// of them in fewer minutes. A part is down for up to one and a half seconds. One in five kills begins
// while another part is down.
func (k *killer) killAll(began time.Time, until time.Duration, minutes int, w *mixed.Work) {
	var parts []string
	for part, times := range scaleKills {
		parts = append(parts, slices.Repeat([]string{part}, (times*minutes+scaleMinutes/2)/scaleMinutes)...)
	}
	slices.Sort(parts) // the order of a map is not that of the seed
	k.chance.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	for i := 0; i < len(parts); {
		together := parts[i : i+1]
		if i+1 < len(parts) && k.chance.IntN(5) == 0 && independent(parts[i], parts[i+1]) {
			together = parts[i : i+2]
		}
		k.kill(together...)
		i += len(together)
		k.tb.Logf("%v: %d of %d kills, %d calls of registers, %s", time.Since(began).Round(time.Second), i, len(parts), w.Registers(), k.journal.Progress())
		// The next kill comes at a random time of its share of the time that is left.
		if left := until - time.Since(began); left > 0 {
			k.pause(2 * left / time.Duration(len(parts)-i+1))
		}
	}
	if left := until - time.Since(began); left > 0 {
		<-time.After(left)
	}
}

// independent reports whether two parts may be down at the same time. PostgreSQL must not lose both
// servers, because then it has no data.
func independent(a, b string) bool { return a != b && !(isDatabase(a) && isDatabase(b)) }

func isDatabase(part string) bool { return part == "standby" || strings.HasPrefix(part, "primary") }

// pause waits a random time.
func (k *killer) pause(most time.Duration) {
	<-time.After(time.Duration(k.chance.Int64N(int64(max(most, time.Millisecond)))))
}

// kill kills parts, one shortly after the other, and starts them again: the processes of Mailhelm
// last, because they start only with a database. Without a standby commits wait, and so do they.
func (k *killer) kill(parts ...string) {
	k.tb.Helper()
	var first, last []func()
	for _, part := range parts {
		k.journal.Kill(part)
		if up := k.down(part); part == "API server" || part == "worker" {
			last = append(last, up)
		} else {
			first = append(first, up)
		}
		k.pause(1500 * time.Millisecond / time.Duration(len(parts)))
	}
	for _, up := range append(first, last...) {
		up()
	}
}

// down kills a part, and returns the function that starts it again.
func (k *killer) down(part string) (up func()) {
	k.tb.Helper()
	n := k.chance.IntN(2)
	switch part {
	case "API server":
		k.journal.Down(n)
		k.servers[n].kill()
		return func() {
			k.servers[n].start(k.tb)
			k.journal.Up(n)
		}
	case "worker":
		k.workers[n].kill()
		return func() { k.workers[n].start(k.tb) }
	case "PgBouncer":
		k.bouncer.Stop()
		return func() { k.bouncer.Start(k.tb) }
	case "Redis":
		k.redis.Stop()
		return func() { k.redis.Start(k.tb) }
	case "standby":
		k.standby.Kill(k.tb)
		return func() {
			k.standby.Start(k.tb)
			awaitSynchronous(k.tb, k.primary)
		}
	case "primary":
		k.primary.Kill(k.tb)
		return func() {
			k.primary.Start(k.tb)
			awaitSynchronous(k.tb, k.primary)
		}
	case "primary with failover":
		awaitSynchronous(k.tb, k.primary) // only then the standby has every commit
		k.primary.Kill(k.tb)
		return func() { k.failOver(k.tb) }
	}
	k.tb.Fatalf("no part %s", part)
	return nil
}

// mixedWork connects a sending account and a receiving domain, and returns work on the installation.
func (t *topology) mixedWork(tb testing.TB, c mixed.Config, hook *mixed.Hook) *mixed.Work {
	tb.Helper()
	c.Account, c.Hook, c.MailDomain, c.Key, c.APIs = mixed.NewAccount(tb), hook, mailDomain, t.key, t.apis
	for i := range c.MCPs {
		port := t.first + i*portsOfServer
		c.MCPs[i], c.SMTPs[i] = localURL(port+2), fmt.Sprintf("127.0.0.1:%d", port+4)
	}
	c.MCPHost = strings.TrimPrefix(c.MCPs[0], "http://")
	c.Database = t.anyURL("primary")
	db := openServer(tb, t.primary)
	defer db.Close() //nolint:errcheck // nothing is lost
	if err := db.QueryRowContext(tb.Context(), "SELECT id FROM orgs WHERE slug = $1", t.org).Scan(&c.Org); err != nil {
		tb.Fatal(err)
	}
	t.command(tb, "admin", "account", "connect", t.org, "--provider", "smtp", "--endpoint", c.Account.Address, "--identity", "acme.example")
	c.Token = t.token(tb, c.MCPs[0])
	t.receive(tb, hook)
	return mixed.New(c)
}

// token returns an access token for the agent endpoint.
func (t *topology) token(tb testing.TB, resource string) string {
	tb.Helper()
	var client struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	if err := json.Unmarshal([]byte(t.command(tb, "admin", "client", "create", t.org, "--name", "Agents", "--scopes", "all", "--json")), &client); err != nil {
		tb.Fatal(err)
	}
	form := url.Values{"grant_type": {"client_credentials"}, "resource": {resource}}
	r, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, t.app+"/oauth/token", strings.NewReader(form.Encode()))
	if err != nil {
		tb.Fatal(err)
	}
	r.SetBasicAuth(client.ID, client.Secret)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	var issued struct {
		AccessToken string `json:"access_token"`
	}
	if status, _, body := send(tb, r); status != http.StatusOK || json.Unmarshal([]byte(body), &issued) != nil {
		tb.Fatalf("a token: %d %s", status, body)
	}
	return issued.AccessToken
}

// receive creates a receiving domain with a webhook, and waits until that is published.
func (t *topology) receive(tb testing.TB, hook *mixed.Hook) {
	tb.Helper()
	// A job must have read the domains of the account before.
	t.until(tb, "a receiving domain", func() (string, bool) {
		status, _, body := t.call(tb, 0, http.MethodPost, "/v1/inbound/domains", `{"domain":"`+mailDomain+`"}`)
		if status != http.StatusCreated && !strings.Contains(body, "receiving_domain_not_owned") {
			tb.Fatalf("a receiving domain: %d %s", status, body)
		}
		return body, status == http.StatusCreated
	})
	// No name server has its records.
	execute(tb, t.primary, "UPDATE receiving_domains SET status = 'verified', check_at = NULL WHERE domain = '"+mailDomain+"'")
	path := "/v1/inbound/domains/" + mailDomain
	if status, _, body := t.call(tb, 0, http.MethodPut, path+"/webhook", `{"webhook_url":"`+hook.URL+`","allow_patterns":["*"]}`); status != http.StatusOK {
		tb.Fatalf("a webhook: %d %s", status, body)
	}
	t.until(tb, "a published webhook", func() (string, bool) {
		_, _, body := t.call(tb, 0, http.MethodGet, path, "")
		return body, strings.Contains(body, `"published"`)
	})
}

// until calls reached until it returns true, for half a minute. Its text is the last answer.
func (t *topology) until(tb testing.TB, what string, reached func() (string, bool)) {
	tb.Helper()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	var last string
	for range 600 {
		var is bool
		if last, is = reached(); is {
			return
		}
		<-again.C
	}
	tb.Fatalf("no %s: %s", what, last)
}
