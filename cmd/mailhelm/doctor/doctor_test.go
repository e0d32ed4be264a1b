package doctor_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config/configtest"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/doctor"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound/scanning/scanningtest"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// newConfig returns a valid configuration with an empty data folder and free ports.
func newConfig(t *testing.T) config.Config {
	t.Helper()
	dir := filepath.Join(enginetest.Folder(t), "data")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return configOf(dir)
}

// configOf returns a valid configuration with the data folder dir and free ports.
func configOf(dir string) config.Config {
	return config.Config{DataDir: dir, Role: config.All, Listen: configtest.AnyPorts(), Log: slog.New(slog.DiscardHandler), Public: config.Public{
		API: "https://api.example.com", Auth: "https://auth.example.com", App: "https://app.example.com",
		MCP: "https://mcp.example.com", Fetch: "https://fetch.example.com",
	}, PublicClient: answering(http.StatusOK, "203.0.113.7:0"), LookupHost: func(context.Context, string) ([]string, error) { return []string{"203.0.113.1"}, nil }}
}

// answering returns a client to which every address answers with the status, and says that the
// server saw the caller at an address.
func answering(status int, seen string) *http.Client {
	return &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		if strings.HasSuffix(r.URL.Path, "/v1/_health") {
			w.Header().Set(config.ClientHeader, seen)
		}
		w.WriteHeader(status)
		return w.Result(), nil
	})}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// left is a data folder in which a server has run and stopped.
var left = enginetest.NewFolderTemplate(func(dir string) error {
	h, err := serve.Start(context.Background(), configOf(dir))
	if err != nil {
		return err
	}
	return h.Stop(context.Background())
})

// used returns a valid configuration with a copy of the data folder that a server left.
func used(t *testing.T) config.Config {
	t.Helper()
	cfg := newConfig(t)
	left.CopyTo(t, cfg.DataDir)
	return cfg
}

func TestHealthyConfigurations(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]config.Config{"fresh": newConfig(t), "used": used(t)} {
		if r := doctor.Examine(t.Context(), cfg, ""); r.Status != doctor.OK {
			t.Errorf("%s: %s", name, text(r))
		}
	}
	missing := newConfig(t)
	missing.DataDir = filepath.Join(missing.DataDir, "deep", "er")
	if r := doctor.Examine(t.Context(), missing, ""); r.Status != doctor.OK {
		t.Errorf("folder to be made: %s", text(r))
	}
	if _, err := os.Stat(missing.DataDir); !os.IsNotExist(err) {
		t.Error("the examination made the folder")
	}
}

func text(r doctor.Report) string {
	var b strings.Builder
	for _, c := range r.Checks {
		fmt.Fprintf(&b, "\n%s %s: %s -> %s", c.Status, c.Name, c.Detail, c.Next)
	}
	return b.String()
}

// TestDoctorCreatesNoSigningKey checks that doctor changes nothing if all stored signing
// keys are retired. The next start of a server creates a new one.
func TestDoctorCreatesNoSigningKey(t *testing.T) {
	t.Parallel()
	cfg := used(t)
	stored := func(change string) (all, active int) {
		t.Helper()
		db, err := sql.Open("sqlite", cfg.DatabaseFile())
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close() //nolint:errcheck // the counts are read
		if _, err := db.ExecContext(t.Context(), change); err != nil {
			t.Fatal(err)
		}
		row := db.QueryRowContext(t.Context(), `SELECT count(*), count(*) - count(retired_at) FROM signing_keys`)
		if err := row.Scan(&all, &active); err != nil {
			t.Fatal(err)
		}
		return all, active
	}
	if all, active := stored(`UPDATE signing_keys SET retired_at = created_at`); all != 1 || active != 0 {
		t.Fatalf("%d signing keys, %d of them not retired", all, active)
	}
	r := doctor.Examine(t.Context(), cfg, "")
	if r.Status != doctor.OK || !strings.Contains(text(r), "can be decrypted with the master key") {
		t.Errorf("%s", text(r))
	}
	if all, active := stored(`SELECT 1`); all != 1 || active != 0 {
		t.Errorf("after doctor: %d signing keys, %d of them not retired", all, active)
	}
}

