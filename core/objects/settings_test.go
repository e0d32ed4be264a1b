package objects_test

import (
	"bytes"
	"context"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/objects/files"
	"github.com/mailhelm/mailhelm/core/objects/objectstest"
	"github.com/mailhelm/mailhelm/core/objects/s3"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// installation has the settings and stores of organizations on a database.
type installation struct {
	objects.Settings
	locator *objects.Locator
	org     string

	mu      sync.Mutex
	audited []map[string]any
}

func install(t *testing.T, db *storage.DB) *installation {
	t.Helper()
	master, err := signing.NewMasterKey(bytes.Repeat([]byte{1}, 32))
	if err != nil {
		t.Fatal(err)
	}
	org := core.Org{ID: core.NewID(), Name: "Org", Slug: "org", Tier: "team", RetentionDays: 90}
	if err := db.Orgs().InsertOrg(t.Context(), org); err != nil {
		t.Fatal(err)
	}
	kept, err := files.New(files.Config{Folder: filepath.Join(t.TempDir(), "objects"), Key: make([]byte, files.KeyBytes), FetchURL: "https://fetch.test", Clock: core.SystemClock})
	if err != nil {
		t.Fatal(err)
	}
	opener := s3.New(s3.Config{Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Clock: core.SystemClock})
	t.Cleanup(opener.Close)
	i := &installation{org: org.ID}
	i.locator = objects.NewLocator(objects.LocatorConfig{Buckets: db.MailBuckets(master), Opener: opener, Files: kept.Of, Clock: core.SystemClock})
	i.Settings = objects.NewSettings(objects.SettingsConfig{
		Buckets: db.MailBuckets(master), Opener: opener, Files: func(orgID string) (objects.Store, error) { return kept.Of(orgID), nil }, Transactor: db, Networks: true, Clock: core.SystemClock, Forget: i.locator.Forget,
		Record: func(_ context.Context, orgID, action string, detail map[string]any) error {
			i.mu.Lock()
			defer i.mu.Unlock()
			if orgID != org.ID || action != "org.mail_storage_updated" {
				t.Errorf("recorded %s of %s", action, orgID)
			}
			i.audited = append(i.audited, detail)
			return nil
		},
	})
	return i
}

func bucketAt(url string) objects.Bucket {
	return objects.Bucket{
		Endpoint: url, Region: enginetest.S3Region, Name: enginetest.S3Bucket, PathStyle: true,
		AccessKeyID: enginetest.S3AccessKeyID, Secret: enginetest.S3Secret,
	}
}

// TestSettings changes the place of an organization's mail from files to a bucket, to another
// prefix, and back. Old objects are found by the id of their store.
func TestSettings(t *testing.T) {
	t.Parallel()
	server := enginetest.S3(t)
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		i := install(t, db)
		b := bucketAt(server.URL)
		b.Prefix = i.org // each database has its own objects
		keys := map[string]string{}
		store := func(name string) string {
			t.Helper()
			s, err := i.locator.Of(t.Context(), i.org)
			if err != nil {
				t.Fatal(err)
			}
			key := objects.RawKey(i.org, name)
			objectstest.Put(t, s, key, name)
			keys[name] = s.ID()
			return s.ID()
		}
		if id := store("first"); id != objects.FilesID {
			t.Errorf("the first store is %s", id)
		}
		first, err := i.UseBucket(t.Context(), i.org, b)
		if err != nil {
			t.Fatal(err)
		}
		if id := store("second"); id != first.ID || first.Prefix != i.org+"/" {
			t.Errorf("stored in %s, want %+v", id, first)
		}
		left, err := os.ReadDir(filepath.Join(server.Dir, i.org, i.org))
		if err != nil || len(left) != 1 {
			t.Errorf("beside the message, the bucket has test objects: %v, %v", left, err)
		}
		other := b
		other.Prefix, other.Secret = i.org+"/other/", "" // keeps the secret
		second, err := i.UseBucket(t.Context(), i.org, other)
		if err != nil || second.ID == first.ID || store("third") != second.ID {
			t.Fatalf("another prefix: %v, %+v", err, second)
		}
		if again, err := i.UseBucket(t.Context(), i.org, b); err != nil || again.ID != first.ID {
			t.Errorf("the first place again: %v, id %s, want %s", err, again.ID, first.ID)
		}
		for range 2 {
			if err := i.UseFiles(t.Context(), i.org); err != nil {
				t.Fatal(err)
			}
		}
		if id := store("fourth"); id != objects.FilesID {
			t.Errorf("after UseFiles, the store is %s", id)
		}
		checkKept(t, i, keys)
		checkOtherOrg(t, i, first.ID)
		if len(i.audited) != 4 || strings.Contains(strings.ToLower(cmp.Diff(nil, i.audited)), enginetest.S3Secret) {
			t.Errorf("audit log: %v", i.audited)
		}
		want := map[string]any{
			"kind": "s3", "store_id": second.ID, "endpoint": server.URL, "region": b.Region, "bucket": b.Name, "prefix": other.Prefix,
			"access_key_id": b.AccessKeyID, "encryption": "", "secret_changed": true,
		}
		if diff := cmp.Diff(want, i.audited[1]); diff != "" {
			t.Error(diff)
		}
	})
}

