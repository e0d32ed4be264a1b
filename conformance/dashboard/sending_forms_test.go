package dashboard_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
)

// TestFormsAboutSendingProveWhereTheyComeFrom checks every form on the pages about sending.
// A form must be refused if it lacks the token of its page, comes from another site, or
// comes without a session.
func TestFormsAboutSendingProveWhereTheyComeFrom(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		boss, stranger := owner(t, p), owner(t, p)
		address := "/dashboard/undeliverable/" + listAddresses(t, p, p.OrgID, "gone@example.com")[0].ID()
		before := audited(t, p)
		for path, filled := range map[string]url.Values{
			"/dashboard/channels/sync": nil, "/dashboard/channels/main/adopt": nil,
			address + "/exclude": {"reason": {"They wrote to us"}}, "/dashboard/undeliverable/rules/save": {"profile": {"strict"}},
			connectPage: {"provider": {"simulator"}}, accountPage + "/verify": nil, accountPage + "/template-version": {"template_version": {"1"}},
			accountPage + "/events-key": nil, accountPage + "/disconnect": nil,
			accountPage + "/production-access": {"mail_type": {"transactional"}, "website": {"https://example.com"}, "use_case": {strings.Repeat("We send receipts. ", 5)}},
		} {
			with := func(token string) url.Values {
				form := url.Values{"token": {token}}
				for name, values := range filled {
					form[name] = values
				}
				return form
			}
			good := boss.proof(p.OrgID, path).Get("token")
			for what, token := range map[string]string{
				"no token": "", "a wrong one": good + "A", "another path's": boss.proof(p.OrgID, path+"/x").Get("token"),
				"another organization's": boss.proof(p.Other.OrgID, path).Get("token"), "another session's": stranger.proof(p.OrgID, path).Get("token"),
			} {
				if status, _, text := boss.send(path, with(token)); status != http.StatusForbidden || !strings.Contains(text, "was outdated") {
					t.Errorf("%s with %s: %d", path, what, status)
				}
			}
			for _, header := range [][2]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"}, {"Origin", "null"}} {
				if status, _ := boss.raw(http.MethodPost, path, with(good), header[0], header[1]); status != http.StatusForbidden {
					t.Errorf("%s with %v: %d", path, header, status)
				}
			}
			if status, location, _ := newBrowser(t, p).send(path, with(good)); status != http.StatusSeeOther || !strings.HasPrefix(location, "/login") {
				t.Errorf("%s of nobody: %d to %q", path, status, location)
			}
		}
		sameLines(t, before, audited(t, p))
	})
}