func TestRunningServerIsRecognised(t *testing.T) {
	t.Parallel()
	cfg := newConfig(t)
	cfg.Public = config.Public{}
	h, err := serve.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Stop(t.Context()) }) //nolint:errcheck // the test is over
	a := h.Addresses()
	bare := func(url string) string {
		return strings.Replace(strings.TrimPrefix(url, "http://"), "localhost", "127.0.0.1", 1)
	}
	cfg.Listen = config.Listen{API: bare(a.API), App: bare(a.Auth), MCP: bare(a.MCP), Fetch: bare(a.Fetch), SMTP: a.SMTP, Admin: bare(a.Admin)}
	r := doctor.Examine(t.Context(), cfg, "")
	if r.Status != doctor.OK || !strings.Contains(text(r), "a running Mailhelm listens on") {
		t.Errorf("%s", text(r))
	}
}

func TestBrokenThingsAreFound(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		damage func(t *testing.T, cfg *config.Config)
		check  string
		status doctor.Status
		says   string
	}{
		"folder open to others": {func(t *testing.T, cfg *config.Config) { chmod(t, cfg.DataDir, 0o755) }, "data folder", doctor.Warn, "chmod 700"},
		"folder is a file": {func(t *testing.T, cfg *config.Config) {
			cfg.DataDir = filepath.Join(cfg.DataDir, "f")
			write(t, cfg.DataDir, "")
		}, "data folder", doctor.Fail, "is a file"},
		"key open to others":      {func(t *testing.T, cfg *config.Config) { chmod(t, cfg.MasterKeyFile(), 0o644) }, "master key", doctor.Fail, "0600"},
		"key damaged":             {func(t *testing.T, cfg *config.Config) { write(t, cfg.MasterKeyFile(), "zz") }, "master key", doctor.Fail, "hexadecimal"},
		"key given is no key":     {func(_ *testing.T, cfg *config.Config) { cfg.MasterKey = "short" }, "master key", doctor.Fail, "MAILHELM_MASTER_KEY"},
		"key of another database": {func(_ *testing.T, cfg *config.Config) { cfg.MasterKey = strings.Repeat("ab", 32) }, "signing keys", doctor.Fail, "master key"},
		"database damaged": {func(t *testing.T, cfg *config.Config) {
			write(t, cfg.DatabaseFile(), strings.Repeat("no database", 100))
		}, "database", doctor.Fail, ""},
		"database unreachable":         {func(_ *testing.T, cfg *config.Config) { cfg.DatabaseURL = "postgres://u:secret@127.0.0.1:1/x" }, "database", doctor.Fail, "--database-url"},
		"database URL of another kind": {func(_ *testing.T, cfg *config.Config) { cfg.DatabaseURL = "mysql://u:secret@db/x" }, "database", doctor.Fail, "postgres://"},
		"migrations missing":           {func(t *testing.T, cfg *config.Config) { empty(t, cfg) }, "database", doctor.Warn, "mailhelm migrate up"},
		"migrations missing and not to be made": {func(t *testing.T, cfg *config.Config) {
			empty(t, cfg)
			cfg.NoMigrate = true
		}, "database", doctor.Fail, "--no-migrate"},
		"account damaged":    {func(t *testing.T, cfg *config.Config) { write(t, cfg.AccountFile(), strings.Repeat("x", 4096)) }, "sending account", doctor.Fail, "damaged"},
		"clock long behind":  {func(_ *testing.T, cfg *config.Config) { cfg.Clock = at(time.Unix(0, 0)) }, "clock", doctor.Fail, "1970"},
		"clock behind a bit": {func(_ *testing.T, cfg *config.Config) { cfg.Clock = at(core.SystemClock().Add(-time.Hour)) }, "clock", doctor.Fail, "before"},
		"port taken":         {func(t *testing.T, cfg *config.Config) { cfg.Listen.MCP = occupiedAddress(t) }, "ports", doctor.Fail, "--mcp-addr"},
		"no address of ours": {func(_ *testing.T, cfg *config.Config) { cfg.Listen.API = "203.0.113.1:80" }, "ports", doctor.Fail, "--api-addr"},
		"plain http":         {func(_ *testing.T, cfg *config.Config) { cfg.Public.Auth = "http://auth.example.com" }, "public addresses", doctor.Fail, "https"},
		"path in an address": {func(_ *testing.T, cfg *config.Config) { cfg.Public.API = "https://api.example.com/v1" }, "settings", doctor.Fail, "--base-url"},
		"one resource for both": {func(_ *testing.T, cfg *config.Config) {
			cfg.Public.API, cfg.Public.MCP = "https://x.example.com", "https://x.example.com"
		}, "settings", doctor.Fail, "--mcp-url"},
		"fetch host shared": {func(_ *testing.T, cfg *config.Config) {
			cfg.Public.Fetch, cfg.Public.App = "https://x.example.com", "https://x.example.com"
		}, "public addresses", doctor.Fail, "unknown senders"},
		"local port elsewhere":        {func(_ *testing.T, cfg *config.Config) { cfg.Public.API = "http://localhost:1234" }, "public addresses", doctor.Warn, "1234"},
		"redis unreachable":           {func(_ *testing.T, cfg *config.Config) { cfg.RedisURL = "redis://:secret@127.0.0.1:1" }, "redis", doctor.Warn, "--redis-url"},
		"redis of another kind":       {func(_ *testing.T, cfg *config.Config) { cfg.RedisURL = "http://:secret@redis" }, "redis", doctor.Fail, "rediss://"},
		"mail server unreachable":     {mailServer("smtp://u:secret@127.0.0.1:1"), "mail to people", doctor.Warn, "--system-smtp"},
		"mail server of another kind": {mailServer("http://u:secret@mail.example.com"), "settings", doctor.Fail, "smtps://"},
		"rspamd unreachable":          {func(_ *testing.T, cfg *config.Config) { cfg.RspamdURL = "http://127.0.0.1:1" }, "rspamd", doctor.Warn, "--rspamd-url"},
		"clamd unreachable":           {func(t *testing.T, cfg *config.Config) { cfg.Clamd = "unix:" + t.TempDir() + "/none" }, "clamd", doctor.Warn, "--clamd"},
		"role without database":       {func(_ *testing.T, cfg *config.Config) { cfg.Role = config.Worker }, "settings", doctor.Fail, "--database-url"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS == "windows" {
				return
			}
			cfg := used(t)
			tc.damage(t, &cfg)
			r := doctor.Examine(t.Context(), cfg, "")
			found := false
			for _, c := range r.Checks {
				found = found || c.Name == tc.check && c.Status == tc.status && strings.Contains(c.Detail+c.Next, tc.says)
			}
			if !found || r.Status == doctor.OK {
				t.Errorf("want %s of %q with %q in%s", tc.status, tc.check, tc.says, text(r))
			}
			if strings.Contains(text(r), "secret@") || strings.Contains(text(r), ":secret") {
				t.Errorf("a password is shown:%s", text(r))
			}
		})
	}
}

