package whole

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/mailsettings"
	"github.com/mailhelm/mailhelm/core/tags"
)

// TestTemplateIsDeployed saves a template by the tool, waits for the job that deploys it,
// and finds it by its tag.
func TestTemplateIsDeployed(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		c, ctx := callerOf(t, p, p.Live), t.Context()
		settings := mailsettings.Default()
		settings.PostalAddress, settings.UpdatedAt = "Orchard Ltd\nGraz", p.Clock.Now().Add(-time.Minute)
		if err := p.DB.MailSettings().SaveMailSettings(ctx, p.OrgID, settings); err != nil {
			t.Fatal(err)
		}
		if got := c.callTool(t, "templates_author", map[string]any{"slug": "news/weekly", "html": "<p>Hello {{first_name}}</p>"}); got.output()["version_number"] != 1.0 {
			t.Fatal(got.body)
		}
		get := func(path string) answer { return send(t, p, http.MethodGet, p.BaseURL+path, c.rest, "") }
		var detail map[string]any
		product.Await(t, time.Minute, func() error {
			if detail = get("/v1/templates/news%2Fweekly").object; detail["deployed_version"] != 1.0 || detail["deploy_failure"] != nil {
				return fmt.Errorf("the template is %v", detail)
			}
			return nil
		})
		name, _ := detail["deployed_name"].(string)
		if stored, err := p.Simulator.Template(ctx, p.OrgID, name); err != nil || !strings.Contains(stored.HTML, "Orchard Ltd<br>Graz") || !strings.Contains(stored.Text, "{{unsubscribe_url}}") {
			t.Errorf("the account has %+v, %v", stored, err)
		}

		record, _, err := p.DB.Templates().Template(ctx, p.OrgID, "news/weekly")
		if err != nil {
			t.Fatal(err)
		}
		tag := tags.Tag{ID: core.NewID(), Name: "Spring + news", Color: "#16a34a", CreatedAt: p.Clock.Now()}
		if err := p.DB.Tags().InsertTag(ctx, p.OrgID, tag); err != nil {
			t.Fatal(err)
		}
		if err := p.DB.Tags().SetTemplateTags(ctx, p.OrgID, record.ID, []string{tag.ID}); err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]string{
			"/v1/tags":                          `"name":"Spring + news","color":"#16a34a","broadcast_count":0,"template_count":1`,
			"/v1/templates?tag=Spring+%2B+news": `"slug":"news/weekly"`,
			"/v1/templates?tag=spring":          `"data":[]`,
			"/v1/templates/news%2Fweekly":       `"tags":["Spring + news"]`,
		} {
			if got := get(path); got.status != http.StatusOK || !strings.Contains(got.body, want) {
				t.Errorf("%s: %d %s, want %s", path, got.status, got.body, want)
			}
		}
		if got := get("/v1/templates?untagged=true"); got.status != http.StatusOK || strings.Contains(got.body, "news/weekly") {
			t.Errorf("untagged: %s", got.body)
		}
		if got := c.callTool(t, "templates_list", map[string]any{"tag": tag.Name}); !strings.Contains(got.body, "news/weekly") {
			t.Errorf("the tool: %s", got.body)
		}
	})
}
