package browser_test

import (
	"net/http"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/browser"
)

const invited = "ada@example.com"

// TestInvitation checks that an invited person can open the link in another browser and
// join. An owner then gives the new member a permission, with which the member can open one
// more page. In the end the owner removes the member.
func TestInvitation(t *testing.T) {
	t.Parallel()
	withAndWithoutScripts(t, func(t *testing.T, s *scene, tab *browser.Tab) {
		s.openSignedIn(tab, "/dashboard/members")
		tab.Expect(http.StatusOK, "No invitation is open", "You are the last owner")
		tab.Picture("members-alone")
		tab.Submit("a[href='/dashboard/members/invite']")
		tab.Picture("invite")
		tab.ExpectReachable()
		tab.Fill("#email", invited)
		choose(tab, "input[value='lists.view']")
		tab.Submit(".page form button.primary")
		tab.Expect(http.StatusOK, "It is not shown again", invited)
		tab.Picture("invited")
		link := s.once(tab, ".page > p > a")
		tab.Go(s.p.AppURL + "/dashboard/members")
		tab.Expect(http.StatusOK, "With 1 permission")
		tab.Picture("members-invited")

		hers := browser.Open(t, browser.Options{})
		hers.Go(link)
		hers.Expect(http.StatusOK, "Join", invited)
		hers.Picture("join")
		hers.ExpectReachable()
		hers.Fill("#name", "Ada")
		hers.Fill("#password", "a few words in a row")
		hers.Submit(".card form button.primary")
		hers.Expect(http.StatusOK, invited)
		hers.Picture("overview-of-a-member")
		hers.Go(s.p.AppURL + "/dashboard/keys")
		hers.Expect(http.StatusForbidden, "Permission missing")
		hers.Picture("no-permission")
		hers.Go(link)
		hers.Expect(http.StatusNotFound)
		hers.Picture("invitation-over")

		ada, err := s.p.DB.Users().UserByEmail(t.Context(), invited)
		if err != nil {
			t.Fatal(err)
		}
		tab.Go(s.p.AppURL + "/dashboard/members")
		tab.Picture("members")
		tab.Submit("a[href='/dashboard/members/" + ada.ID + "']")
		tab.Picture("member")
		choose(tab, "input[value='credentials.manage']")
		tab.Submit("form[action$='/permissions'] button.primary")
		tab.Expect(http.StatusOK, "The permissions are changed", "2 of ")
		hers.Go(s.p.AppURL + "/dashboard/keys")
		hers.Expect(http.StatusOK, "API keys")

		tab.Submit("a[href='/dashboard/members/" + ada.ID + "']")
		tab.Unfold("form[action$='/remove']")
		tab.Picture("member-removing")
		tab.Submit("form[action$='/remove'] button")
		tab.Expect(http.StatusOK, "is no longer a member of the organization")
		hers.Go(s.p.AppURL + "/dashboard")
		hers.Expect(http.StatusOK, "Sign in", "Password")
	})
}
