package main

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// TestDemo checks three starts of the demo on one data folder, and a start without the
// credentials file. The subtests share one folder because the first start on a folder
// creates 90 days of events, which takes seconds.
func TestDemo(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(enginetest.Folder(t), "data")
	var before demoOutput
	t.Run("first start", func(t *testing.T) {
		first, d := launchDemo(t, dir, "--log-level", "debug")
		before = d
		checkPrintedMembers(t, d)
		checkDemoData(t, d)
		checkDemoMail(t, d)
		created := request(t, http.MethodPost, d["base_url"]+"/v1/contacts", d["api_key"], `{"email":"kept@example.com"}`)
		if created.status != http.StatusCreated {
			t.Fatalf("create: %d %s", created.status, created.body)
		}
		token := callWithAddresses(t, d)
		first.exit()
		checkNoSecrets(t, dir, d)
		checkLog(t, first.stderr.String(), d, token)
	})
	if t.Failed() {
		return
	}
	t.Run("second start", func(t *testing.T) {
		second, after := launchDemo(t, dir)
		checkSecondStart(t, dir, before, after)
		checkDemoMail(t, after)
		second.exit()
	})
	t.Run("printed commands", func(t *testing.T) {
		third := launch(t, nil, "demo", "--data", dir, "--port", strconv.Itoa(firstOfSixPorts(t)))
		checkPrintedCommands(t, readUntil(t, third, "Ctrl-C stops the demo."))
		third.exit()
	})
	t.Run("missing credentials", func(t *testing.T) { checkMissingCredentials(t, dir) })
}

// checkPrintedMembers checks the members that `mailhelm demo --json` printed, and that each
// printed address answers.
func checkPrintedMembers(t *testing.T, got demoOutput) {
	t.Helper()
	var names []string
	for name, value := range got {
		names = append(names, name)
		if value == "" {
			t.Errorf("%s is empty", name)
		}
	}
	slices.Sort(names)
	want := strings.Fields(`admin_url api_key app_url asset_url auth_url base_url client_id client_secret fetch_url git_folder mcp_url org_id
		smtp_addr test_api_key test_client_id test_client_secret user_email user_password webhook_url`)
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	for name, address := range map[string]string{
		"API":         got["base_url"] + "/v1/_health",
		"auth":        got["auth_url"] + "/.well-known/oauth-authorization-server",
		"app":         got["app_url"] + "/docs",
		"agents":      got["mcp_url"] + "/mcp/_health",
		"fetch":       got["fetch_url"] + "/_health",
		"readiness":   got["admin_url"] + "/readyz",
		"metrics":     got["admin_url"] + "/metrics",
		"error page":  got["app_url"] + "/docs/api/errors/invalid_key",
		"own OpenAPI": got["base_url"] + "/openapi.json",
	} {
		if a := request(t, http.MethodGet, address, "", ""); a.status != http.StatusOK {
			t.Errorf("%s: %s answers %d", name, address, a.status)
		}
	}
}

// checkDemoData checks the number of the demo's topics, lists, attributes and contacts, and
// that its sending account answers.
func checkDemoData(t *testing.T, d demoOutput) {
	t.Helper()
	for path, want := range map[string]int{"topics": 5, "lists": 4, "attributes": 8} {
		if got := len(pages(t, d, "/v1/"+path)); got != want {
			t.Errorf("%d %s, want %d", got, path, want)
		}
	}
	contacts := pages(t, d, "/v1/contacts?limit=100")
	if len(contacts) != 500 {
		t.Errorf("%d contacts, want 500", len(contacts))
	}
	for _, key := range []string{"api_key", "test_api_key"} {
		if a := request(t, http.MethodGet, d["base_url"]+"/v1/account", d[key], ""); a.status != http.StatusOK {
			t.Errorf("%s: account answers %d %s", key, a.status, a.body)
		}
	}
}

// pages returns all items of a list in the API. path is the path of its first page; pages
// follows next_cursor to the last page.
func pages(t *testing.T, d demoOutput, path string) []json.RawMessage {
	t.Helper()
	var all []json.RawMessage
	cursor, separator := "", "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	for {
		address := d["base_url"] + path
		if cursor != "" {
			address += separator + "cursor=" + cursor
		}
		a := request(t, http.MethodGet, address, d["api_key"], "")
		var page struct {
			Data       []json.RawMessage `json:"data"`
			Pagination struct {
				NextCursor *string `json:"next_cursor"`
			} `json:"pagination"`
			NextCursor *string `json:"next_cursor"`
		}
		if err := json.Unmarshal([]byte(a.body), &page); err != nil || a.status != http.StatusOK {
			t.Fatalf("%s: %d %v: %.300s", address, a.status, err, a.body)
		}
		all = append(all, page.Data...)
		next := page.Pagination.NextCursor
		if next == nil {
			next = page.NextCursor
		}
		if next == nil || *next == "" {
			return all
		}
		cursor = *next
	}
}

