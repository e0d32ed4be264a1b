package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// TestAdminMailStorage stores received mail of an organization in a bucket on a real S3
// server, tests it, and returns to files. The secret is never printed.
func TestAdminMailStorage(t *testing.T) {
	t.Parallel()
	server, s := enginetest.S3(t), withMasterKey(t)
	command := func(name string, more ...string) []string {
		return append([]string{"org", "mail-storage", name, "acme", "--bucket-networks", "127.0.0.0/8"}, more...)
	}
	set := func(more ...string) []string {
		return append(command("set", "--bucket", enginetest.S3Bucket, "--region", enginetest.S3Region, "--endpoint", server.URL, "--path-style",
			"--access-key-id", enginetest.S3AccessKeyID), more...)
	}
	if got := s.does(command("show")...); got["kind"] != "files" {
		t.Errorf("at first: %v", got)
	}
	s.refuses("start the server once", command("test")...)
	if err := os.Mkdir(filepath.Join(s.database.Dir, "objects"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := s.does(command("test")...); got["ok"] != true || len(got["findings"].([]any)) != 4 {
		t.Errorf("test of files: %v", got)
	}

	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(enginetest.S3Secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.refuses("--bucket", command("set")...)
	s.refuses("--secret", set()...)
	s.refuses("--region", set("--secret-file", secret, "--region", "")...)
	s.refuses("127.0.0.0/8.1", "org", "mail-storage", "show", "acme", "--bucket-networks", "127.0.0.0/8.1")
	if _, stderr, err := s.try("wrong\n", set("--secret-stdin")...); err == nil || !strings.Contains(stderr, "does not accept the access key (SignatureDoesNotMatch)") {
		t.Errorf("a wrong secret: %v %s", err, stderr)
	}
	if _, stderr, err := s.try("", "org", "mail-storage", "set", "acme", "--bucket", enginetest.S3Bucket, "--region", enginetest.S3Region, "--endpoint", server.URL,
		"--access-key-id", "key-1", "--secret-file", secret); err == nil || !strings.Contains(stderr, "--endpoint") {
		t.Errorf("a private address without the setting: %v %s", err, stderr)
	}
	shown := s.mustRun(set("--secret-file", secret)...)
	stored := s.does(command("show")...)
	id := stored["store_id"]
	want := map[string]any{
		"org_id": stored["org_id"], "kind": "s3", "store_id": id, "bucket": enginetest.S3Bucket, "region": enginetest.S3Region,
		"endpoint": server.URL, "path_style": true, "access_key_id": enginetest.S3AccessKeyID,
	}
	if diff := cmp.Diff(want, stored); diff != "" {
		t.Error(diff)
	}
	if again := s.does(set()...); again["store_id"] != id { // keeps the secret
		t.Errorf("set again: %v", again)
	}
	if got := s.does(command("test")...); got["ok"] != true || len(got["findings"].([]any)) != 5 {
		t.Errorf("test of the bucket: %v", got)
	}
	server.Stop()
	stdout, _, err := s.try("", command("test", "--json")...)
	var failed struct {
		OK       bool
		Findings []struct{ Step, Detail, Next string }
	}
	if json.Unmarshal([]byte(stdout), &failed) != nil || err == nil || failed.OK || failed.Findings[0].Step != "write" || !strings.Contains(failed.Findings[0].Detail, "no connection") || failed.Findings[0].Next == "" {
		t.Errorf("test of a stopped server: %v %s", err, stdout)
	}
	if got := s.does(command("set", "--files")...); got["kind"] != "files" || got["bucket"] != nil {
		t.Errorf("files again: %v", got)
	}
	shown += stdout + s.mustRun("audit", "list", "acme", "--json")
	if strings.Contains(shown, enginetest.S3Secret) || strings.Count(shown, "org.mail_storage_updated") != 3 {
		t.Errorf("printed:\n%s", shown)
	}
}
