package domainauth_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/domainauth/arrivals"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/rest/dashboard/domainauth"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// receive stores a file of each state, two of them from reporters without proof.
func (o *office) receive() {
	o.T.Helper()
	const markup = "<script>alert(1)</script>\u202e"
	files := []arrivals.File{
		{State: arrivals.Read, Name: "mail.example!bakery.example.xml.gz", Sender: "dmarc@mail.example", Reporter: "mail.example", Counts: arrivals.Counts{Reports: 2, Duplicates: 1}},
		{State: arrivals.Read, Name: "", Sender: markup + "@x.example", Reporter: "x.example", Counts: arrivals.Counts{TLSReports: 1, Foreign: 3}, Problem: "Some reports were left out."},
		{State: arrivals.Waiting, Name: "today.zip", Sender: "dmarc@mail.example"},
		{State: arrivals.Held, Name: markup, Sender: "someone@example.net", Reporter: markup, Problem: "DMARC did not pass for the mail."},
		{State: arrivals.Held, Name: "b.xml", Sender: "someone@example.net", Reporter: "slow.example", Problem: "DMARC did not pass for the mail."},
		{State: arrivals.Failed, Name: "photo.png", Sender: "", Problem: "This file is not a report."},
	}
	for i := range files {
		f := &files[i]
		f.OrgID, f.ID, f.DomainID, f.Origin, f.MessageID, f.Size = o.Org.ID, core.NewID(), domainID, arrivals.Mail, "m", 1234
		f.Verdicts = &inbound.Verdicts{SPF: inbound.Pass, DKIM: inbound.Fail, DMARC: inbound.Gray}
		f.ReceivedAt = frametest.Now().Add(-time.Duration(i) * time.Hour)
		f.UpdatedAt, f.DueAt = f.ReceivedAt, f.ReceivedAt.Add(arrivals.Kept)
	}
	_, err := o.db.ReportArrivals().AddFiles(o.T.Context(), o.Org.ID, files)
	o.Must(err)
	for _, f := range files {
		saved, err := o.db.ReportArrivals().SaveFile(o.T.Context(), f)
		o.Must(err)
		if !saved {
			o.T.Fatalf("%s is not saved", f.Name)
		}
	}
	for _, reporter := range []string{"slow.example", markup} {
		_, err := o.db.ReportArrivals().LockDecision(o.T.Context(), o.Org.ID, reporter, frametest.Now())
		o.Must(err)
	}
}

func TestGoldenPagesOfReceivedReports(t *testing.T) {
	t.Parallel()
	o := newOffice(t, nil)
	o.shown("received_none", domainauth.ReceivedPath)
	o.receive()
	o.shown("received", domainauth.ReceivedPath)
	o.shown("received_held", domainauth.ReceivedPath+"?state=held&domain=bakery.example&done=reporter_accepted")
	o.shown("received_other", domainauth.ReceivedPath+"?domain=other.example")
	o.shown("received_damaged_cursor", domainauth.ReceivedPath+"?cursor=x")
	o.Allow(members.MayViewDomainAuth)
	o.shown("viewer_received", domainauth.ReceivedPath)
}

// TestOddFiltersOfReceivedReports asks for values that no select field has, and that PostgreSQL
// refuses as text.
func TestOddFiltersOfReceivedReports(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		o := newOfficeOn(t, db, nil)
		for _, query := range []string{"state=a%00", "state=%FF", "state=lost", "domain=a%00", "domain=%FF", "domain=a%00b&state=held"} {
			status, page := frametest.Get(t, o.pages, domainauth.ReceivedPath+"?"+query)
			if status != http.StatusOK || !utf8.ValidString(page) || !strings.Contains(page, "No file matches these filters.") {
				t.Errorf("%s: %d %q", query, status, page[max(0, len(page)-300):])
			}
		}
		for _, reporter := range []string{"a\x00b", "\xff.example"} {
			status, _ := frametest.Post(t, o.pages, o.Site.Visitor, domainauth.ReceivedPath+"/decide", url.Values{"reporter": {reporter}, "to": {"rejected"}})
			if status != http.StatusUnprocessableEntity {
				t.Errorf("%q: %d", reporter, status)
			}
		}
	})
}

// TestReporterDecisions sends the forms that accept and reject a reporter, with the permission
// and without.
func TestReporterDecisions(t *testing.T) {
	t.Parallel()
	o := newOffice(t, nil)
	o.receive()
	state := func() []any {
		reporters, err := o.db.ReportArrivals().Reporters(t.Context(), o.Org.ID, 10)
		o.Must(err)
		files, err := o.db.ReportArrivals().Files(t.Context(), o.Org.ID, arrivals.FileFilter{}, nil, 10)
		o.Must(err)
		log, err := o.db.Audit().FindAudit(t.Context(), o.Org.ID, access.AuditFilter{Limit: 10})
		o.Must(err)
		return []any{reporters, files, log}
	}
	decision := func(name, to string) frametest.Form {
		return frametest.Form{
			Name: name, Needs: members.MayManageDomainAuth, Path: domainauth.ReceivedPath + "/decide", Done: http.StatusSeeOther,
			Form: url.Values{"reporter": {"slow.example"}, "to": {to}},
		}
	}
	o.CheckPermissions(o.pages, state, decision("accept", "accepted"), decision("reject", "rejected"))
	for form, want := range map[string]int{"reporter=slow.example&to=perhaps": http.StatusNotFound, "reporter=&to=accepted": http.StatusUnprocessableEntity} {
		values, err := url.ParseQuery(form)
		o.Must(err)
		o.Join(members.Member{OrgID: o.Org.ID, UserID: o.User.ID, Role: members.Owner})
		if status, _ := frametest.Post(t, o.pages, o.Site.Visitor, domainauth.ReceivedPath+"/decide", values); status != want {
			t.Errorf("%s: %d", form, status)
		}
	}
}