// checkKept checks that objects are found by the ids of their stores. keys has the id by the
// name of the message, which is the content too.
func checkKept(t *testing.T, i *installation, keys map[string]string) {
	t.Helper()
	for name, id := range keys {
		s, err := i.locator.At(t.Context(), i.org, id)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := objectstest.Content(t, s, objects.RawKey(i.org, name)); got != name {
			t.Errorf("%s in %s has the content %q", name, id, got)
		}
	}
}

// checkOtherOrg checks that another organization does not find the bucket, and that its store
// refuses the keys of the organization.
func checkOtherOrg(t *testing.T, i *installation, bucketID string) {
	t.Helper()
	if _, err := i.locator.At(t.Context(), core.NewID(), bucketID); !core.IsNotFound(err) {
		t.Errorf("another organization: %v", err)
	}
	s, err := i.locator.Of(t.Context(), core.NewID())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open(t.Context(), objects.RawKey(i.org, "first")); err == nil || core.IsNotFound(err) {
		t.Errorf("the key of another organization: %v", err)
	}
}

// TestNewSecret gives a bucket in use another secret. Its id stays, so that old objects are
// read with the new secret.
func TestNewSecret(t *testing.T) {
	t.Parallel()
	server := enginetest.S3(t)
	i := install(t, storagetest.SQLite(t))
	first, err := i.UseBucket(t.Context(), i.org, bucketAt(server.URL))
	if err != nil {
		t.Fatal(err)
	}
	wrong := first
	wrong.Secret = "old"
	if err := i.Buckets.SaveBucket(t.Context(), i.org, wrong); err != nil {
		t.Fatal(err)
	}
	found, err := i.Test(t.Context(), i.org)
	if failed, ok := objects.Failed(found); err != nil || !ok || failed.Step != objects.StepWrite || !strings.Contains(failed.Detail, "SignatureDoesNotMatch") {
		t.Errorf("%+v, %v", found, err)
	}
	second, err := i.UseBucket(t.Context(), i.org, bucketAt(server.URL))
	if err != nil || second.ID != first.ID {
		t.Fatalf("%v, id %s, want %s", err, second.ID, first.ID)
	}
	found, err = i.Test(t.Context(), i.org)
	want := []objects.Finding{{Step: "write", OK: true}, {Step: "read", OK: true}, {Step: "link", OK: true}, {Step: "delete", OK: true}, {Step: "absent", OK: true}}
	if diff := cmp.Diff(want, found); diff != "" || err != nil {
		t.Error(err, diff)
	}
}

