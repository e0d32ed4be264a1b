package dashboard_test

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/people"
	coreretention "github.com/mailhelm/mailhelm/core/retention"
	events "github.com/mailhelm/mailhelm/core/webhooks"
	"github.com/mailhelm/mailhelm/rest/dashboard"
	"github.com/mailhelm/mailhelm/rest/dashboard/approvals"
	"github.com/mailhelm/mailhelm/rest/dashboard/assets"
	"github.com/mailhelm/mailhelm/rest/dashboard/audience"
	"github.com/mailhelm/mailhelm/rest/dashboard/broadcasts"
	"github.com/mailhelm/mailhelm/rest/dashboard/contacts"
	"github.com/mailhelm/mailhelm/rest/dashboard/developers"
	"github.com/mailhelm/mailhelm/rest/dashboard/domainauth"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	"github.com/mailhelm/mailhelm/rest/dashboard/home"
	"github.com/mailhelm/mailhelm/rest/dashboard/imports"
	"github.com/mailhelm/mailhelm/rest/dashboard/inboxes"
	"github.com/mailhelm/mailhelm/rest/dashboard/insight"
	"github.com/mailhelm/mailhelm/rest/dashboard/mailsettings"
	"github.com/mailhelm/mailhelm/rest/dashboard/mailstorage"
	"github.com/mailhelm/mailhelm/rest/dashboard/messages"
	"github.com/mailhelm/mailhelm/rest/dashboard/organization"
	"github.com/mailhelm/mailhelm/rest/dashboard/persons"
	"github.com/mailhelm/mailhelm/rest/dashboard/receiving"
	"github.com/mailhelm/mailhelm/rest/dashboard/registry"
	"github.com/mailhelm/mailhelm/rest/dashboard/repository"
	"github.com/mailhelm/mailhelm/rest/dashboard/retention"
	"github.com/mailhelm/mailhelm/rest/dashboard/segments"
	"github.com/mailhelm/mailhelm/rest/dashboard/senders"
	"github.com/mailhelm/mailhelm/rest/dashboard/site"
	"github.com/mailhelm/mailhelm/rest/dashboard/tags"
	"github.com/mailhelm/mailhelm/rest/dashboard/templates"
	"github.com/mailhelm/mailhelm/rest/dashboard/webhooks"
	"github.com/mailhelm/mailhelm/rest/dashboard/workflows"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var update = flag.Bool("update", false, "write the golden files again")

// TestGoldenContents checks that each entry of the navigation, except that of the security
// page, leads to a page of the dashboard. The page of status 404 must have the navigation.
func TestGoldenContents(t *testing.T) {
	t.Parallel()
	f := frame.New(frame.Config{
		Site:          &frametest.Site{Visitor: people.Visitor{User: access.User{Email: "boss@example.com"}}},
		Organizations: storagetest.SQLite(t).Members(), Areas: dashboard.Areas, Pace: frametest.Unpaced,
	})
	start, err1 := home.New(f, home.Config{})
	files, errFiles := imports.New(f, imports.Config{})
	if errFiles != nil {
		t.Fatal(errFiles)
	}
	groups, err0 := audience.New(f, audience.Config{})
	outcomes, err2 := insight.New(f, insight.Config{})
	credentials, err3 := developers.New(f, developers.Config{})
	company, err4 := organization.New(f, organization.Config{})
	mail, err5 := messages.New(f, messages.Config{})
	directory, err6 := contacts.New(f, contacts.Config{})
	definitions, err7 := registry.New(f, registry.Config{})
	labels, err10 := tags.New(f, tags.Config{})
	ofMail, err11 := mailsettings.New(f, nil)
	kept, err16 := mailstorage.New(f, objects.Settings{})
	letters, err8 := templates.New(f, templates.Config{})
	divided, err9 := segments.New(f, segments.Config{})
	decided, err12 := approvals.New(f, approvals.Config{})
	sends, err13 := broadcasts.New(f, broadcasts.Config{})
	receivers, err14 := webhooks.New(f, events.Webhooks{})
	journeys, err15 := workflows.New(f, workflows.Config{})
	temporary, err17 := inboxes.New(f, inboxes.Config{})
	received, err18 := receiving.New(f, receiving.Config{})
	proven, err19 := senders.New(f)
	authentication, err20 := domainauth.New(f, domainauth.Config{})
	website, err21 := site.New(f, site.Config{})
	inGit, err22 := repository.New(f, repository.Config{})
	pictures, err23 := assets.New(f, assets.Config{})
	periods, err25 := retention.New(f, coreretention.Settings{})
	data, err24 := persons.New(f, persons.Config{})
	for _, err := range []error{err25, err24, err23, err22, err21, err20, err19, err18, err17, err16, err0, err1, err2, err3, err4, err5, err6, err7, err8, err9, err10, err11, err12, err13, err14, err15} {
		if err != nil {
			t.Fatal(err)
		}
	}
	pages, err := dashboard.Mount(f, start, website, inGit, pictures, proven, authentication, sends, journeys, directory, files, groups, definitions, divided, decided, letters, labels, ofMail, kept, outcomes, mail, credentials, receivers, received, temporary, company, data, periods)
	if err != nil {
		t.Fatal(err)
	}
	for _, area := range dashboard.Areas {
		_, pattern := pages.Handler(httptest.NewRequestWithContext(t.Context(), http.MethodGet, area.Path, nil))
		if pattern != area.Path && area.Path != frame.SecurityPath {
			t.Errorf("%s leads to %q", area.Path, pattern)
		}
	}
	status, page := frametest.Get(t, pages, frame.Path+"/nothing")
	if status != http.StatusNotFound {
		t.Errorf("status %d", status)
	}
	frametest.CompareGoldenWhole(t, "missing", page, *update)
}