// mailServer returns a function that configures address as the operator's SMTP server.
func mailServer(address string) func(*testing.T, *config.Config) {
	return func(_ *testing.T, cfg *config.Config) {
		cfg.SystemSMTP, cfg.SystemFrom = address, "mailhelm@example.com"
	}
}

func TestRedisIsAsked(t *testing.T) {
	t.Parallel()
	cfg := newConfig(t)
	cfg.RedisURL = enginetest.Redis(t).URL
	if r := doctor.Examine(t.Context(), cfg, ""); r.Status != doctor.OK || !strings.Contains(text(r), "rate limits are shared") {
		t.Errorf("with a Redis:%s", text(r))
	}
	cfg.RedisURL = strings.Replace(cfg.RedisURL, "redis-password", "secret-password", 1)
	if r := doctor.Examine(t.Context(), cfg, ""); r.Status != doctor.Warn || strings.Contains(text(r), "secret-password") {
		t.Errorf("with another password:%s", text(r))
	}
}

func TestScannersAreAsked(t *testing.T) {
	t.Parallel()
	cfg := newConfig(t)
	cfg.RspamdURL, cfg.Clamd = scanningtest.StartRspamd(t).URL.String(), scanningtest.StartClamd(t).TCP
	if r := doctor.Examine(t.Context(), cfg, ""); r.Status != doctor.OK || strings.Count(text(r), "received messages are scanned") != 2 {
		t.Errorf("with both scanners:%s", text(r))
	}
}

