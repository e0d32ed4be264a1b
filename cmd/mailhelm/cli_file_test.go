package main

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
)

// TestFaultsOfAFileNameTheLine checks for each kind of fault in a configuration file that the
// refusal names the file and the line. Each case is the fourth line of a file.
func TestFaultsOfAFileNameTheLine(t *testing.T) {
	t.Parallel()
	for command, lines := range map[string][]string{
		// refused when the file is read, and by the checks of settings
		"config": {
			`base-ulr = "https://api.example.com"`, `"base url" = 1`, `json = true`, `config = "other.toml"`, `"r\u006fll" = 1`,
			`role = ["all"]`, `[role]`, `[[role]]`, `role.name = "all"`, `role = {name = "all"}`, `role = 1979-05-27`, `role = 07:32:00`, `drain-delay = 1.5`, `port = nan`,
			`role = `, `role = "all`, `role "all"`, `role = all`, `role = "a" "b"`, `port = 99999999999999999999`, `data = "again"`, `role = "a\qb"`, "role = \"\xff\"", "role = \"\x00\"", `= 1`,
			`role = "boss"`, `role = "worker"`, `role = 1`, `port = "eighty"`, `port = 70000`, `port = -1`, `port = 65535`, `no-migrate = "maybe"`, `introspection = 7`,
			`drain-delay = "ten"`, `drain-delay = 10`, `drain-delay = "-1s"`, `activities-per-minute = -1`, `database-connections = 3`, `database-connections = 1000000`, `sqlite-readers = 65`,
			`memory-limit = "much"`, `memory-limit = "1MiB"`, `base-url = "ftp://api.example.com"`, `auth-url = "https://auth.example.com/path?x"`, `app-url = "http://"`, `mcp-url = "no address"`,
			`fetch-url = "https://API.example.com"`, `asset-url = "x"`, `docs-url = "x"`, `allowed-origins = "x"`, `client-document-networks = "10.0.0.0"`, `mail-server-networks = "x"`,
			`webhook-networks = "10.0.0.0/99"`, `bucket-networks = "x"`, `git-networks = "x"`, `trusted-proxies = "x"`, `system-smtp = "http://x"`, `system-smtp = "smtp://127.0.0.1"`, `system-from = "x@example.com"`,
			`inbox-domain = "No Domain"`, `mail-host = "-"`, `smtp-name = "a b"`, `smtp-cert = "cert.pem"`, `smtp-key = "key.pem"`, `dns-servers = "x"`, `rspamd-url = "ftp://x"`, `clamd = "x"`, `receive-ses-regions = "Mars"`,
			`github-url = "ftp://x"`, `github-app = -1`, `github-app = "x"`, `github-key = "x"`, `github-client-secret = "x"`, `github-webhook-secret = "x"`, `otlp-endpoint = "x"`,
		},
		// refused when the server starts
		"serve": {
			`database-url = "mysql://u:secret@127.0.0.1/x"`, `database-url = "postgres://u:secret@127.0.0.1:1/x"`, `database-url = "postgres://u:secret@127.0.0.1:port/x"`, `redis-url = "http://x"`, `master-key = "short"`,
			`master-key-file = "/nonexistent/key"`, `api-addr = "x"`, `mcp-addr = "127.0.0.1:http:1"`, `admin-addr = "203.0.113.1:80"`, `smtp-addr = "127.0.0.1:70000"`,
		},
	} {
		for _, line := range lines {
			t.Run(line, func(t *testing.T) {
				t.Parallel()
				file := writeFile(t, "# settings\n\ndata = \""+t.TempDir()+"\"\n"+line+"\n")
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // ends a server that starts
				defer cancel()
				args := []string{command, "--config", file}
				if command == "serve" {
					args = append(args, "--port", strconv.Itoa(firstOfSixPorts(t)))
				}
				var stdout, stderr strings.Builder
				status := run(ctx, args, cli.Surroundings{
					Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Lookup: func(string) (string, bool) { return "", false },
				})
				r := ran{status, stdout.String(), stderr.String()}
				said := r.stderr
				if command == "config" && r.status == cli.ExitOK {
					_, said, _ = strings.Cut(r.stdout, "would not start")
				}
				if !strings.Contains(said, file+", line 4") || strings.Contains(said, "u:secret") {
					t.Errorf("status %d: %s", r.status, said)
				}
			})
		}
	}
}

// TestCurrentFolderCannotBeRead runs the program in a folder whose path it cannot find out, as in
// the home folder of an administrator who runs it as another user: sudo -u mailhelm.
func TestCurrentFolderCannotBeRead(t *testing.T) {
	t.Parallel()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-euc", `mkdir gone; cd gone; rmdir ../gone; exec "$0" version`, path)
	cmd.Dir, cmd.Env = t.TempDir(), withoutSettings(os.Environ())
	if printed, err := cmd.CombinedOutput(); err != nil || !strings.HasPrefix(string(printed), "mailhelm ") {
		t.Errorf("%v\n%.2000s", err, printed)
	}
}
