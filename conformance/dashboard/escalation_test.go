package dashboard_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/members"
)

// TestAddressesOfAMorePowerfulClient checks who may add a redirect URI to an application. A
// member needs every permission that people may grant to the application, because the owner
// of a redirect URI receives the application's codes.
func TestAddressesOfAMorePowerfulClient(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		boss := owner(t, p)
		path, _ := boss.newClient("Everything", func(form url.Values) { form.Set("redirect_uris", "https://app.example.com/cb") },
			"api.lists.view", "api.contacts.manage")
		person(t, p, "kim", members.PlainMember, members.MayManageCredentials, members.MayViewLists)
		kim := newBrowser(t, p)
		kim.signIn("kim@example.com", personPassword)

		edit := func(change func(url.Values)) (int, string) {
			form := kim.form(kim.open(path+"/edit"), path+"/edit")
			change(form)
			status, _, text := kim.send(path+"/edit", form)
			return status, text
		}
		wanted := "https://app.example.com/cb"
		for what, uris := range map[string]string{
			"one more": wanted + "\nhttps://kim.example/cb", "another": "https://kim.example/cb", "one on this machine": wanted + "\nhttp://localhost/cb",
		} {
			status, text := edit(func(form url.Values) { form.Set("redirect_uris", uris) })
			if status != http.StatusUnprocessableEntity || !strings.Contains(text, "you do not have the permission for it") {
				t.Errorf("%s: %d %s", what, status, text)
			}
			if got := stored(t, p, path).RedirectURIs; !slices.Equal(got, []string{wanted}) {
				t.Errorf("%s: codes go to %v", what, got)
			}
		}
		if status, _, _ := kim.send(path+"/secret", kim.form(kim.open(path+"/secret"), path+"/secret")); status != http.StatusConflict {
			t.Errorf("its secret: %d", status)
		}
		if status, text := edit(func(form url.Values) { form.Set("name", "Renamed") }); status != http.StatusSeeOther {
			t.Errorf("another name: %d %s", status, text)
		}
		if status, text := edit(func(form url.Values) { form.Set("redirect_uris", "") }); status != http.StatusSeeOther {
			t.Errorf("an address taken away: %d %s", status, text)
		}
		status, text := edit(func(form url.Values) {
			form["scope"] = []string{"api.lists.view"}
			form.Set("redirect_uris", "https://kim.example/cb")
		})
		if status != http.StatusSeeOther {
			t.Errorf("with no more than one's own: %d %s", status, text)
		}
	})
}
