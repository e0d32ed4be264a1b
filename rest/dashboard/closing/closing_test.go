package closing_test

import (
	"archive/zip"
	"bytes"
	"context"
	"flag"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	coreclosing "github.com/mailhelm/mailhelm/core/closing"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/rest/dashboard/closing"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	"github.com/mailhelm/mailhelm/storage"
	closingstore "github.com/mailhelm/mailhelm/storage/closing"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var update = flag.Bool("update", false, "write the golden files again")

// office is an organization with the pages of this package.
type office struct {
	*frametest.Office
	db    *storage.DB
	pages http.Handler
}

func newOffice(t *testing.T) *office {
	t.Helper()
	db := storagetest.SQLite(t)
	o := &office{Office: frametest.NewOffice(t, frametest.DatabaseOf(db), frame.Area{Path: frame.Path, Name: "Home"}), db: db}
	room, err := closing.New(o.Frame, closing.Config{
		Organizations: coreclosing.Organizations{
			Store: closingstore.NewOrgStore(db.DB), Orgs: db.Orgs(), Members: db.Members(), Audit: db.Audit(), Transactor: db, Clock: frametest.Now,
		},
		Rows: closingstore.NewExportStore(db.DB),
		Definitions: func(context.Context, string) (map[string][]byte, error) {
			return map[string][]byte{"mailhelm.json": []byte("{}")}, nil
		},
	})
	o.Must(err)
	o.pages = o.Open(room)
	return o
}

// reload reads the visitor's organization again, as the next request does.
func (o *office) reload() core.Org {
	o.T.Helper()
	org, err := o.db.Orgs().Org(o.T.Context(), o.Org.ID)
	o.Must(err)
	o.Site.Visitor.Org = org
	return org
}

func (o *office) post(path string, form url.Values) (int, string) {
	o.T.Helper()
	return frametest.Post(o.T, o.pages, o.Site.Visitor, path, form)
}

func TestOwnerDeletesAndRestores(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	slug := url.Values{"slug": {o.Org.Slug}}
	o.Allow(members.AllPermissions()...)
	if status, _ := o.post(closing.Path, slug); status != http.StatusForbidden {
		t.Errorf("a member with all permissions gets %d", status)
	}
	o.Join(members.Member{Role: members.Owner})
	o.Site.Unidentified = true
	for _, path := range []string{closing.Path, closing.Path + "/export"} {
		if status, _ := o.post(path, slug); status != http.StatusSeeOther {
			t.Errorf("%s without a proof of identity gets %d", path, status)
		}
	}
	o.Site.Unidentified = false
	if status, page := o.post(closing.Path, url.Values{"slug": {"other"}}); status != http.StatusUnprocessableEntity || !strings.Contains(page, o.Org.Slug) {
		t.Errorf("another slug gets %d: %s", status, page)
	}
	if o.reload().IsDeleted() {
		t.Fatal("a refused form deleted the organization")
	}
	if status, _ := frametest.Get(t, o.pages, frame.DeletedPath); status != http.StatusSeeOther {
		t.Errorf("the page of deleted organizations answers %d for another one", status)
	}

	status, archive := o.post(closing.Path+"/export", nil)
	read, err := zip.NewReader(bytes.NewReader([]byte(archive)), int64(len(archive)))
	if status != http.StatusOK || err != nil || len(read.File) != 10 {
		t.Errorf("the export: %d, %v", status, err)
	}
	if status, _ := o.post(closing.Path, slug); status != http.StatusSeeOther {
		t.Errorf("the deletion gets %d", status)
	}
	if org := o.reload(); !org.IsDeleted() || !org.EraseAt().Equal(frametest.Now().Add(core.DeletionWait)) {
		t.Errorf("organization %+v", org)
	}

	// Every other page leads to the page that says so, and every other form is refused.
	if status, _ := frametest.Get(t, o.pages, closing.Path); status != http.StatusSeeOther {
		t.Errorf("another page answers %d", status)
	}
	if status, page := o.post(closing.Path, slug); status != http.StatusForbidden || !strings.Contains(page, "was deleted") {
		t.Errorf("another form answers %d: %s", status, page)
	}
	o.Site.Unidentified = true
	if status, _ := o.post(frame.DeletedPath+"/restore", nil); status != http.StatusSeeOther || !o.reload().IsDeleted() {
		t.Errorf("restoring without a proof of identity gets %d", status)
	}
	o.Site.Unidentified = false
	o.Allow(members.AllPermissions()...)
	o.reload()
	if status, _ := o.post(frame.DeletedPath+"/restore", nil); status != http.StatusForbidden {
		t.Errorf("a member who restores gets %d", status)
	}
	o.Join(members.Member{Role: members.Owner})
	o.reload()
	if status, _ := o.post(frame.DeletedPath+"/restore", nil); status != http.StatusSeeOther || o.reload().IsDeleted() {
		t.Errorf("restoring gets %d", status)
	}
}

func TestGoldenPages(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	fixed := func(page string) string {
		return strings.ReplaceAll(page, o.Org.Slug, "acme")
	}
	_, page := frametest.Get(t, o.pages, closing.Path)
	frametest.CompareGolden(t, "delete", fixed(page), *update)
	store := closingstore.NewOrgStore(o.db.DB)
	for name, ago := range map[string]time.Duration{"deleted": 6*24*time.Hour - time.Minute, "last_day": 7*24*time.Hour - time.Minute, "erasing": 7 * 24 * time.Hour} {
		at := frametest.Now().Add(-ago)
		o.Must(store.SetDeleted(t.Context(), o.Org.ID, &at))
		o.reload()
		_, page := frametest.Get(t, o.pages, frame.DeletedPath)
		frametest.CompareGolden(t, name, fixed(page), *update)
	}
}
