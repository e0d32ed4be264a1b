package browser_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/browser"
	"github.com/mailhelm/mailhelm/conformance/product"
)

// TestDefinitions registers an attribute, reviews and saves a change, and deletes the
// attribute. It then promotes a property and opens the pages of activities and templates.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	withAndWithoutScripts(t, func(t *testing.T, s *scene, tab *browser.Tab) {
		s.openSignedIn(tab, "/dashboard/attributes/new")
		tab.Fill("#name", "favourite_roast")
		tab.Fill("#description", "Roast <b>profile</b>")
		tab.Submit("form[action$='/attributes/new'] button.primary")
		tab.Expect(http.StatusOK, "favourite_roast", "The attribute is registered", "Roast <b>profile</b>")
		tab.ExpectReachable()
		tab.Submit(".actions a[href$='/edit']")
		tab.Fill("#name", "roast")
		tab.Submit("button[value=review]")
		tab.Expect(http.StatusOK, "Review changes", "disruptive", "No contact loses a value")
		tab.Picture("attribute-review")
		tab.Submit("button[value=edit]")
		tab.Expect(http.StatusOK, "Edit attribute")
		tab.Submit("button[value=review]")
		tab.Submit("button[value=save]")
		tab.Expect(http.StatusOK, "The attribute is saved", "attr.roast")
		tab.Go(tab.Address().Scheme + "://" + tab.Address().Host + tab.Address().Path + "/delete")
		tab.Expect(http.StatusOK, "The values stay stored")
		tab.Submit("button.danger")
		tab.Expect(http.StatusOK, "The attribute is deleted")

		tab.Go(s.p.AppURL + "/dashboard/activities/properties/new?activity=purchase&property=amount")
		tab.Submit("form[action$='/properties/new'] button.primary")
		tab.Expect(http.StatusOK, "The property is promoted", "purchase", "amount")
		for path, text := range map[string]string{"/dashboard/activities": "What contacts did", "/dashboard/templates": "Email templates of the sending account"} {
			tab.Go(s.p.AppURL + path)
			tab.Expect(http.StatusOK, text)
		}
	})
}

// TestRoles checks that the choice of a role ticks the boxes of an invitation, with and
// without the script.
func TestRoles(t *testing.T) {
	t.Parallel()
	s := newScene(t, product.Options{})
	for name, opts := range map[string]browser.Options{"with scripts": {}, "without scripts": {NoScript: true}} {
		tab := browser.Open(t, opts)
		s.openSignedIn(tab, "/dashboard/members/invite")
		if !strings.Contains(tab.Text(), "domain_auth.manage") || !strings.Contains(tab.Text(), "contacts.manage") {
			t.Errorf("%s: permissions: %s", name, tab.Text())
		}
		if click := ".roles a[href$='role=marketer']"; opts.NoScript {
			tab.Submit(click)
		} else {
			tab.Mark(click)
		}
		tab.Expect(http.StatusOK, "Invite a member")
		chosen := strings.Join(tab.ReadAll("li:has(input[name=permission]:checked) code"), " ")
		if !strings.Contains(chosen, "contacts.manage") || strings.Contains(chosen, "credentials.manage") {
			t.Errorf("%s: ticked: %s", name, chosen)
		}
	}
}
