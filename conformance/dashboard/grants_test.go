package dashboard_test

import (
	"net/http"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/members"
)

func TestGrantsOfOneselfAndOfOthers(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		boss := owner(t, p)
		ann, bob := person(t, p, "ann", members.PlainMember, members.MayViewLists), person(t, p, "bob", members.PlainMember)
		anns := newBrowser(t, p)
		anns.signIn(ann.Email, personPassword)
		anns.wants(anns.open("/dashboard/grants"), "You have not granted access to any application", p.MCPURL+"/mcp")

		token := anns.token(p.BaseURL, "api.lists.view")
		calls(t, p, "/v1/lists", token, http.StatusOK)
		client := documented(t, p, "https://bobs.example/client.json", "Bobs helper")
		of := granted(t, p, client, bob.ID)

		page := anns.open("/dashboard/grants")
		anns.wants(page, "Assistant", "registered by", "the public API", "api.lists.view")
		anns.lacks(page, "Bobs helper", "/dashboard/clients/block")
		boss.wants(boss.open("/dashboard/grants"), "Grants of other members", "Assistant", "Bobs helper", "bob@example.com", "at bobs.example")

		// The token of a form is bound to the session, so the owner's form is refused in the
		// member's session.
		foreign := "/dashboard/grants/" + of.ID + "/revoke"
		form := boss.form(boss.open("/dashboard/grants"), foreign)
		if status, _, _ := anns.send(foreign, form); status != http.StatusForbidden {
			t.Errorf("with the form of another session: %d", status)
		}
		mine := forms.FindStringSubmatch(page)
		for _, found := range forms.FindAllStringSubmatch(page, -1) {
			if found[1] != "/logout" {
				mine = found
			}
		}
		anns.wants(anns.submit(page, mine[1], unchanged), "The access has ended")
		calls(t, p, "/v1/lists", token, http.StatusUnauthorized)

		boss.wants(boss.submit(boss.open("/dashboard/grants"), foreign, unchanged), "The access has ended")
		if got, err := p.DB.Grants().Grant(t.Context(), p.OrgID, of.ID); err != nil || got.RevokedAt == nil {
			t.Errorf("the grant goes on: %+v %v", got, err)
		}
		if n := audited(t, p)["oauth_grant.revoked"]; n != 2 {
			t.Errorf("%d lines, want 2", n)
		}
	})
}
