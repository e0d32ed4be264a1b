package browser_test

import (
	"net/http"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/browser"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/unsubscribe"
)

// TestUnsubscribePages checks that a recipient who is not signed in can unsubscribe, undo
// that and save preferences in a browser, and that the pages fit on a phone.
func TestUnsubscribePages(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]browser.Options{"with scripts": {}, "without scripts": {NoScript: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, tab := product.Start(t, product.Options{}), browser.Open(t, opts)
			contact, err := p.DB.Contacts().ContactByEmail(t.Context(), p.OrgID, p.Contact)
			if err != nil {
				t.Fatal(err)
			}
			link, err := p.UnsubscribeLinks(t).For(p.OrgID, unsubscribe.Recipient{ContactID: contact.ID, Topic: "brewing-tips"})
			if err != nil {
				t.Fatal(err)
			}
			check := func(name string) {
				if !opts.NoScript {
					tab.Picture(name)
					tab.Accessible("")
				}
			}
			tab.Go(link.Unsubscribe)
			tab.Expect(http.StatusOK, "Unsubscribe from “Brewing tips”?")
			check("unsubscribe")
			tab.ExpectReachable()
			tab.Submit("button")
			tab.Expect(http.StatusOK, "You are unsubscribed", "Subscribe again")
			check("unsubscribed")
			tab.Submit("button")
			tab.Expect(http.StatusOK, "You are subscribed again")
			check("subscribed-again")
			tab.Go(link.Preferences)
			tab.Expect(http.StatusOK, "New coffees", "Recipes and how-tos, twice a month.")
			check("preferences")
			tab.ExpectReachable()
			tab.Mark("input[type=checkbox][value='brewing-tips']")
			tab.Submit("button")
			tab.Expect(http.StatusOK, "Your choices are saved")
			check("preferences-saved")
			tab.Mark("input[name=none]")
			tab.Submit("button")
			tab.Go(link.Unsubscribe)
			tab.Expect(http.StatusOK, "You are unsubscribed", "no longer sends emails to")
			check("unsubscribed-from-all")
			tab.Go(p.AppURL + unsubscribe.Path + "incomplete")
			tab.Expect(http.StatusNotFound, "This link does not work")
			check("unsubscribe-bad-link")
			if stored, err := p.DB.Contacts().ContactByID(t.Context(), p.OrgID, contact.ID); err != nil || !stored.UnsubscribeAll {
				t.Errorf("stored %+v, %v", stored, err)
			}
		})
	}
}
