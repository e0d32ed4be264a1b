package browser_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/browser"
)

func TestOverview(t *testing.T) {
	t.Parallel()
	withAndWithoutScripts(t, func(t *testing.T, s *scene, tab *browser.Tab) {
		s.join()
		s.openSignedIn(tab, "/dashboard")
		tab.Expect(http.StatusOK, "Addresses", s.p.BaseURL, s.p.MCPURL)
		tab.Picture("overview")
		tab.ExpectReachable()
		tab.Mark(".menu > summary")
		tab.Picture("overview-menu")
		tab.Submit(".menu form[action='/switch-org'] button")
		tab.Expect(http.StatusOK, "Other Org")
	})
}

// TestSettings checks that an owner without a second factor cannot require one of all
// members. After setting up a second factor, the owner can.
func TestSettings(t *testing.T) {
	t.Parallel()
	withAndWithoutScripts(t, func(t *testing.T, s *scene, tab *browser.Tab) {
		s.p.Clock.Freeze(s.p.Clock.Now())
		s.openSignedIn(tab, "/dashboard/settings")
		tab.Expect(http.StatusOK, "First set up your own second factor and sign in with it")
		tab.Picture("settings")
		tab.ExpectReachable()
		tab.Mark("input[name=platform_mode]")
		tab.Submit(".page form button.primary")
		tab.Expect(http.StatusOK, "The settings are saved")
		tab.Submit(".page a[href='/account/security']")
		s.setUpApp(tab)
		tab.Go(s.p.AppURL + "/dashboard/settings")
		tab.Mark("input[name=require_second_factor]")
		tab.Submit(".page form button.primary")
		tab.Expect(http.StatusOK, "The settings are saved")
		tab.Picture("settings-saved")
		org, err := s.p.DB.Orgs().Org(t.Context(), s.p.OrgID)
		if err != nil || !org.RequireSecondFactor || !org.PlatformMode {
			t.Errorf("settings %+v, %v", org, err)
		}
	})
}

// TestRetention changes a period.
func TestRetention(t *testing.T) {
	t.Parallel()
	withAndWithoutScripts(t, func(t *testing.T, s *scene, tab *browser.Tab) {
		s.openSignedIn(tab, "/dashboard/retention")
		tab.Expect(http.StatusOK, "Audit log", "Fixed periods")
		tab.Fill("#audit_log", "730")
		tab.Submit(".page form button.primary")
		tab.Expect(http.StatusOK, "The periods are saved", "Old records are deleted from")
		tab.Picture("retention")
		tab.ExpectReachable()
	})
}

func TestAuditLog(t *testing.T) {
	t.Parallel()
	withAndWithoutScripts(t, func(t *testing.T, s *scene, tab *browser.Tab) {
		s.openSignedIn(tab, "/dashboard")
		s.newKey(tab)
		tab.Go(s.p.AppURL + "/dashboard/audit")
		tab.Expect(http.StatusOK, "API key created", "Signed in", s.p.UserEmail)
		tab.Picture("audit")
		tab.ExpectReachable()
		tab.Choose("#action", "api_key.created")
		tab.Submit(".filters button")
		tab.Expect(http.StatusOK, "Clear filters", "Nightly import")
		tab.Picture("audit-filtered")
		if events := strings.Join(tab.ReadAll(".log th[scope=row]"), "\n"); strings.Contains(events, "Signed in") {
			t.Errorf("the filter lets pass %s", events)
		}
		tab.Choose("#action", "member.removed")
		tab.Submit(".filters button")
		tab.Expect(http.StatusOK, "No event matches this filter")
		tab.Picture("audit-nothing")
		tab.Submit(".filters a")
		tab.Expect(http.StatusOK, "Signed in")
	})
}