// checkSecondStart checks that the second start of the demo printed the same credentials as
// the first start. It also checks that the demo still has the contact that the test
// created.
func checkSecondStart(t *testing.T, dir string, before, after demoOutput) {
	t.Helper()
	for _, name := range []string{"org_id", "client_id", "client_secret", "test_client_id", "test_client_secret", "api_key", "test_api_key", "user_email", "user_password"} {
		if before[name] != after[name] {
			t.Errorf("%s changed", name)
		}
	}
	if a := request(t, http.MethodGet, after["base_url"]+"/v1/contacts/kept@example.com", after["api_key"], ""); a.status != http.StatusOK {
		t.Errorf("the contact of the first run: %d %s", a.status, a.body)
	}
	if info, err := os.Stat(filepath.Join(dir, "demo.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("credentials file: %v %v, want mode 0600", info, err)
	}
}

// checkNoSecrets checks that the database of a demo that has ended contains none of its
// secrets.
func checkNoSecrets(t *testing.T, dir string, d demoOutput) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, "mailhelm.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"client_secret", "test_client_secret", "api_key", "test_api_key", "user_password"} {
		if strings.Contains(string(content), d[name]) {
			t.Errorf("the database holds %s in plain text", name)
		}
	}
	if !strings.Contains(string(content), d["client_id"]) {
		t.Error("the database does not hold the client id either: this test looks in the wrong place")
	}
}

// checkPrintedCommands runs the commands in the text that `mailhelm demo` printed, and
// checks their output and the printed configuration of an MCP client.
func checkPrintedCommands(t *testing.T, text string) {
	t.Helper()
	blocks := strings.Split(text, "\n\n")
	var commands []string
	var configuration string
	for _, b := range blocks {
		switch b = strings.TrimSpace(b); {
		case strings.HasPrefix(b, "export ") || strings.HasPrefix(b, "curl "):
			commands = append(commands, b)
		case strings.HasPrefix(b, "{"):
			configuration = b
		}
	}
	if !strings.Contains(text, "/dashboard\n") {
		t.Error("nothing says where the printed password is for")
	}
	if len(commands) != 3 {
		t.Fatalf("%d commands are printed, want 3:\n%s", len(commands), text)
	}
	// All three commands run in one shell, as if a user pasted one after the other.
	shell := exec.Command("sh", "-ec", commands[0]+"\n"+commands[1]+"\necho\n"+commands[2])
	shell.Env = append(os.Environ(), "PATH="+curlPath(t))
	output, err := shell.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	listed, called, found := strings.Cut(strings.TrimSpace(string(output)), "\n")
	if !found || !json.Valid([]byte(listed)) || !strings.Contains(listed, `"name":"contacts_lookup"`) {
		t.Errorf("the list of tools is %.500s", listed)
	}
	if !json.Valid([]byte(called)) || !strings.Contains(called, "ada.almeida@example.com") || strings.Contains(called, `"isError":true`) {
		t.Errorf("the call answers %.500s", called)
	}
	var block struct {
		Servers map[string]struct{ URL string } `json:"mcpServers"`
	}
	if err := json.Unmarshal([]byte(configuration), &block); err != nil || !strings.HasSuffix(block.Servers["mailhelm"].URL, "/mcp") {
		t.Errorf("the client configuration is not usable (%v):\n%s", err, configuration)
	}
}

func readUntil(t *testing.T, p *process, last string) string {
	t.Helper()
	var text strings.Builder
	for !strings.Contains(text.String(), last) {
		line, err := p.stdout.ReadString('\n')
		text.WriteString(line)
		if err != nil {
			t.Fatalf("%v after:\n%s\n%s", err, text.String(), p.stderr)
		}
	}
	return text.String()
}

// checkMissingCredentials checks that the demo does not start on its data without the
// credentials file, and names the file.
func checkMissingCredentials(t *testing.T, dir string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, "demo.json")); err != nil {
		t.Fatal(err)
	}
	again := launch(t, nil, "demo", "--data", dir, "--port", strconv.Itoa(firstOfSixPorts(t)))
	if !again.waits() || again.cmd.ProcessState.ExitCode() != cli.ExitFailure {
		t.Fatalf("it started without its credentials:\n%s", again.stderr)
	}
	if !strings.Contains(again.stderr.String(), "demo.json is missing") {
		t.Errorf("standard error does not name the file:\n%s", again.stderr)
	}
}