// TestMailServerIsAsked checks that doctor signs in to the operator's SMTP server. It must
// warn if the password is wrong or if the server does not support the configured TLS.
func TestMailServerIsAsked(t *testing.T) {
	t.Parallel()
	cfg := newConfig(t)
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return mailSession{}, nil }))
	server.AllowInsecureAuth, server.ErrorLog = true, slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close(); _ = l.Close(); <-done })
	cfg.SystemSMTP, cfg.SystemFrom = "smtp://mailhelm:secret@"+l.Addr().String(), "Mailhelm <mailhelm@example.com>"
	if r := doctor.Examine(t.Context(), cfg, ""); r.Status != doctor.OK || !strings.Contains(text(r), "accepts mail from Mailhelm") {
		t.Errorf("with its user:%s", text(r))
	}
	for what, address := range map[string]string{
		"another password": "smtp://mailhelm:secrets@" + l.Addr().String(), "TLS that it does not speak": "smtps://mailhelm:secret@" + l.Addr().String(),
	} {
		cfg.SystemSMTP = address
		if r := doctor.Examine(t.Context(), cfg, ""); r.Status != doctor.Warn || strings.Contains(text(r), "secret") {
			t.Errorf("%s:%s", what, text(r))
		}
	}
}

// mailSession is an SMTP session that accepts one user and password. It accepts no mail.
type mailSession struct{ smtp.Session }

func (mailSession) AuthMechanisms() []string { return []string{sasl.Plain} }

func (mailSession) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != "mailhelm" || password != "secret" {
			return smtp.ErrAuthFailed
		}
		return nil
	}), nil
}

func (mailSession) Logout() error { return nil }

// closing is the start of the command that takes the access to a file of this user from others.
// The group may read the files of root.
var closing = map[bool]string{false: "chmod 600 ", true: "chmod 640 "}[os.Geteuid() == 0]

func TestConfigurationFileWithSecretsOpenToOthers(t *testing.T) {
	t.Parallel()
	cfg := newConfig(t)
	file := filepath.Join(t.TempDir(), "mailhelm.toml")
	write(t, file, "")
	chmod(t, file, 0o644)
	if r := doctor.Examine(t.Context(), cfg, file); r.Status != doctor.OK {
		t.Errorf("without secrets:%s", text(r))
	}
	cfg.MasterKey = strings.Repeat("ab", 32)
	if r := doctor.Examine(t.Context(), cfg, file); r.Status != doctor.Warn || !strings.Contains(text(r), closing+file) {
		t.Errorf("with a secret:%s", text(r))
	}
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// empty replaces the SQLite database by an empty file, which is a database without tables.
func empty(t *testing.T, cfg *config.Config) {
	t.Helper()
	for _, suffix := range []string{"-wal", "-shm"} {
		os.Remove(cfg.DatabaseFile() + suffix) //nolint:errcheck // may not be there
	}
	write(t, cfg.DatabaseFile(), "")
}

func at(now time.Time) core.Clock { return func() time.Time { return now } }

// occupiedAddress returns an address on which another listener is open until the test ends.
func occupiedAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() }) //nolint:errcheck // the test is over
	return l.Addr().String()
}
