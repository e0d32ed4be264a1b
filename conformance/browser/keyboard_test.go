package browser_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/mailhelm/mailhelm/conformance/browser"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/channels"
)

// TestListsAndTopicsByKeyboard creates a list, puts a contact on it, takes the contact off
// and deletes the list, and creates and edits a topic, without a mouse and without scripts.
func TestListsAndTopicsByKeyboard(t *testing.T) {
	t.Parallel()
	s, tab := newScene(t, product.Options{}), browser.Open(t, browser.Options{NoScript: true})
	s.openSignedIn(tab, "/dashboard/lists")
	follow(tab, "/dashboard/lists/new")
	tab.TabTo("input name")
	tab.Press("Night owls")
	tab.PressToSubmit(kb.Enter)
	tab.Expect(http.StatusOK, "Night owls", "night-owls", "The list was created")
	tab.TabTo("input email")
	tab.Press("owl@example.com")
	tab.PressToSubmit(kb.Enter)
	tab.Expect(http.StatusOK, "owl@example.com")
	follow(tab, "Remove")
	follow(tab, "/delete")
	tab.Expect(http.StatusOK, "Delete list?")
	follow(tab, "Delete list")
	tab.Expect(http.StatusOK, "The list was deleted")

	tab.Go(s.p.AppURL + "/dashboard/topics/new")
	tab.TabTo("input name")
	tab.Press("night-news")
	tab.TabTo("display_name")
	tab.Press("Night news")
	tab.PressToSubmit(kb.Enter)
	tab.Expect(http.StatusOK, "The topic was created in the sending account", "night-news")
	follow(tab, "/edit")
	tab.TabTo("description")
	tab.Press("What happened at night")
	tab.PressToSubmit(kb.Enter)
	tab.Expect(http.StatusOK, "The topic was changed", "What happened at night")
}

// TestContactsByKeyboard finds a contact, edits it and archives it, without a mouse and
// without scripts.
func TestContactsByKeyboard(t *testing.T) {
	t.Parallel()
	s, tab := newScene(t, product.Options{}), browser.Open(t, browser.Options{NoScript: true})
	s.openSignedIn(tab, "/dashboard/contacts/new")
	tab.TabTo("input email")
	tab.Press("owl@example.com")
	tab.PressToSubmit(kb.Enter)
	tab.Expect(http.StatusOK, "The contact is created")
	tab.Go(s.p.AppURL + "/dashboard/contacts")
	tab.TabTo("input q")
	tab.Press("owl@")
	tab.PressToSubmit(kb.Enter)
	follow(tab, "owl@example.com")
	follow(tab, "/edit")
	tab.TabTo("external_id")
	tab.Press("night-1")
	tab.PressToSubmit(kb.Enter)
	tab.Expect(http.StatusOK, "The changes are saved", "night-1")
	follow(tab, "/archive")
	follow(tab, "button Archive contact")
	tab.Expect(http.StatusOK, "The contact is archived")
}

// TestDefinitionsByKeyboard registers an attribute, reviews a change of its description,
// saves the change and deletes the attribute, without a mouse and without scripts.
func TestDefinitionsByKeyboard(t *testing.T) {
	t.Parallel()
	s, tab := newScene(t, product.Options{}), browser.Open(t, browser.Options{NoScript: true})
	s.openSignedIn(tab, "/dashboard/attributes")
	follow(tab, "/dashboard/attributes/new")
	tab.TabTo("input name")
	tab.Press("favourite_roast")
	tab.PressToSubmit(kb.Enter)
	tab.Expect(http.StatusOK, "The attribute is registered")
	follow(tab, "/edit")
	tab.TabTo("textarea description")
	tab.Press("How dark")
	follow(tab, "review")
	tab.Expect(http.StatusOK, "Review changes", "How dark")
	follow(tab, "save")
	tab.Expect(http.StatusOK, "The attribute is saved")
	follow(tab, "/delete")
	follow(tab, "Delete attribute")
	tab.Expect(http.StatusOK, "The attribute is deleted")
}

