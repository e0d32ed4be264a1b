package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/settings"
)

// ran is the result of running the program as a function: its exit status and its output.
type ran struct {
	status         int
	stdout, stderr string
}

func runWith(t *testing.T, environment map[string]string, args ...string) ran {
	t.Helper()
	var stdout, stderr strings.Builder
	lookup := func(name string) (string, bool) {
		v, ok := environment[name]
		return v, ok
	}
	status := run(t.Context(), args, cli.Surroundings{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Lookup: lookup})
	return ran{status, stdout.String(), stderr.String()}
}

func writeFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mailhelm.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// shownSettings returns the settings that `mailhelm config --json` prints, by name.
func shownSettings(t *testing.T, environment map[string]string, args ...string) map[string]settings.Value {
	t.Helper()
	r := runWith(t, environment, append([]string{"config", "--json"}, args...)...)
	var out struct{ Settings []settings.Value }
	if err := json.Unmarshal([]byte(r.stdout), &out); err != nil || r.status != cli.ExitOK {
		t.Fatalf("status %d, %v: %s%s", r.status, err, r.stdout, r.stderr)
	}
	byName := map[string]settings.Value{}
	for _, v := range out.Settings {
		byName[v.Name] = v
	}
	return byName
}

func TestPrecedenceIsFlagEnvironmentFileDefault(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "base-url = \"https://file.example.com\"\ndata = \"/file\"\nport = 7000\nno-migrate = true\n")
	environment := map[string]string{
		"MAILHELM_BASE_URL": "https://env.example.com", "MAILHELM_DATA": "/env", "MAILHELM_ROLE": "",
		"MAILHELM_ALLOWED_ORIGINS": "https://a.example,https://b.example",
		"MAILHELM_TRUSTED_PROXIES": "10.0.0.0/8,192.0.2.7", "MAILHELM_INTROSPECTION": "false",
	}
	got := shownSettings(t, environment, "--config", file, "--base-url", "https://flag.example.com")
	for name, want := range map[string]settings.Value{
		"base-url":        {Value: "https://flag.example.com", Source: "flag --base-url"},
		"data":            {Value: "/env", Source: "environment MAILHELM_DATA"},
		"port":            {Value: "7000", Source: "file " + file},
		"no-migrate":      {Value: "true", Source: "file " + file},
		"role":            {Value: "all", Source: "default"}, // set but empty is unset
		"mcp-url":         {Value: "http://localhost:7002", Source: "derived"},
		"allowed-origins": {Value: "https://a.example,https://b.example", Source: "environment MAILHELM_ALLOWED_ORIGINS"},
		"trusted-proxies": {Value: "10.0.0.0/8,192.0.2.7", Source: "environment MAILHELM_TRUSTED_PROXIES"},
		"introspection":   {Value: "false", Source: "environment MAILHELM_INTROSPECTION"},
		"admin-addr":      {Value: "127.0.0.1:7005", Source: "derived"},
	} {
		want.Name = name
		if got[name] != want {
			t.Errorf("%s: got %+v, want %+v", name, got[name], want)
		}
	}
}

func TestConfigurationFileFromTheEnvironment(t *testing.T) {
	t.Parallel()
	file := writeFile(t, `data = "/file"`)
	got := shownSettings(t, map[string]string{"MAILHELM_CONFIG": file})
	if got["data"].Value != "/file" {
		t.Errorf("data is %+v", got["data"])
	}
}

func TestConfigHidesSecrets(t *testing.T) {
	t.Parallel()
	const password, key = "hunter2pass", "aaaabbbbccccddddeeeeffff00001111aaaabbbbccccddddeeeeffff00001111"
	inFile := writeFile(t, `master-key = "`+key+`"`+"\n"+`database-url = "postgres://u:`+password+`@db/x"`)
	for name, r := range map[string]ran{
		"environment": runWith(t, map[string]string{
			"MAILHELM_MASTER_KEY": key, "MAILHELM_DATABASE_URL": "postgres://u:" + password + "@db/x?sslmode=require",
		}, "config"),
		"environment, JSON": runWith(t, map[string]string{"MAILHELM_MASTER_KEY": key, "MAILHELM_DATABASE_URL": "postgres://db/x?user=u&password=" + password}, "config", "--json"),
		"file":              runWith(t, nil, "config", "--config", inFile),
		"flag":              runWith(t, nil, "config", "--database-url", "postgres://u:"+password+"@db/x"),
		"redis":             runWith(t, map[string]string{"MAILHELM_REDIS_URL": "rediss://:" + password + "@redis"}, "config"),
		"redis, flag":       runWith(t, nil, "config", "--json", "--redis-url", "redis://u:"+password+"@redis:6379/0"),
		"mail server":       runWith(t, map[string]string{"MAILHELM_SYSTEM_SMTP": "smtp://u:" + password + "@mail.example.com"}, "config"),
		"mail server, flag": runWith(t, nil, "config", "--json", "--system-smtp", "smtps://u:"+password+"@mail.example.com:2465", "--system-from", "a@example.com"),
		"mail server, bad":  runWith(t, nil, "config", "--system-smtp", "http://u:"+password+"@mail.example.com", "--system-from", "a@example.com"),
		"no URL":            runWith(t, nil, "config", "--database-url", "host=db password="+password),
		"malformed URL":     runWith(t, nil, "config", "--database-url", "postgres://u:"+password+"@%zz/x"),
	} {
		if strings.Contains(r.stdout+r.stderr, password) || strings.Contains(r.stdout+r.stderr, key) {
			t.Errorf("%s: a secret is shown:\n%s%s", name, r.stdout, r.stderr)
		}
		if r.status != cli.ExitOK || !strings.Contains(r.stdout, "database-url") {
			t.Errorf("%s: status %d:\n%s%s", name, r.status, r.stdout, r.stderr)
		}
	}
}

