package contacts_test

import (
	"encoding/csv"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/contactfile"
	audience "github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/rest/dashboard/contacts"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	"pgregory.net/rapid"
)

// exported returns the events of exports in the audit log.
func (o *office) exported(t *testing.T) []string {
	t.Helper()
	lines, err := o.db.Audit().FindAudit(t.Context(), o.Org.ID, access.AuditFilter{Limit: 10})
	o.Must(err)
	var details []string
	for _, line := range lines {
		if line.Action == "contacts.exported" {
			details = append(details, line.Detail)
		}
	}
	return details
}

// TestExportHasAllContacts checks the file of an export of two pages: its cells, that no
// cell is a formula, the filters and the audit log.
func TestExportHasAllContacts(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	formula := `=HYPERLINK("http://evil.example","x")`
	o.found[0].ExternalID, o.found[0].Attributes["plan"] = &formula, "-2+3"
	status, file := frametest.Post(t, o.pages, o.Site.Visitor, contacts.ExportPath, url.Values{"list": {"vip"}, "q": {"a"}, "status": {""}, "value": {strings.Repeat("x", 5000)}, "invented": {"field"}})
	rows, err := csv.NewReader(strings.NewReader(file)).ReadAll()
	if err != nil || status != http.StatusOK {
		t.Fatal(err, status)
	}
	want := [][]string{
		{"email", "external_id", "unsubscribe_all", "lists", "topics.news", "topics.offers", "attributes.joined", "attributes.plan", "contact_id", "status", "mailable", "created_at", "updated_at"},
		{"ada@example.com", "'" + formula, "false", "vip", "OPT_OUT", "", "2026-03-12T12:30:00Z", "'-2+3", o.found[0].ID, "active", "true", "2026-01-12T15:30:00Z", "2026-03-12T15:30:00Z"},
		{"gone@example.com", "", "false", "", "", "", "", "", o.found[1].ID, "archived", "false", "2026-03-12T15:30:00Z", "2026-03-12T15:30:00Z"},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
	if asked := (audience.Search{Text: "a", List: vip}); o.asked != asked {
		t.Errorf("searched %+v", o.asked)
	}
	if diff := cmp.Diff([]string{`{"list":"vip","q":"a","value":"` + strings.Repeat("x", 199) + `…"}`}, o.exported(t)); diff != "" {
		t.Error(diff)
	}
}

// TestAnExportCanBeImported checks that an import of an exported file reads the texts that
// were exported, for texts of characters that spreadsheets and CSV files treat specially.
// Carriage returns are not among them, because readers of CSV files drop them.
func TestAnExportCanBeImported(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	text := rapid.StringOfN(rapid.RuneFrom([]rune("'=+-@＝\t\n,;\"| aé1")), 1, 6, -1)
	rapid.Check(t, func(t *rapid.T) {
		external, plan := text.Draw(t, "external id"), text.Draw(t, "plan")
		o.found[0].ExternalID, o.found[0].Attributes["plan"] = &external, plan
		_, file := frametest.Post(o.T, o.pages, o.Site.Visitor, contacts.ExportPath, nil)
		rows, err := contactfile.Open(strings.NewReader(file), contactfile.Config{Attributes: []string{"plan", "joined"}, IgnoreUnknown: true})
		if err != nil {
			t.Fatal(err)
		}
		row, err := rows.Next()
		if err != nil {
			t.Fatal(err)
		}
		var read struct {
			ExternalID string            `json:"external_id"`
			Attributes map[string]string `json:"attributes"`
		}
		if err := json.Unmarshal(row.JSON, &read); err != nil || read.ExternalID != external || read.Attributes["plan"] != plan {
			t.Fatalf("%q and %q are read as %+v, %v from\n%s", external, plan, read, err, file)
		}
	})
}

func TestExportIsRefused(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	if status, _ := frametest.Post(t, o.pages, o.Site.Visitor, contacts.ExportPath, url.Values{"list": {"unknown"}}); status != http.StatusUnprocessableEntity {
		t.Errorf("unknown list: status %d", status)
	}
	o.refused = &core.Error{Code: core.CodeOverloaded, Message: "Too many reads."}
	if status, _ := frametest.Post(t, o.pages, o.Site.Visitor, contacts.ExportPath, nil); status != core.AsError(o.refused).HTTPStatus() {
		t.Errorf("overloaded: status %d", status)
	}
	o.Allow(members.MayViewLists)
	if status, _ := frametest.Post(t, o.pages, o.Site.Visitor, contacts.ExportPath, nil); status != http.StatusForbidden {
		t.Errorf("without contacts.view: status %d", status)
	}
	o.Allow(members.MayViewContacts)
	o.Delay.First = func() { o.TakeAway(members.MayViewSending) }
	o.refused = nil
	if status, file := frametest.Post(t, o.pages, o.Site.Visitor, contacts.ExportPath, nil); status != http.StatusForbidden || strings.Contains(file, "contact_id") {
		t.Errorf("the permission is lost: status %d", status)
	}
	if events := o.exported(t); events != nil {
		t.Errorf("refused exports are in the audit log: %v", events)
	}
}

// TestAnIncompleteExportIsNoFile checks that the connection is closed if the second page of
// an export cannot be read.
func TestAnIncompleteExportIsNoFile(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.refused, o.late = core.Internal(nil), true
	defer func() {
		if recover() != http.ErrAbortHandler { //nolint:errorlint // the value of a panic
			t.Error("the file ends as if it were complete")
		}
	}()
	o.export(httptest.NewRecorder())
}

// export sends the form of an export.
func (o *office) export(w http.ResponseWriter) {
	form := url.Values{"token": {o.Site.Visitor.FormToken("dashboard\x00" + contacts.ExportPath)}}
	r := httptest.NewRequestWithContext(o.T.Context(), http.MethodPost, contacts.ExportPath, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	o.pages.ServeHTTP(w, r)
}

// watchedRecorder is a recorder that calls first before it records the first bytes.
type watchedRecorder struct {
	*httptest.ResponseRecorder
	first func()
}

func (w *watchedRecorder) Write(b []byte) (int, error) {
	if first := w.first; first != nil {
		w.first = nil
		first()
	}
	return w.ResponseRecorder.Write(b)
}

// TestEachPageOfAnExportNeedsThePermission takes the permission away after the first page
// was read. The export must end without the second page.
func TestEachPageOfAnExportNeedsThePermission(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.Allow(members.MayViewContacts)
	w := &watchedRecorder{httptest.NewRecorder(), func() { o.TakeAway(members.MayViewSending) }}
	defer func() {
		if recover() != http.ErrAbortHandler { //nolint:errorlint // the value of a panic
			t.Error("the file ends as if it were complete")
		}
		if file := w.Body.String(); !strings.Contains(file, "ada@example.com") || strings.Contains(file, "gone@example.com") {
			t.Errorf("the file is %s", file)
		}
	}()
	o.export(w)
}
