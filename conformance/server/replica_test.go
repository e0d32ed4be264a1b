package server

import (
	"database/sql"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// replicaReads are calls of expensive reads, and two of others. %s is in the address of the newest
// contact.
var replicaReads = []struct {
	method, path, body string
	expensive          bool
}{
	{"POST", "/v1/segments/preview", `{"source":"attr.email = \"%s@example.com\""}`, true},
	{"GET", "/v1/lists", "", true},
	{"GET", "/v1/export", "", true},
	{"GET", "/v1/contacts/%s@example.com", "", false},
	{"GET", "/v1/contacts?limit=1", "", false},
}

// generated matches what differs from call to call.
var generated = regexp.MustCompile(`"([a-z_]*_at|next_cursor)":"[^"]*"`)

// TestAStandbyChangesNoAnswer makes the same calls while a standby works, is paused, and is stopped.
// After each write the answers are the same, and only those of expensive reads come from the
// standby, while it works.
func TestAStandbyChangesNoAnswer(t *testing.T) {
	t.Parallel()
	primary, standby := enginetest.WithStandby(t)
	control, err := sql.Open("postgres", standby.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer control.Close() //nolint:errcheck // at the end of the test
	p := product.Start(t, product.Options{Postgres: true, PostgresURL: primary.URL(), ReplicaURL: standby.URL()})
	run := func(statement string) {
		t.Helper()
		if _, err := control.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	answers := func(name string) (bodies []string, lagging int) {
		t.Helper()
		made := p.Send(t, product.Request{Method: "POST", URL: p.BaseURL + "/v1/contacts", Bearer: p.Live.APIKey, Body: fmt.Sprintf(`{"email":"%s@example.com"}`, name)})
		if made.Status != http.StatusCreated || made.Header.Get("Mailhelm-Replica-Lag") != "" {
			t.Fatalf("a contact: %d %s", made.Status, made.Body)
		}
		for _, c := range replicaReads {
			path, body := c.path, c.body
			for _, text := range []*string{&path, &body} {
				*text = regexp.MustCompile("%s").ReplaceAllString(*text, name)
			}
			got := p.Send(t, product.Request{Method: c.method, URL: p.BaseURL + path, Bearer: p.Live.APIKey, Body: body})
			if got.Status != http.StatusOK {
				t.Fatalf("%s %s: %d %s", c.method, path, got.Status, got.Body)
			}
			if header := got.Header.Get("Mailhelm-Replica-Lag"); header != "" {
				lagging++
				if lag, err := strconv.ParseFloat(header, 64); err != nil || lag < 0 || lag > 5 || !c.expensive {
					t.Errorf("%s %s: the lag is %s", c.method, path, header)
				}
			}
			bodies = append(bodies, generated.ReplaceAllString(regexp.MustCompile(name+`|[0-9a-f-]{36}`).ReplaceAllString(got.Body, "x"), ""))
		}
		return bodies, lagging
	}
	deadline := time.Now().Add(20 * time.Second)
	with, lagging := answers("newest0")
	for i := 0; lagging < 3 && time.Now().Before(deadline); i++ { // the first probe may be under way
		with, lagging = answers(fmt.Sprintf("newest1%d", i))
	}
	if lagging != 3 {
		t.Fatalf("the standby answered %d calls, want 3", lagging)
	}
	checkReplicaOfTools(t, p)
	checkReplicaOfPages(t, p)
	if !strings.Contains(with[0], `"count":1`) {
		t.Errorf("the standby does not have the contact: %s", with[0])
	}
	for state, change := range map[string][2]func(){
		"paused":  {func() { run("SELECT pg_wal_replay_pause()") }, func() { run("SELECT pg_wal_replay_resume()") }},
		"stopped": {func() { standby.Stop(t) }, func() { standby.Start(t) }},
	} {
		change[0]()
		without, lagging := answers("newest-" + state)
		change[1]()
		if lagging != 0 {
			t.Errorf("%s: the standby answered %d calls", state, lagging)
		}
		for i, c := range replicaReads {
			if with[i] != without[i] {
				t.Errorf("%s: %s %s\nwith:    %.600s\nwithout: %.600s", state, c.method, c.path, with[i], without[i])
			}
		}
	}
}

// checkReplicaOfTools checks that the answer of a tool has the header in all protocol revisions if it
// comes from the standby, and otherwise not.
func checkReplicaOfTools(t *testing.T, p *product.Product) {
	t.Helper()
	token := p.Token(t, p.MCPURL)
	for _, revision := range []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} {
		for tool, want := range map[string]bool{"lists_list": true, "contacts_lookup": false} {
			header := map[string]string{"Authorization": "Bearer " + token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": revision}
			meta, arguments := "", "{}"
			if revision == "2026-07-28" {
				header["Mcp-Method"], header["Mcp-Name"] = "tools/call", tool
				meta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
			}
			if tool == "contacts_lookup" {
				arguments = fmt.Sprintf(`{"email":%q}`, p.Contact)
			}
			got := p.Send(t, product.Request{
				Method: http.MethodPost, URL: p.MCPURL + "/mcp", Header: header,
				Body: fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s%s}}`, tool, arguments, meta),
			})
			if lag := got.Header.Get("Mailhelm-Replica-Lag"); got.Status != http.StatusOK || strings.Contains(got.Body, `"isError":true`) || (lag != "") != want {
				t.Errorf("%s at %s: the lag is %q: %d %s", tool, revision, lag, got.Status, got.Body)
			}
		}
	}
}

// checkReplicaOfPages checks that a page of the dashboard which only reports comes from the standby
// until a form was sent, for as long as the standby may lag.
func checkReplicaOfPages(t *testing.T, p *product.Product) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := *p.HTTP
	browser.Jar = jar
	send := func(method, path string, form url.Values, want int) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, p.AppURL+path, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Origin": {p.AppURL}}
		answer, err := browser.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := answer.Body.Close(); err != nil || answer.StatusCode != want {
			t.Fatalf("%s %s: status %d, want %d, %v", method, path, answer.StatusCode, want, err)
		}
	}
	reads := func() int {
		stats, _ := p.DB.ReplicaStats()
		return stats.Reads
	}
	send(http.MethodPost, "/login", url.Values{"email": {p.UserEmail}, "password": {p.UserPassword}}, http.StatusSeeOther)
	for _, path := range []string{"/dashboard/lists", "/dashboard/messages?status=send&recipient=ada%40example.com"} { // by a store, and by an operation
		before := reads()
		send(http.MethodGet, path, nil, http.StatusOK)
		if reads() == before {
			t.Errorf("%s does not come from the standby", path)
		}
	}
	send(http.MethodPost, "/dashboard/lists/new", nil, http.StatusForbidden) // without a form token
	app, err := url.Parse(p.AppURL)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(fmt.Sprint(jar.Cookies(app)), "mailhelm_wrote=1") {
		t.Errorf("cookies after a form: %v", jar.Cookies(app))
	}
	for _, path := range []string{"/dashboard/lists", "/dashboard/messages?status=send&recipient=ada%40example.com"} {
		before := reads()
		send(http.MethodGet, path, nil, http.StatusOK)
		if reads() != before {
			t.Errorf("%s comes from the standby right after a form", path)
		}
	}
}
