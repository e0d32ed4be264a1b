package dashboard_test

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
)

var older = regexp.MustCompile(`<a class="button" href="([^"]*)">Older</a>`)

func TestAuditLog(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		boss, ada := owner(t, p), person(t, p, "ada", members.PlainMember)
		noon := time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
		for i := range 120 {
			e := access.AuditEvent{
				ID: core.NewID(), OrgID: p.OrgID, OccurredAt: noon.Add(time.Duration(i/3) * time.Second), Action: "member.permissions_updated",
				ActorKind: "user", ActorID: ada.ID, SubjectID: fmt.Sprintf("subject-%03d", i), Detail: `{"added":["lists.view"],"removed":["<b>"]}`,
			}
			if err := p.DB.Audit().AppendAudit(t.Context(), e); err != nil {
				t.Fatal(err)
			}
		}
		path, pages, seen := "/dashboard/audit?action=member.permissions_updated&actor="+ada.ID+"&from=2024-02-29&to=2024-02-29", 0, map[string]bool{}
		for path != "" {
			page := boss.open(path)
			pages++
			for i := range 120 {
				if subject := fmt.Sprintf("subject-%03d", i); strings.Contains(page, subject) {
					if seen[subject] {
						t.Errorf("%s is on two pages", subject)
					}
					seen[subject] = true
				}
			}
			boss.wants(page, "ada (ada@example.com)", "Permissions of a member changed", "<code>lists.view</code>", "&lt;b&gt;", "2024-02-29 12:00:")
			path = ""
			if next := older.FindStringSubmatch(page); next != nil {
				path = html.UnescapeString(next[1])
			}
		}
		if pages != 3 || len(seen) != 120 {
			t.Errorf("%d pages with %d events", pages, len(seen))
		}

		boss.wants(boss.open("/dashboard/audit?to=2024-02-28"), "No event matches this filter")
		boss.wants(boss.open("/dashboard/audit?action=user.signed_in"), "Signed in", "<code>user.signed_in</code>")
		boss.wants(boss.open("/dashboard/audit?action=contacts_create&actor="+core.NewID()), `<option value="contacts_create" selected>Create a contact (contacts_create)</option>`)
		for _, query := range []string{"from=yesterday", "to=2024-02-30", "before=x", "action=%00", "actor=%FF"} {
			if status, _, _ := boss.send("/dashboard/audit?"+query, nil); status < http.StatusBadRequest || status >= http.StatusInternalServerError {
				t.Errorf("%s: %d", query, status)
			}
		}
	})
}
