package main

import (
	"bytes"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

// seedAccount creates a simulated sending account with one verified domain for the
// organization.
func seedAccount(t *testing.T, s shell, orgID string) {
	t.Helper()
	account, err := simulator.Open(config.Config{DataDir: s.database.Dir}.AccountFile(), simulator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = account.Close() }() // another process opens it next
	if err := account.Seed(t.Context(), orgID, simulator.Setup{
		Identities: []sending.Identity{{Identity: "example.com", Verification: sending.Success}},
	}); err != nil {
		t.Fatal(err)
	}
}

// withMasterKey returns a shell for an installation that has a master key and the
// organization acme.
func withMasterKey(t *testing.T) shell {
	t.Helper()
	s := migrated(t)
	if _, err := (config.Config{DataDir: s.database.Dir}).OpenMasterKey(); err != nil {
		t.Fatal(err)
	}
	s.mustRun("org", "create", "acme")
	return s
}

const accessKey = "AKIDEXAMPLE000000"

func TestAdminAccount(t *testing.T) {
	t.Parallel()
	s := withMasterKey(t)
	s.refuses("no sending account is connected", "account", "show", "acme")
	s.refuses("No sending account", "account", "disconnect", "acme")
	s.refuses("No sending account", "account", "template-version", "acme", "13")

	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("s3cret-of-acme\nsecond line\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	made := s.does("account", "connect", "acme", "--provider", "ses", "--region", "eu-central-1", "--access-key-id", accessKey,
		"--secret-file", file, "--topic-arn", "arn:aws:sns:eu-central-1:111122223333:mail", "--new-ingest-key")
	key, _ := made["ingest_key"].(string)
	address, _ := made["ingest_address"].(string)
	if len(key) != 52 || len(address) != len("/ingest/ses/")+32 || made["has_secret"] != true || made["external_id"] == "" {
		t.Errorf("connected %v", made)
	}
	wantNowhereOnDisk(t, s, "s3cret-of-acme", key)
	s.mustRun("account", "template-version", "acme", "12")

	// A second connect keeps the ingest address, the external id, the ingest key and the
	// secret. It replaces the other values: without --topic-arn, the SNS topic is removed.
	again := s.does("account", "connect", "acme", "--provider", "ses", "--region", "eu-west-1", "--access-key-id", accessKey)
	for _, member := range []string{"ingest_address", "external_id", "has_ingest_key", "has_secret", "created_at"} {
		if again[member] != made[member] {
			t.Errorf("%s was %v and is %v", member, made[member], again[member])
		}
	}
	if again["template_version"] != float64(12) || again["topic_arn"] != "" {
		t.Errorf("connected again: %v", again)
	}
	shown := s.mustRun("account", "show", "acme") + s.mustRun("account", "show", "acme", "--json") + s.mustRun("audit", "list", "acme", "--json")
	for _, hidden := range []string{"s3cret", key} {
		if strings.Contains(shown, hidden) {
			t.Errorf("%s is shown:\n%s", hidden, shown)
		}
	}
	if !strings.Contains(shown, "account.connected") || !strings.Contains(shown, `{base_url}`+address) {
		t.Errorf("shown:\n%s", shown)
	}

	// Connecting to another endpoint requires the secret again. Otherwise the stored secret
	// could be sent to a server that must not know it.
	s.refuses("--secret-stdin or --secret-file is missing", "account", "connect", "acme", "--provider", "ses", "--region", "eu-west-1",
		"--access-key-id", accessKey, "--endpoint", "https://elsewhere.example")
	s.mustRun("account", "disconnect", "acme")
	s.refuses("no sending account is connected", "account", "show", "acme")
}

// TestAdminAccountOfAServer checks the output for an account on an SMTP server. It must
// leave out fields that exist only for Amazon SES, such as the region.
func TestAdminAccountOfAServer(t *testing.T) {
	t.Parallel()
	s := withMasterKey(t)
	got := s.mustRun("account", "connect", "acme", "--provider", "smtp", "--endpoint", "smtp.example.com:587", "--max-24-hour", "2000",
		"--identity", "example.com", "--identity", "me@example.org")
	const want = "provider           smtp\nendpoint           smtp.example.com:587\nidentities         example.com, me@example.org\nlimit in 24 hours  at most 2000 recipients\n"
	if got != want {
		t.Errorf("shown:\n%swant:\n%s", got, want)
	}
}

// wantNowhereOnDisk fails the test if any file in the data folder contains one of the
// secrets. The search includes the journal files of the databases.
func wantNowhereOnDisk(t *testing.T, s shell, secrets ...string) {
	t.Helper()
	found := false
	err := filepath.WalkDir(s.database.Dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		for _, secret := range secrets {
			if secret == "" || bytes.Contains(content, []byte(secret)) {
				t.Errorf("%s holds %q", entry.Name(), secret)
			}
		}
		found = found || bytes.Contains(content, []byte(accessKey))
		return err
	})
	// accessKey is stored in clear text; finding it proves that the search reads the stored
	// connection
	if err != nil || !found {
		t.Errorf("the connection was not read: %v", err)
	}
}