// TestSegmentsByKeyboard writes a segment with a fault and then with parts that contradict
// each other, corrects both, saves it and pauses it, without a mouse.
func TestSegmentsByKeyboard(t *testing.T) {
	t.Parallel()
	s, tab := newScene(t, product.Options{}), browser.Open(t, browser.Options{})
	s.openSignedIn(tab, "/dashboard/segments")
	follow(tab, "/dashboard/segments/new")
	tab.TabTo("input name")
	tab.Press("Yearly")
	tab.TabTo("input key")
	tab.Press("yearly")
	tab.TabTo("textarea source")
	tab.Press("attr.oders > 5")
	tab.AwaitText("#preview", "is not registered")
	erase := func(n int) { tab.Press(strings.Repeat(kb.Backspace, n)) }
	erase(len("oders > 5"))
	tab.Press("orders > 5 and attr.orders < 3")
	tab.AwaitText("#preview", "no contact matches")
	erase(len(" and attr.orders < 3"))
	tab.AwaitText("#preview", "Contacts whose orders is more than 5.")
	if strings.Contains(tab.Read("#preview"), "Check these parts") {
		t.Error("the corrected predicate has a warning")
	}
	follow(tab, "Save segment")
	tab.Expect(http.StatusOK, "The segment is saved", "orders is more than 5")
	follow(tab, "/pause")
	follow(tab, "Pause segment")
	tab.Expect(http.StatusOK, "The segment is paused", "Resume segment")
}

// TestAccessByKeyboard creates an API key from the role of a viewer and revokes it, and
// invites a member, without a mouse and without scripts.
func TestAccessByKeyboard(t *testing.T) {
	t.Parallel()
	s, tab := newScene(t, product.Options{}), browser.Open(t, browser.Options{NoScript: true})
	s.openSignedIn(tab, "/dashboard/keys")
	s.createAndRevoke(tab, "/dashboard/keys", "Reader", "The key is not shown again", "Revoke key")
	tab.Expect(http.StatusOK, "The key is revoked")

	tab.Go(s.p.AppURL + "/dashboard/members")
	follow(tab, "/dashboard/members/invite")
	follow(tab, "role=marketer")
	tab.TabTo("input email")
	tab.Press("new@example.com")
	tab.PressToSubmit(kb.Enter)
	tab.Expect(http.StatusOK, "new@example.com")
}

// TestOrganizationByKeyboard registers and revokes an application, renames the organization,
// adopts a channel and revokes the access of an assistant, without a mouse and without
// scripts.
func TestOrganizationByKeyboard(t *testing.T) {
	t.Parallel()
	s, tab := newScene(t, product.Options{Past: true}), browser.Open(t, browser.Options{NoScript: true})
	s.openSignedIn(tab, "/dashboard/clients")
	s.createAndRevoke(tab, "/dashboard/clients", "Exporter", "The secret is not shown again", "Revoke application")
	tab.Expect(http.StatusOK, "revoked")

	tab.Go(s.p.AppURL + "/dashboard/settings")
	tab.TabTo("input name")
	tab.Press(" and Tea")
	tab.PressToSubmit(kb.Enter)
	tab.Expect(http.StatusOK, "The settings are saved")
	if org, err := s.p.DB.Orgs().Org(t.Context(), s.p.OrgID); err != nil || !strings.Contains(org.Name, "and Tea") {
		t.Errorf("the name is %q: %v", org.Name, err)
	}

	tab.Go(s.p.AppURL + "/dashboard/channels")
	follow(tab, "Adopt channel")
	tab.Expect(http.StatusOK, "Channels")
	if channel, err := s.p.DB.Channels().Channel(t.Context(), s.p.OrgID, channels.ChannelKey{Slug: "default"}); err != nil || channel.Status != channels.Active {
		t.Errorf("the channel is %s: %v", channel.Status, err)
	}

	tab.Go(s.p.AppURL + "/dashboard/connect")
	follow(tab, "Newsletter assistant")
	tab.TabTo("Revoke this access")
	tab.Press(kb.Enter) // opens the folded question
	follow(tab, "Revoke access")
	tab.Expect(http.StatusOK, "The access has ended")
}

// createAndRevoke creates an API key or an application from the role of a viewer, and revokes
// it. The tab must show list, the page of all keys or applications. created is a text of the
// page after the creation, and revoke the text of the button that revokes.
func (s *scene) createAndRevoke(tab *browser.Tab, list, name, created, revoke string) {
	s.t.Helper()
	follow(tab, list+"/new")
	follow(tab, "role=viewer")
	tab.TabTo("input name")
	tab.Press(name)
	tab.PressToSubmit(kb.Enter)
	tab.Expect(http.StatusOK, created)
	tab.Go(s.p.AppURL + list)
	follow(tab, name)
	follow(tab, "/revoke")
	follow(tab, revoke)
}

// follow moves the focus to the control with the text in its description, and presses Enter.
func follow(tab *browser.Tab, text string) {
	tab.TabTo(text)
	tab.PressToSubmit(kb.Enter)
}
