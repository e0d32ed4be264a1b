package dmarcreports_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth/arrivals"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// TestImportFromABucket imports what another program put into the bucket of an organization, twice.
func TestImportFromABucket(t *testing.T) {
	t.Parallel()
	folder, org := installationWith(t)
	server := enginetest.S3(t)
	for name, content := range map[string]string{"dmarc/1.xml": recent("1"), "dmarc/2.xml": recent("2"), "dmarc/letter.txt": "Dear baker", "else/3.xml": recent("3")} {
		path := filepath.Join(server.Dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	db, err := storage.Open(t.Context(), storage.Config{Dir: folder})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	master, err := config.Config{DataDir: folder, Clock: core.SystemClock}.OpenMasterKey()
	if err != nil {
		t.Fatal(err)
	}
	err = db.MailBuckets(master).SaveBucket(t.Context(), org.ID, objects.StoredBucket{ID: core.NewID(), InUse: true, CreatedAt: time.Now(), UpdatedAt: time.Now(), Bucket: objects.Bucket{
		Endpoint: server.URL, Region: enginetest.S3Region, Name: enginetest.S3Bucket, PathStyle: true, AccessKeyID: enginetest.S3AccessKeyID, Secret: enginetest.S3Secret,
	}})
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"import", "--data", folder, "--bucket", enginetest.S3Bucket, "--bucket-networks", "127.0.0.0/8", "dmarc/"}
	first := dmarcCommand(t, append(args, "--json")...)
	var printed map[string]any
	if err := json.Unmarshal([]byte(first.stdout), &printed); err != nil || first.status != 1 {
		t.Fatalf("%+v, %v", first, err)
	}
	failures, _ := printed["failures"].([]any)
	if printed["objects"] != 3.0 || printed["reports"] != 2.0 || len(failures) != 1 || !strings.Contains(first.stdout, "dmarc/letter.txt") {
		t.Errorf("%s", first.stdout)
	}
	again := dmarcCommand(t, args...)
	if again.status != 0 || !strings.Contains(again.stdout, "objects read now") || strings.Contains(again.stdout, "letter") {
		t.Errorf("again: %+v", again)
	}
	files, err := db.ReportArrivals().Files(t.Context(), org.ID, arrivals.FileFilter{}, nil, 10)
	if err != nil || len(files) != 3 {
		t.Errorf("%d entries, %v", len(files), err)
	}
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"another bucket":       {[]string{"--bucket", "other-bucket", "--bucket-networks", "127.0.0.0/8"}, `the mail storage of bakery has no bucket "other-bucket"`},
		"no network":           {[]string{"--bucket", enginetest.S3Bucket}, enginetest.S3Bucket + ": "},
		"neither of both":      {nil, "name files or folders with reports, or a bucket with --bucket"},
		"unknown organization": {[]string{"--bucket", "x", "--org", "missing"}, `there is no organization "missing"`},
	} {
		got := dmarcCommand(t, append([]string{"import", "--data", folder}, tc.args...)...)
		if got.status == 0 || !strings.Contains(got.stderr, tc.want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