// TestRefusedBuckets checks that a bucket that fails the test is not stored, and that the
// error names the step and the setting.
func TestRefusedBuckets(t *testing.T) {
	t.Parallel()
	server := enginetest.S3(t)
	i := install(t, storagetest.SQLite(t))
	for name, tc := range map[string]struct {
		change func(*objects.Bucket)
		text   string
	}{
		"no secret":    {func(b *objects.Bucket) { b.Secret = "" }, "`secret` is missing."},
		"wrong secret": {func(b *objects.Bucket) { b.Secret = "x" }, "could not write a test object: the server does not accept the access key (SignatureDoesNotMatch)."},
		"no bucket":    {func(b *objects.Bucket) { b.Name = "no-such-bucket" }, "could not write a test object: there is no such bucket (NoSuchBucket)."},
		"region":       {func(b *objects.Bucket) { b.Region = "us-west-2" }, "could not write a test object: the bucket is in another region"},
		"closed port":  {func(b *objects.Bucket) { b.Endpoint = "http://127.0.0.1:1" }, "could not write a test object: there was no connection to the server."},
	} {
		b := bucketAt(server.URL)
		tc.change(&b)
		_, err := i.UseBucket(t.Context(), i.org, b)
		e := core.AsError(err)
		if err == nil || e.Code != core.CodeValidationFailed || e.Next == "" && len(e.Fields) == 0 || !strings.Contains(e.Message, tc.text) {
			t.Errorf("%s: %+v", name, e)
		}
	}
	if _, known, err := i.Of(t.Context(), i.org); known || err != nil || len(i.audited) > 0 {
		t.Errorf("a refused bucket is stored: %t, %v, %v", known, err, i.audited)
	}
	found, err := i.Test(t.Context(), i.org)
	want := []objects.Finding{{Step: "write", OK: true}, {Step: "read", OK: true}, {Step: "delete", OK: true}, {Step: "absent", OK: true}}
	if diff := cmp.Diff(want, found); diff != "" || err != nil {
		t.Error(err, diff)
	}
}

// fickle is a store that fails one step.
type fickle struct {
	objects.Store
	fail    objects.Step
	deleted []string
}

func (f *fickle) Delete(ctx context.Context, keys ...string) error {
	f.deleted = append(f.deleted, keys...)
	if f.fail == objects.StepDelete {
		return &objects.Failure{Cause: objects.Denied, Code: "AccessDenied", Err: errors.New("x")}
	}
	if f.fail == objects.StepAbsent {
		return nil // but deletes nothing
	}
	return f.Store.Delete(ctx, keys...)
}

// TestProveSteps lets single steps fail. The test object is deleted whatever happens.
func TestProveSteps(t *testing.T) {
	t.Parallel()
	kept, err := files.New(files.Config{Folder: filepath.Join(t.TempDir(), "objects"), Key: make([]byte, files.KeyBytes), Clock: core.SystemClock})
	if err != nil {
		t.Fatal(err)
	}
	for step, tc := range map[objects.Step]struct {
		steps  int
		detail string
	}{
		objects.StepLink:   {3, "could not download the test object by a link: the content of the test object differs from what was written."},
		objects.StepDelete: {4, "could not delete the test object: the access key has no permission for this (AccessDenied)."},
		objects.StepAbsent: {5, "could not find out that the deleted test object is missing: the deleted object can still be read."},
	} {
		s := &fickle{Store: kept.Of(org), fail: step}
		answer := "This object tests the storage of received mail. It can be deleted.\n"
		if step == objects.StepLink {
			answer = "<html>sign in</html>"
		}
		found := objects.Prove(t.Context(), s, org, time.Now(), func(context.Context, string, int) ([]byte, error) { return []byte(answer), nil })
		failed, ok := objects.Failed(found)
		if len(found) != tc.steps || !ok || failed.Step != step || !strings.HasSuffix(failed.Detail, tc.detail) || failed.Next == "" || len(s.deleted) == 0 {
			t.Errorf("%s: %+v, deleted %v", step, found, s.deleted)
		}
	}
}

