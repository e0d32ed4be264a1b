package dmarcreports_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/domainauth"
	"github.com/mailhelm/mailhelm/core/domainauth/arrivals"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// installationWith returns the data folder of an installation with one organization that may
// send from example.com.
func installationWith(t *testing.T) (folder string, org core.Org) { //nolint:nonamedreturns // says which is which
	t.Helper()
	folder = enginetest.Folder(t)
	db, err := storage.Open(t.Context(), storage.Config{Dir: folder})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	org = core.Org{ID: core.NewID(), Slug: "bakery", Name: "Bakery", Tier: "business"}
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := db.Orgs().InsertOrg(t.Context(), org); err != nil {
		t.Fatal(err)
	}
	seen := channels.Seen{
		Sync:       channels.Sync{Account: "a", Region: "eu-west-1", At: time.Now()},
		Identities: []sending.Identity{{Identity: "example.com", Verification: sending.Success}},
	}
	if err := db.Channels().Mirror(t.Context(), org.ID, seen); err != nil {
		t.Fatal(err)
	}
	return folder, org
}

// recent returns the document of ordinary with a period that figures are kept of.
func recent(id string) string {
	begin := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -3)
	text := strings.Replace(ordinary(), "<begin>1795737600</begin><end>1795823999</end>", "<begin>"+unix(begin)+"</begin><end>"+unix(begin.Add(24*time.Hour-time.Second))+"</end>", 1)
	return strings.Replace(text, "r-1", id, 1)
}

func unix(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) }

func TestImport(t *testing.T) {
	t.Parallel()
	folder, org := installationWith(t)
	reports := t.TempDir()
	for name, content := range map[string]string{
		"first.xml": recent("1"), "second.xml": recent("2"), "copy.xml": recent("1"), "notes.txt": "no report",
		"other.xml": strings.ReplaceAll(recent("3"), "<domain>example.com</domain><p>", "<domain>example.org</domain><p>"),
		"below.xml": strings.ReplaceAll(recent("4"), "<domain>example.com</domain><p>", "<domain>news.example.com</domain><p>"),
		"mail.eml":  "From: dmarc@receiver.example\r\nSubject: report\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/xml\r\nContent-Disposition: attachment; filename=r.xml\r\n\r\n" + recent("5") + "\r\n--b--\r\n",
	} {
		if err := os.WriteFile(filepath.Join(reports, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	first := dmarcCommand(t, "import", reports, "--data", folder, "--json")
	var printed map[string]any
	if err := json.Unmarshal([]byte(first.stdout), &printed); err != nil || first.status != 0 {
		t.Fatalf("%+v, %v", first, err)
	}
	for member, want := range map[string]float64{
		"files": 7, "reports": 4, "duplicates": 1, "reports_about_other_domains": 1, "other_files": 1, "messages": 4 * 1241, "records": 24, "warnings": 4,
	} {
		if printed[member] != want {
			t.Errorf("%s: %v, want %v", member, printed[member], want)
		}
	}
	again := dmarcCommand(t, "import", reports, "--data", folder)
	if want := "0 reports imported, with 0 messages in 0 records\n5 reports left out: known already\n1 report left out: about domains that are not of the organization\n1 file without a report\n"; again.stdout != want || again.status != 0 {
		t.Errorf("again: %+v", again)
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
	files, err := db.ReportArrivals().Files(t.Context(), org.ID, arrivals.FileFilter{}, nil, 10)
	if err != nil || len(files) != 4 {
		t.Errorf("the list has %d files, %v", len(files), err)
	}
	for _, f := range files {
		if f.Origin != arrivals.Import || f.Counts.Reports != 1 || filepath.Base(f.Name) != f.Name {
			t.Errorf("%+v", f)
		}
	}
	for name, want := range map[string]int64{"example.com": 3 * 1241, "news.example.com": 1241} {
		d, err := db.DomainAuth().Domain(t.Context(), org.ID, name)
		if err != nil {
			t.Fatal(err)
		}
		days, err := db.DomainAuth().Totals(t.Context(), org.ID, d.ID, domainauth.Days{From: time.Now().AddDate(0, 0, -10), To: time.Now()})
		if err != nil || len(days) != 1 || days[0].Both+days[0].DKIMOnly+days[0].SPFOnly+days[0].Failing != want {
			t.Errorf("%s: %+v, %v", name, days, err)
		}
	}
}

func TestImportSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	folder, _ := installationWith(t)
	broken := filepath.Join(t.TempDir(), "broken.xml")
	if err := os.WriteFile(broken, []byte("<html>no report</html>"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"no report":            {[]string{broken, "--data", folder}, "this is not a DMARC aggregate report"},
		"no file":              {[]string{broken + ".missing", "--data", folder}, "no such file"},
		"unknown organization": {[]string{broken, "--data", folder, "--org", "missing"}, `there is no organization "missing"`},
		"no installation":      {[]string{broken, "--data", t.TempDir()}, "there is no database in"},
	} {
		got := dmarcCommand(t, append([]string{"import"}, tc.args...)...)
		if got.status != 1 || !strings.Contains(got.stderr, tc.want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
