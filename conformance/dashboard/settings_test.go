package dashboard_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		boss := owner(t, p)
		const here = "/dashboard/settings"
		page := boss.open(here)
		boss.wants(page, "account_ref", "set up your own second factor", "Slug")
		page = boss.submit(page, here, func(form url.Values) {
			form.Set("name", "Acme & Söhne")
			form.Set("platform_mode", "on")
		})
		boss.wants(page, "The settings are saved", `value="Acme &amp; Söhne"`, `name="platform_mode" checked`)
		org, err := p.DB.Orgs().Org(t.Context(), p.OrgID)
		if err != nil || org.Name != "Acme & Söhne" || !org.PlatformMode || org.RequireSecondFactor {
			t.Errorf("%+v, %v", org, err)
		}

		form := boss.form(page, here)
		form.Set("require_second_factor", "on")
		status, _, text := boss.send(here, form)
		if status != http.StatusConflict {
			t.Errorf("requiring what one has not proven: %d", status)
		}
		boss.wants(text, "lock you out", "Acme &amp; Söhne")
		form.Del("require_second_factor")
		form.Set("name", " ")
		status, _, text = boss.send(here, form)
		if status < http.StatusBadRequest || status >= http.StatusInternalServerError {
			t.Errorf("no name: %d %s", status, text)
		}
		boss.wants(boss.open("/dashboard/audit"), "Settings changed", "<bdi>no</bdi> → <bdi>yes</bdi>", "Acme &amp; Söhne")
	})
}

// TestAnOldSettingsFormChangesWhatItsPersonDid checks that a form in an old tab changes
// only the fields that its user edited. Changes that others saved since the form was loaded
// must stay.
func TestAnOldSettingsFormChangesWhatItsPersonDid(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		boss := owner(t, p)
		const here = "/dashboard/settings"
		old := boss.open(here)
		set := func(name string, require, platform bool) {
			t.Helper()
			org, err := p.DB.Orgs().Org(t.Context(), p.OrgID)
			if err != nil {
				t.Fatal(err)
			}
			org.Name, org.RequireSecondFactor, org.PlatformMode = name, require, platform
			if err := p.DB.Orgs().SetOrgSettings(t.Context(), org); err != nil {
				t.Fatal(err)
			}
		}
		wants := func(what, name string, platform bool) {
			t.Helper()
			org, err := p.DB.Orgs().Org(t.Context(), p.OrgID)
			if err != nil || org.Name != name || org.PlatformMode != platform {
				t.Errorf("%s: %+v, %v", what, org, err)
			}
		}
		set("Elsewhere", false, true)
		refused := boss.form(old, here)
		refused.Set("name", " ")
		// the page shows the refused form again, still with the values from when it was
		// loaded
		_, _, problem := boss.send(here, refused)
		boss.submit(problem, here, func(form url.Values) { form.Set("name", "Renamed") })
		wants("renamed in an old tab", "Renamed", true)

		old = boss.open(here)
		set("Elsewhere", false, true)
		boss.submit(old, here, func(form url.Values) { form.Del("platform_mode") })
		wants("switched off in an old tab", "Elsewhere", false)
		boss.wants(boss.open("/dashboard/audit"), "Settings changed")
	})
}
