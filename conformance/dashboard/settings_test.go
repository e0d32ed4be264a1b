package dashboard_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		boss := owner(t, p)
		const here = "/dashboard/settings"
		page := boss.open(here)
		boss.wants(page, "account_ref", "set up a second factor of your own", "Short name")
		page = boss.submit(page, here, func(form url.Values) {
			form.Set("name", "Acme & Söhne")
			form.Set("platform_mode", "on")
		})
		boss.wants(page, "The settings are saved", `value="Acme &amp; Söhne"`, `name="platform_mode" checked`)
		org, err := p.DB.Access().Org(t.Context(), p.OrgID)
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
