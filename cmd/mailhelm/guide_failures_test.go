package main

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// TestGuideOfFailures makes a server without a worker lose its Redis and its database. What the
// guide about failures says must be what the server shows, and the server must recover without a
// restart. Full disks and accounts that throttle are tested in conformance/server.
func TestGuideOfFailures(t *testing.T) {
	t.Parallel()
	f := newFailing(t)
	f.shows("`no_worker`", f.ready(http.StatusOK))
	f.run("no_worker")
	f.skip(1) // doctor asks an installation that is in order; TestGuidesOfOperators runs it
	f.skip(1) // journalctl has the log of systemd
	f.end()

	f.redis.Stop()
	f.shows("`redis: failed`", strings.ReplaceAll(f.ready(http.StatusOK), `"redis":"failed"`, "redis: failed"))
	f.logs("`rate limits are not shared: Redis does not answer`")
	f.redis.Start(t)

	f.between.closeConnections()
	awaitText(t, "the database cannot be reached: ", func() string { return f.ready(http.StatusServiceUnavailable) })
	f.shows("`the database cannot be reached: ...`", f.ready(http.StatusServiceUnavailable))
	refused := request(t, http.MethodPost, f.api+"/v1/lists", f.key, `{"name":"Away"}`)
	f.shows("503 `temporarily_unavailable`", fmt.Sprint(refused.status, " ", field(strings.ReplaceAll(refused.body, `":"`, `": "`), "code")))
	f.shows("`Retry-After: 5`", "Retry-After: "+refused.header.Get("Retry-After"))
	f.logs("`not ready: the database accepts no calls`")
	f.between.listen(f.between.listener.Addr().String())
	awaitText(t, "ok", func() string {
		if a := request(t, http.MethodGet, f.api+"/v1/lists", f.key, ""); a.status == http.StatusOK {
			return "ok"
		}
		return f.ready(0)
	})
	f.checkStarts()
}

// failing is a server that answers calls, and what it needs.
type failing struct {
	*guide
	s          shell
	between    *relay
	redis      *enginetest.RedisServer
	server     *process
	api, admin string
	key        string
}

func newFailing(t *testing.T) *failing {
	t.Helper()
	f := &failing{guide: openGuide(t, "failures.md"), s: newShell(t, true), redis: enginetest.Redis(t)}
	f.s.writeMasterKey()
	f.s.mustRun("org", "create", "acme")
	f.key = f.s.does("key", "create", "acme", "--name", "CI", "--scopes", "all")["secret"].(string)
	through := f.s.database
	f.between, through.URL = relayTo(t, f.s.database.URL)
	server, port := launchServe(t, nil, append(shellOn(t, through).where, "--role", "api", "--redis-url", f.redis.URL)...)
	f.server, f.api, f.admin = server, fmt.Sprintf("http://localhost:%d", port), fmt.Sprintf("http://localhost:%d", port+5)
	f.write("mailhelm.toml", fmt.Sprintf("data = %q\ndatabase-url = %q\nport = %d\n", f.s.database.Dir, through.URL, port))
	f.replace = strings.NewReplacer("/etc/mailhelm", f.folder)
	return f
}

// ready returns the answer of /readyz, which must have the status unless that is 0.
func (f *failing) ready(status int) string {
	f.t.Helper()
	a := request(f.t, http.MethodGet, f.admin+"/readyz", "", "")
	if status != 0 && a.status != status {
		f.t.Errorf("/readyz: status %d, want %d: %s", a.status, status, a.body)
	}
	return a.body
}

// shows checks that the guide has a text, and that the server shows it. Dots at the end of the
// text stand for something that the guide leaves out.
func (f *failing) shows(text, shown string) {
	f.t.Helper()
	if !strings.Contains(f.text, text) {
		f.t.Errorf("the guide does not have %s", text)
	}
	for part := range strings.SplitSeq(strings.ReplaceAll(text, "`", ""), "...") {
		if !strings.Contains(shown, part) {
			f.t.Errorf("the guide says %s, and the server shows %s", text, shown)
		}
	}
}

// logs checks that the guide has a text and waits until the log of the server has it.
func (f *failing) logs(text string) {
	f.t.Helper()
	f.server.awaits(strings.Trim(text, "`"))
	f.shows(text, f.server.stderr.String())
}

// checkStarts starts servers that cannot start, in this process.
func (f *failing) checkStarts() {
	f.t.Helper()
	serve := func(dir, database string) string {
		r := runWith(f.t, map[string]string{}, "serve", "--data", dir, "--database-url", database, "--dns-servers", "none", "--port", fmt.Sprint(firstOfSixPorts(f.t)))
		if r.status == cli.ExitOK {
			f.t.Errorf("a server starts that must not")
		}
		return r.stderr
	}
	f.shows("`there is no master key in ..., and the database has data of another one`", serve(enginetest.Folder(f.t), f.s.database.URL))
	other := f.t.TempDir()
	if err := os.WriteFile(other+"/master.key", []byte(strings.Repeat("cd", 32)+"\n"), 0o600); err != nil {
		f.t.Fatal(err)
	}
	f.shows("`the master key ... is not that of this database`", serve(other, f.s.database.URL))
}
