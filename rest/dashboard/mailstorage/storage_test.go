package mailstorage_test

import (
	"bytes"
	"flag"
	"net/http"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/objects/files"
	"github.com/mailhelm/mailhelm/core/objects/s3"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	"github.com/mailhelm/mailhelm/rest/dashboard/mailstorage"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var update = flag.Bool("update", false, "write the golden files again")

// office is an organization with settings of its mail storage on a database.
type office struct {
	*frametest.Office
	db       *storage.DB
	settings objects.Settings
	pages    http.Handler
}

func newOffice(t *testing.T) *office {
	t.Helper()
	db := storagetest.SQLite(t)
	o := &office{Office: frametest.NewOffice(t, frametest.DatabaseOf(db), frame.Area{Path: mailstorage.Path, Name: "Mail storage"}), db: db}
	master, err := signing.NewMasterKey(bytes.Repeat([]byte{1}, 32))
	o.Must(err)
	kept, err := files.New(files.Config{Folder: filepath.Join(t.TempDir(), "objects"), Key: make([]byte, files.KeyBytes), Clock: core.SystemClock})
	o.Must(err)
	opener := s3.New(s3.Config{Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Clock: core.SystemClock})
	t.Cleanup(opener.Close)
	o.settings = objects.NewSettings(objects.SettingsConfig{
		Buckets: db.MailBuckets(master), Opener: opener, Files: func(orgID string) (objects.Store, error) { return kept.Of(orgID), nil },
		Networks: true, Clock: frametest.Now,
	})
	// The links of the test begin at the time of the machine's clock.
	o.settings.Clock = core.SystemClock
	room, err := mailstorage.New(o.Frame, o.settings)
	o.Must(err)
	o.pages = o.Open(room)
	return o
}

// typed returns a form as a browser sends it.
func typed(endpoint, secret string) url.Values {
	return url.Values{
		"endpoint": {endpoint}, "region": {enginetest.S3Region}, "bucket": {enginetest.S3Bucket}, "prefix": {"in"}, "path_style": {"on"},
		"access_key_id": {enginetest.S3AccessKeyID}, "secret": {secret}, "encryption": {""}, "kms_key_id": {""},
	}
}

func TestGoldenStorage(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	_, page := frametest.Get(t, o.pages, mailstorage.Path)
	frametest.CompareGolden(t, "files", page, *update)
	o.Must(o.settings.Buckets.SaveBucket(t.Context(), o.Org.ID, objects.StoredBucket{
		ID: core.NewID(), InUse: true, CreatedAt: frametest.Now(), UpdatedAt: frametest.Now(), Bucket: objects.Bucket{
			Endpoint: "http://127.0.0.1:1", Region: "us-east-1", Name: "acme-mail", Prefix: "in/", PathStyle: true, AccessKeyID: "key", Secret: "never-shown", Encryption: objects.EncryptionAES,
		},
	}))
	_, page = frametest.Get(t, o.pages, mailstorage.Path)
	frametest.CompareGolden(t, "bucket", page, *update)
	if strings.Contains(page, "never-shown") {
		t.Error("the page shows the secret")
	}
	_, page = frametest.Post(t, o.pages, o.Site.Visitor, mailstorage.Path+"/test", nil)
	frametest.CompareGolden(t, "tested", page, *update)
}

// TestBucket uses a bucket on a real server, tests it, and returns to files.
func TestBucket(t *testing.T) {
	t.Parallel()
	server, o := enginetest.S3(t), newOffice(t)
	status, page := frametest.Post(t, o.pages, o.Site.Visitor, mailstorage.Path, typed(server.URL, `wrong"><script>`))
	if status != http.StatusUnprocessableEntity || !strings.Contains(page, "Mailhelm could not write a test object: the server does not accept the access key (SignatureDoesNotMatch). Enter the id") ||
		!strings.Contains(page, `value="`+server.URL+`"`) || strings.Contains(page, "wrong") {
		t.Errorf("a wrong secret: %d %s", status, page)
	}
	invalid := typed("ftp://<script>", "x")
	status, page = frametest.Post(t, o.pages, o.Site.Visitor, mailstorage.Path, invalid)
	if status != http.StatusUnprocessableEntity || !strings.Contains(page, "The endpoint must be the https address") || strings.Contains(page, "<script>") {
		t.Errorf("an invalid endpoint: %d %s", status, page)
	}
	if status, page := frametest.Post(t, o.pages, o.Site.Visitor, mailstorage.Path, typed(server.URL, enginetest.S3Secret)); status != http.StatusSeeOther {
		t.Fatalf("%d %s", status, page)
	}
	_, page = frametest.Get(t, o.pages, mailstorage.Path+"?done=bucket")
	if !strings.Contains(page, "The bucket passed the test.") || strings.Contains(page, enginetest.S3Secret) {
		t.Error(page)
	}
	_, page = frametest.Post(t, o.pages, o.Site.Visitor, mailstorage.Path+"/test", nil)
	if strings.Count(page, ">works<") != 5 || strings.Contains(page, "failed") {
		t.Error(page)
	}
	if status, page := frametest.Post(t, o.pages, o.Site.Visitor, mailstorage.Path+"/files", nil); status != http.StatusSeeOther {
		t.Fatalf("%d %s", status, page)
	}
	if _, known, err := o.settings.Of(t.Context(), o.Org.ID); known || err != nil {
		t.Errorf("still a bucket: %t, %v", known, err)
	}
	events, err := o.db.Audit().FindAudit(t.Context(), o.Org.ID, access.AuditFilter{Limit: 5})
	o.Must(err)
	if len(events) != 2 || events[0].Action != "org.mail_storage_updated" || events[1].ActorID != o.User.ID || strings.Contains(events[1].Detail, enginetest.S3Secret) ||
		!strings.Contains(events[1].Detail, `"bucket":"received-mail"`) || events[0].Detail != `{"kind":"files"}` {
		t.Errorf("%+v", events)
	}
}

func TestPermissions(t *testing.T) {
	t.Parallel()
	server, o := enginetest.S3(t), newOffice(t)
	o.Allow(members.MayManageContent)
	for _, path := range []string{mailstorage.Path, mailstorage.Path + "/test", mailstorage.Path + "/files"} {
		if status, _ := frametest.Post(t, o.pages, o.Site.Visitor, path, typed(server.URL, enginetest.S3Secret)); status != http.StatusForbidden {
			t.Errorf("%s: %d", path, status)
		}
	}
	state := func() []any {
		b, known, err := o.settings.Of(t.Context(), o.Org.ID)
		o.Must(err)
		return []any{b.ID, known}
	}
	o.CheckPermissions(o.pages, state,
		frametest.Form{Name: "bucket", Needs: members.MayManageOrg, Path: mailstorage.Path, Done: http.StatusSeeOther, Form: typed(server.URL, enginetest.S3Secret)},
		frametest.Form{Name: "files", Needs: members.MayManageOrg, Path: mailstorage.Path + "/files", Done: http.StatusSeeOther})
}
