package dashboard_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/suppression"
)

// listAddresses stores addresses as undeliverable for an organization and returns the
// stored entries. The reason of each entry is one permanent bounce.
func listAddresses(t *testing.T, p *product.Product, orgID string, emails ...string) []suppression.Entry {
	t.Helper()
	var entries []suppression.Entry
	for i, email := range emails {
		at := p.Clock.Now().Add(-time.Duration(i) * time.Hour).UTC().Truncate(time.Microsecond)
		entries = append(entries, suppression.Entry{
			Key: suppression.AddressKey(email), Email: email, Status: suppression.Listed, Reason: suppression.PermanentBounce,
			FirstSeenAt: at, LastSeenAt: at, LastChangedAt: at, EventCount: 1,
		})
	}
	if err := p.DB.Suppression().SaveEntries(t.Context(), orgID, entries); err != nil {
		t.Fatal(err)
	}
	return entries
}

func TestUndeliverableAddresses(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		boss := owner(t, p)
		const here = "/dashboard/undeliverable"
		boss.wants(boss.open(here+"?q=nobody-at-all"), "No address matches this filter")
		entries := listAddresses(t, p, p.OrgID, "Gone@Example.com", `"><script>alert(1)</script>@x.example`)
		foreign := listAddresses(t, p, p.Other.OrgID, "theirs@example.com")[0]

		page := boss.open(here)
		boss.wants(page, "Gone@Example.com", "Permanent bounce", "&lt;script&gt;")
		if strings.Contains(page, "<script>") || strings.Contains(page, "theirs@example.com") {
			t.Error("the list shows what it must not")
		}
		if found := boss.open(here + "?q=GONE%40"); !strings.Contains(found, "Gone@Example.com") || strings.Contains(found, "x.example") {
			t.Errorf("a search in other case: %s", found)
		}
		for _, query := range []string{"?q=%00", "?q=%ff", "?q=" + strings.Repeat("x", 300), "?before=nonsense"} {
			if status, _, _ := boss.send(here+query, nil); status < 400 || status >= 500 {
				t.Errorf("%s: %d", query, status)
			}
		}
		for _, id := range []string{foreign.ID(), "nonsense", strings.Repeat("0", 32), "%00"} {
			if status, _, _ := boss.send(here+"/"+id, nil); status != http.StatusNotFound {
				t.Errorf("%s: %d", id, status)
			}
		}

		one := here + "/" + entries[0].ID()
		shown := boss.open(one)
		boss.wants(shown, "1, on <time>")
		form := boss.form(shown, one+"/exclude")
		for _, reason := range []string{"", " ", "a\nb", "\u202eevil", strings.Repeat("x", 301)} {
			form.Set("reason", reason)
			if status, _, text := boss.send(one+"/exclude", form); status != http.StatusBadRequest && status != http.StatusUnprocessableEntity {
				t.Errorf("the reason %q: %d %s", reason, status, text)
			}
		}
		page = boss.submit(boss.open(one), one+"/exclude", func(form url.Values) { form.Set("reason", "Wrote to us <today>") })
		boss.wants(page, "The address is excluded", "Wrote to us &lt;today&gt;")
		form.Set("reason", "once more")
		if status, _, _ := boss.send(one+"/exclude", form); status != http.StatusConflict {
			t.Errorf("excluding twice: %d", status)
		}
		if kept := boss.open(here + "?status=listed"); strings.Contains(kept, "Gone@Example.com") {
			t.Error("an excluded address is shown as listed")
		}
		boss.wants(boss.open("/dashboard/audit"), "Address excluded from the undeliverable list", "<bdi>listed</bdi> → <bdi>excluded</bdi>")
	})
}

func TestRulesOfUndeliverableAddresses(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		boss := owner(t, p)
		const here, save = "/dashboard/undeliverable/rules", "/dashboard/undeliverable/rules/save"
		page := boss.open(here)
		// phones cut off the text of long options, so a paragraph of the page explains each
		// option
		boss.wants(page, ">Standard</option>", "Standard also lists them after 3 transient bounces in 30 days")
		page = boss.submit(page, save, func(form url.Values) {
			form.Set("profile", "custom")
			form.Set("undetermined", "on")
			form.Set("undetermined_events", "7")
			form.Set("undetermined_days", "14")
		})
		boss.wants(page, "The rules are saved", `value="7"`, `value="14"`)
		form := boss.form(page, save)
		for _, wrong := range []string{"0", "101", "", "x", "999999999999999999999", "-1"} {
			form.Set("undetermined_events", wrong)
			if status, _, text := boss.send(save, form); status < 400 || status >= 500 {
				t.Errorf("%q events: %d %s", wrong, status, text)
			}
		}
		form.Set("profile", "lenient")
		if status, _, _ := boss.send(save, form); status < 400 || status >= 500 {
			t.Errorf("no such profile: %d", status)
		}
		boss.wants(boss.open("/dashboard/audit"), "Rules of undeliverable addresses changed", "<bdi>off</bdi> → <bdi>7 in 14 days</bdi>", "<bdi>standard</bdi> → <bdi>custom</bdi>")
	})
}

// TestUndeliverablePermissions checks that viewing undeliverable addresses, excluding an
// address and changing the rules need three different permissions.
func TestUndeliverablePermissions(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	one := "/dashboard/undeliverable/" + listAddresses(t, p, p.OrgID, "gone@example.com")[0].ID()
	const rules = "/dashboard/undeliverable/rules"
	signedIn := func(name string, may ...members.Permission) *browser {
		person(t, p, name, members.PlainMember, may...)
		b := newBrowser(t, p)
		b.signIn(name+"@example.com", personPassword)
		return b
	}
	viewer := signedIn("viewer", members.MayViewUndeliverable)
	if page := viewer.open(one); strings.Contains(page, "Exclude this address") {
		t.Error("who may only look is offered to exclude")
	}
	if page := viewer.open(rules); strings.Contains(page, "Save rules") {
		t.Error("who may only look is offered to change the rules")
	}
	manager := signedIn("manager", members.MayViewUndeliverable, members.MayManageUndeliverable)
	for _, c := range []struct {
		who  *browser
		path string
		want int
	}{
		{signedIn("nobody"), "/dashboard/undeliverable", http.StatusForbidden},
		{viewer, one + "/exclude", http.StatusForbidden},
		{viewer, rules + "/save", http.StatusForbidden},
		{manager, rules + "/save", http.StatusForbidden},
	} {
		var form url.Values
		if strings.HasSuffix(c.path, "/exclude") || strings.HasSuffix(c.path, "/save") {
			form = url.Values{"reason": {"x"}, "profile": {"strict"}}
		}
		if status, _, _ := c.who.send(c.path, form); status != c.want {
			t.Errorf("%s: %d, want %d", c.path, status, c.want)
		}
	}
	manager.submit(manager.open(one), one+"/exclude", func(form url.Values) { form.Set("reason", "asked") })
}