func TestAdminAccountRefusesWhatReachesNothing(t *testing.T) {
	t.Parallel()
	s := withMasterKey(t)
	connect := func(more ...string) []string { return append([]string{"account", "connect", "acme"}, more...) }
	for text, args := range map[string][]string{
		"mailhelm: --region must be an AWS region":   connect("--provider", "ses", "--role-arn", "arn:aws:iam::111122223333:role/x"),
		"--access-key-id is missing":                 connect("--provider", "ses", "--region", "eu-central-1"),
		"--access-key-id must be 16":                 connect("--provider", "ses", "--region", "eu-central-1", "--access-key-id", "short"),
		"--role-arn must be an ARN":                  connect("--provider", "ses", "--region", "eu-central-1", "--role-arn", "admin"),
		"--topic-arn must be an ARN":                 connect("--provider", "ses", "--region", "eu-central-1", "--access-key-id", accessKey, "--topic-arn", "mine"),
		"--endpoint must be an https":                connect("--provider", "ses", "--region", "eu-central-1", "--access-key-id", accessKey, "--endpoint", "http://example.com"),
		"--endpoint must be host:port":               connect("--provider", "smtp", "--endpoint", "smtp.example.com"),
		"--provider is smtp, which takes no":         connect("--provider", "smtp", "--endpoint", "smtp.example.com:587", "--region", "eu-central-1"),
		"simulator, which takes no":                  connect("--provider", "simulator", "--region", "eu-central-1"),
		"<version> is not a known version":           {"account", "template-version", "acme", "99"},
		"the secret is empty; write it":              connect("--provider", "ses", "--region", "eu-central-1", "--access-key-id", accessKey, "--secret-stdin"),
		"--account-id must be twelve":                connect("--provider", "ses", "--region", "eu-central-1", "--access-key-id", accessKey, "--account-id", "12"),
		"--secret-stdin or --secret-file is missing": connect("--provider", "ses", "--region", "eu-central-1", "--access-key-id", accessKey),
		`must be one of "ses","smtp"`:                connect("--provider", "pigeon"),
		"--identity must be domains":                 connect("--provider", "smtp", "--endpoint", "a.example:25", "--identity", "no domain"),
		"--max-24-hour must be from 0":               connect("--provider", "smtp", "--endpoint", "a.example:25", "--max-24-hour=-1"),
		"--max-rate must be from 0":                  connect("--provider", "smtp", "--endpoint", "a.example:25", "--max-rate=-1"),
		"no such file":                               connect("--provider", "smtp", "--endpoint", "a.example:25", "--secret-file", filepath.Join(t.TempDir(), "none")),
		"mailhelm admin org list":                    {"account", "show", "nobody"},
		"mailhelm admin account conne":               {"account", "verify", "acme"},
	} {
		s.refuses(text, args...)
	}
	other := migrated(t)
	other.mustRun("org", "create", "acme")
	other.refuses("no master key", "account", "show", "acme")
}

// TestAdminAccountVerify checks the output of `account verify` for a provider that refuses
// the credentials. The output must describe the failure without quoting the provider's
// message.
func TestAdminAccountVerify(t *testing.T) {
	t.Parallel()
	s := withMasterKey(t)
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Amzn-Errortype", "UnrecognizedClientException")
		http.Error(w, `{"message":"PROVIDER-TEXT"}`, http.StatusForbidden)
	}))
	defer refusing.Close()
	if _, stderr, err := s.try("secret\n", "account", "connect", "acme", "--provider", "ses", "--region", "eu-central-1",
		"--access-key-id", accessKey, "--secret-stdin", "--endpoint", refusing.URL); err != nil {
		t.Fatal(stderr)
	}
	stdout, stderr, err := s.try("", "account", "verify", "acme")
	if err == nil || stderr != "" || !strings.Contains(stdout, "refuses the credentials") || strings.Contains(stdout, "PROVIDER-TEXT") {
		t.Errorf("verify: %v\n%s%s", err, stdout, stderr)
	}
	if stdout, _, err := s.try("", "account", "verify", "acme", "--json"); err == nil || !strings.Contains(stdout, `"status": "fail"`) {
		t.Errorf("verify --json: %v\n%s", err, stdout)
	}
}
