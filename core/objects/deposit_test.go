package objects_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/objects/s3"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// leave puts a file into the bucket of a server, as another service would.
func leave(t *testing.T, server *enginetest.S3Server, name, content string) {
	t.Helper()
	path := filepath.Join(server.Dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// deposit returns the content of a deposit.
func deposit(t *testing.T, d objects.Deposits, org, bucket, name string) (string, error) {
	t.Helper()
	found, err := d.Open(t.Context(), org, bucket, name)
	if err != nil {
		return "", err
	}
	content, err := io.ReadAll(found.Body)
	if err != nil || found.Body.Close() != nil || found.Size != int64(len(content)) || found.Encrypted {
		t.Fatalf("%d bytes of %d, encrypted %t, %v", len(content), found.Size, found.Encrypted, err)
	}
	return string(content), nil
}

// TestDeposits reads what another service put into a bucket, while the bucket is in use and
// later, and with the key of the bucket in use. Other buckets, other organizations and stored
// mail are not found or refused.
func TestDeposits(t *testing.T) {
	t.Parallel()
	server := enginetest.S3(t)
	const name = "in/d6iitobk75ur44p8kdnnp7g2n800"
	leave(t, server, name, "From: a@example.com\r\n\r\nHello\r\n")
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		i := install(t, db)
		d := objects.Deposits{Buckets: i.Buckets, Opener: i.Opener.(*s3.Buckets)} //nolint:forcetypeassert // install makes it
		if _, err := deposit(t, d, i.org, enginetest.S3Bucket, name); !core.IsNotFound(err) {
			t.Errorf("without a bucket: %v", err)
		}
		b := bucketAt(server.URL)
		b.Prefix = i.org
		first, err := i.UseBucket(t.Context(), i.org, b)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := deposit(t, d, i.org, enginetest.S3Bucket, name); err != nil || !strings.HasSuffix(got, "Hello\r\n") {
			t.Errorf("in use: %q, %v", got, err)
		}
		for what, call := range map[string][3]string{
			"another bucket":       {i.org, "other-mail", name},
			"another organization": {core.NewID(), enginetest.S3Bucket, name},
			"no object":            {i.org, enginetest.S3Bucket, name + "1"},
		} {
			if _, err := deposit(t, d, call[0], call[1], call[2]); !core.IsNotFound(err) {
				t.Errorf("%s: %v", what, err)
			}
		}
		// The secret of the first description no longer works; that of the bucket in use does.
		first.Secret = "revoked"
		if err := i.Buckets.SaveBucket(t.Context(), i.org, first); err != nil {
			t.Fatal(err)
		}
		b.Prefix += "/new"
		if _, err := i.UseBucket(t.Context(), i.org, b); err != nil {
			t.Fatal(err)
		}
		if _, err := deposit(t, d, i.org, enginetest.S3Bucket, name); err != nil {
			t.Errorf("with two descriptions of the bucket: %v", err)
		}
		if err := i.UseFiles(t.Context(), i.org); err != nil {
			t.Fatal(err)
		}
		if _, err := deposit(t, d, i.org, enginetest.S3Bucket, name); err != nil {
			t.Errorf("in a bucket that was used earlier: %v", err)
		}
	})
}

// TestStoredMailIsNoDeposit refuses the keys of received mail of all organizations, with any
// prefix, so that organizations that share a bucket cannot read each other's mail.
func TestStoredMailIsNoDeposit(t *testing.T) {
	t.Parallel()
	server := enginetest.S3(t)
	i := install(t, storagetest.SQLite(t))
	if _, err := i.UseBucket(t.Context(), i.org, bucketAt(server.URL)); err != nil {
		t.Fatal(err)
	}
	d := objects.Deposits{Buckets: i.Buckets, Opener: i.Opener.(*s3.Buckets)} //nolint:forcetypeassert // install makes it
	victim, message := core.NewID(), core.NewID()
	var names []string
	for _, key := range []string{objects.RawKey(victim, message), objects.TextKey(victim, message), objects.HTMLKey(victim, message+".1"), objects.AttachmentKey(victim, message, 12)} {
		names = append(names, key, "mail/"+key, "a/"+victim+"/"+key)
	}
	for _, name := range slices.Concat(names, []string{"", "in/../x", "./x", "in/..", strings.Repeat("a", 1025), "in/\xff"}) {
		if len(name) < 200 && !strings.Contains(name, "..") && name != "" && name != "./x" && name != "in/\xff" {
			leave(t, server, name, "secret")
		}
		if _, err := deposit(t, d, i.org, enginetest.S3Bucket, name); core.AsError(err).Code != core.CodeValidationFailed {
			t.Errorf("%.100q: %v", name, err)
		}
	}
	for _, name := range []string{victim + "/in/d6iitobk75ur44p8kdnnp7g2n800", victim + "/d6iitobk75ur44p8kdnnp7g2n800", "raw.eml"} {
		leave(t, server, name, "mine")
		if _, err := deposit(t, d, i.org, enginetest.S3Bucket, name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestDepositsAreListed lists what another service put into a bucket, page by page. Stored mail and
// objects of other organizations are left out.
func TestDepositsAreListed(t *testing.T) {
	t.Parallel()
	server := enginetest.S3(t)
	i := install(t, storagetest.SQLite(t))
	d := objects.Deposits{Buckets: i.Buckets, Opener: i.Opener.(*s3.Buckets)} //nolint:forcetypeassert // install makes it
	if _, _, err := d.List(t.Context(), i.org, enginetest.S3Bucket, "", "", 10); !core.IsNotFound(err) {
		t.Errorf("without a bucket: %v", err)
	}
	if _, err := i.UseBucket(t.Context(), i.org, bucketAt(server.URL)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"in/a", "in/b/c", "in/d", "other/e", objects.RawKey(i.org, core.NewID()), "in/" + objects.AttachmentKey(core.NewID(), core.NewID(), 0)} {
		leave(t, server, name, "content of "+name)
	}
	var names []string
	pages := 0
	for after := ""; ; pages++ {
		page, next, err := d.List(t.Context(), i.org, enginetest.S3Bucket, "in/", after, 2)
		if err != nil || pages > 3 {
			t.Fatalf("page %d: %v", pages, err)
		}
		for _, o := range page {
			names = append(names, o.Name)
			if o.Size != int64(len("content of "+o.Name)) {
				t.Errorf("%+v", o)
			}
		}
		if next == "" {
			break
		}
		after = next
	}
	slices.Sort(names)
	if want := []string{"in/a", "in/b/c", "in/d"}; !slices.Equal(names, want) || pages == 0 {
		t.Errorf("listed %q on %d pages, want %q", names, pages+1, want)
	}
	server.Stop()
	if _, _, err := d.List(t.Context(), i.org, enginetest.S3Bucket, "in/", "", 2); !errors.Is(err, objects.ErrUnavailable) {
		t.Errorf("without a server: %v", err)
	}
	server.Start(t)
}