func TestUsageErrors(t *testing.T) {
	t.Parallel()
	misspelt := writeFile(t, `base-ulr = "https://api.example.com"`)
	broken := writeFile(t, `base-url = `)
	nested := writeFile(t, "[base-url]\nx = 1\n")
	for name, tc := range map[string]struct {
		environment map[string]string
		args        []string
		says        string
	}{
		"unknown command":      {nil, []string{"srve"}, "srve"},
		"unknown flag":         {nil, []string{"serve", "--nope"}, "--nope"},
		"value out of range":   {nil, []string{"serve", "--role", "boss"}, "--role"},
		"environment, no int":  {map[string]string{"MAILHELM_PORT": "eighty"}, []string{"config"}, "port"},
		"key on command line":  {nil, []string{"config", "--master-key", "00"}, "MAILHELM_MASTER_KEY"},
		"misspelt in the file": {nil, []string{"config", "--config", misspelt}, "base-ulr"},
		"no TOML":              {nil, []string{"config", "--config", broken}, broken},
		"table in the file":    {nil, []string{"config", "--config", nested}, "base-url"},
		"missing file":         {nil, []string{"config", "--config", "/nonexistent.toml"}, "/nonexistent.toml"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := runWith(t, tc.environment, tc.args...)
			if r.status != cli.ExitUsage || !strings.Contains(r.stderr, tc.says) || !strings.Contains(r.stderr, "--help") || r.stdout != "" {
				t.Errorf("status %d, want %d with %q:\n%s%s", r.status, cli.ExitUsage, tc.says, r.stdout, r.stderr)
			}
		})
	}
}

// TestErrorsSayWhereTheValueWasSet checks that an error about a value names the file and the
// line, or the variable, that set it.
func TestErrorsSayWhereTheValueWasSet(t *testing.T) {
	t.Parallel()
	const before = "# settings\n\ndata = \"/nonexistent\"\n"
	for name, tc := range map[string]struct {
		file        string
		environment map[string]string
		args        []string
		says        string // FILE stands for the path of the file
	}{
		"value out of range":   {before + "role = \"boss\"\n", nil, []string{"serve"}, "(--role is set in FILE, line 4)"},
		"no number":            {before + "\"port\" = \"eighty\"\n", nil, []string{"config"}, "(--port is set in FILE, line 4)"},
		"refused at start":     {before + "base-url = \"ftp://x\"\n", nil, []string{"serve"}, "(--base-url is set in FILE, line 4)"},
		"refused, only shown":  {before + "base-url = \"ftp://x\"\n", nil, []string{"config"}, "(--base-url is set in FILE, line 4)"},
		"found by the doctor":  {before + "base-url = \"ftp://x\"\n", nil, []string{"doctor"}, "(--base-url is set in FILE, line 4)"},
		"environment":          {before, map[string]string{"MAILHELM_PORT": "eighty"}, []string{"serve"}, "(--port is set by the environment variable MAILHELM_PORT)"},
		"misspelt":             {before + "base-ulr = \"x\"\n", nil, []string{"serve"}, "mailhelm: configuration file FILE, line 4: \"base-ulr\""},
		"table":                {before + "[role]\nx = 1\n", nil, []string{"serve"}, "mailhelm: configuration file FILE, line 4: role must be"},
		"no TOML":              {before + "base-url = \n", nil, []string{"serve"}, "mailhelm: configuration file FILE, line 4, column "},
		"flag before the file": {before + "role = \"api\"\n", nil, []string{"serve", "--role", "boss"}, "got \"boss\"\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := writeFile(t, tc.file)
			r := runWith(t, tc.environment, append(tc.args, "--config", file)...)
			if want := strings.ReplaceAll(tc.says, "FILE", file); !strings.Contains(r.stdout+r.stderr, want) {
				t.Errorf("want %q:\n%s%s", want, r.stdout, r.stderr)
			}
		})
	}
}