func TestCheckedBuckets(t *testing.T) {
	t.Parallel()
	good := objects.Bucket{
		Endpoint: " https://S3.Example.com/ ", Region: "us-east-1", Name: "my-mail", Prefix: "/mail/in", AccessKeyID: "key-1", Secret: " s ",
	}
	got, err := good.Checked(false)
	want := objects.Bucket{Endpoint: "https://s3.example.com", Region: "us-east-1", Name: "my-mail", Prefix: "mail/in/", AccessKeyID: "key-1", Secret: "s"}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
		t.Fatal(err, diff)
	}
	if again, err := got.Checked(false); again != got || err != nil {
		t.Errorf("checked twice: %+v %v", again, err)
	}
	for field, bad := range map[string][]func(*objects.Bucket){
		"endpoint": {
			func(b *objects.Bucket) { b.Endpoint = "http://s3.example.com" }, func(b *objects.Bucket) { b.Endpoint = "https://s3.example.com:9000" },
			func(b *objects.Bucket) { b.Endpoint = "https://127.0.0.1" }, func(b *objects.Bucket) { b.Endpoint = "https://[::1]" }, func(b *objects.Bucket) { b.Endpoint = "https://minio" },
			func(b *objects.Bucket) { b.Endpoint = "https://s3.internal" }, func(b *objects.Bucket) { b.Endpoint = "s3.example.com" },
			func(b *objects.Bucket) { b.Endpoint = "https://s3.example.com/path" }, func(b *objects.Bucket) { b.Endpoint = "https://u:p@s3.example.com" },
			func(b *objects.Bucket) { b.Endpoint = "https://s3.example.com?x" }, func(b *objects.Bucket) { b.Endpoint = "ftp://s3.example.com" },
		},
		"region": {func(b *objects.Bucket) { b.Region = "" }, func(b *objects.Bucket) { b.Endpoint, b.Region = "", "auto" }, func(b *objects.Bucket) { b.Region = "a.b" }},
		"bucket": {
			func(b *objects.Bucket) { b.Name = "" }, func(b *objects.Bucket) { b.Name = "My-Mail" }, func(b *objects.Bucket) { b.Name = "a..b" }, func(b *objects.Bucket) { b.Name = "10.0.0.1" },
			func(b *objects.Bucket) { b.Name = "arn:aws:s3:::x" }, func(b *objects.Bucket) { b.Name = "a/b" },
		},
		"prefix":        {func(b *objects.Bucket) { b.Prefix = "../x" }, func(b *objects.Bucket) { b.Prefix = "a//b" }, func(b *objects.Bucket) { b.Prefix = strings.Repeat("x", 200) }, func(b *objects.Bucket) { b.Prefix = "a b" }},
		"access_key_id": {func(b *objects.Bucket) { b.AccessKeyID = "" }, func(b *objects.Bucket) { b.AccessKeyID = "a/b" }},
		"secret":        {func(b *objects.Bucket) { b.Secret = "" }, func(b *objects.Bucket) { b.Secret = "a\nb" }},
		"encryption":    {func(b *objects.Bucket) { b.Encryption = "rot13" }},
		"kms_key_id":    {func(b *objects.Bucket) { b.KMSKeyID = "key" }},
	} {
		for n, change := range bad {
			b := good
			change(&b)
			_, err := b.Checked(false)
			if e := core.AsError(err); err == nil || e.Code != core.CodeValidationFailed || e.Fields[0].Field != field {
				t.Errorf("%s %d: %v", field, n, err)
			}
		}
	}
	for _, endpoint := range []string{"http://127.0.0.1:9000", "https://minio:9000", "http://[::1]:9000"} {
		b := good
		b.Endpoint = endpoint
		if _, err := b.Checked(true); err != nil {
			t.Errorf("%s in an allowed network: %v", endpoint, err)
		}
	}
}