func TestHelpHasExamplesAndVariables(t *testing.T) {
	t.Parallel()
	if r := runWith(t, nil); r.status != cli.ExitOK || !strings.Contains(r.stdout, "demo") {
		t.Errorf("without arguments: status %d:\n%s", r.status, r.stdout)
	}
	for _, command := range []string{"demo", "serve", "migrate", "doctor", "ready", "config"} {
		r := runWith(t, nil, command, "--help")
		if r.status != cli.ExitOK || !strings.Contains(r.stdout, "Examples:") {
			t.Errorf("%s: status %d, want help with examples:\n%s", command, r.status, r.stdout)
		}
		if command != "migrate" && !strings.Contains(r.stdout, "$MAILHELM_DATA") {
			t.Errorf("%s: the help does not name the variables:\n%s", command, r.stdout)
		}
		if strings.Contains(strings.ReplaceAll(r.stdout, "--master-key-file", ""), "--master-key") {
			t.Errorf("%s: the help offers the master key as a flag", command)
		}
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	r := runWith(t, nil, "version", "--json")
	var v map[string]string
	if err := json.Unmarshal([]byte(r.stdout), &v); err != nil || v["commit"] == "" || v["version"] == "" {
		t.Errorf("%v: %s", err, r.stdout)
	}
	if r := runWith(t, nil, "version"); !strings.HasPrefix(r.stdout, "mailhelm ") {
		t.Errorf("got %s", r.stdout)
	}
}

func TestMigrate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	before := runWith(t, nil, "migrate", "status", "--data", dir)
	up := runWith(t, nil, "migrate", "up", "--data", dir)
	after := runWith(t, map[string]string{"MAILHELM_DATA": dir}, "migrate", "status", "--json")
	if before.status != cli.ExitOK || !strings.Contains(before.stdout, "missing") || strings.Contains(before.stdout, "applied") {
		t.Errorf("before: %d\n%s%s", before.status, before.stdout, before.stderr)
	}
	if up.status != cli.ExitOK {
		t.Errorf("up: %d\n%s%s", up.status, up.stdout, up.stderr)
	}
	if after.status != cli.ExitOK || !strings.Contains(after.stdout, `"applied": true`) || strings.Contains(after.stdout, `"applied": false`) {
		t.Errorf("after: %d\n%s%s", after.status, after.stdout, after.stderr)
	}
	if r := runWith(t, nil, "migrate", "up", "--database-url", "postgres://u:secretword@127.0.0.1:1/x"); r.status != cli.ExitFailure || strings.Contains(r.stderr, "secretword") {
		t.Errorf("unreachable database: %d\n%s", r.status, r.stderr)
	}
}

func TestNoMigrateNeedsAMigratedDatabase(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	r := runWith(t, map[string]string{"MAILHELM_DATA": dir}, "serve", "--no-migrate",
		"--api-addr", "127.0.0.1:0", "--app-addr", "127.0.0.1:0", "--mcp-addr", "127.0.0.1:0",
		"--fetch-addr", "127.0.0.1:0", "--smtp-addr", "127.0.0.1:0", "--admin-addr", "127.0.0.1:0")
	if r.status != cli.ExitFailure || !strings.Contains(r.stderr, "mailhelm migrate up") {
		t.Errorf("status %d:\n%s", r.status, r.stderr)
	}
}

func TestDoctorCommand(t *testing.T) {
	t.Parallel()
	port := firstOfSixPorts(t)
	healthy := runWith(t, map[string]string{"MAILHELM_DATA": filepath.Join(t.TempDir(), "data")}, "doctor", "--json", "--port", strconv.Itoa(port))
	var report struct {
		Status string
		Checks []struct{ Name, Status, Detail, Next string }
	}
	if err := json.Unmarshal([]byte(healthy.stdout), &report); err != nil || healthy.status != cli.ExitOK || report.Status != "ok" || len(report.Checks) < 6 {
		t.Errorf("a fresh folder: %v, status %d:\n%s", err, healthy.status, healthy.stdout)
	}
	broken := runWith(t, nil, "doctor", "--data", writeFile(t, "a file"), "--port", strconv.Itoa(port))
	if broken.status != cli.ExitFailure || !strings.Contains(broken.stdout, "fail") || !strings.Contains(broken.stdout, "-> ") || broken.stderr != "" {
		t.Errorf("a file as folder: status %d:\n%s%s", broken.status, broken.stdout, broken.stderr)
	}
}
