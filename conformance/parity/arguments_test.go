package parity

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
)

// TestToolsRefuseByName sends invalid arguments to the tools that read messages,
// suppressions, templates and reports. Each tool must refuse with validation_failed and
// name the argument.
func TestToolsRefuseByName(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		agent := p.Token(t, p.MCPURL)
		refuse := func(tool, member string, values ...any) {
			t.Helper()
			for _, value := range values {
				arguments, err := json.Marshal(map[string]any{member: value})
				if err != nil {
					t.Fatal(err)
				}
				got, status := (sameness{tool: tool, arguments: string(arguments)}).callTool(t, p, agent)
				if got["code"] != "validation_failed" || got["status"] != 422.0 || status != 200 || !slices.Contains(fieldsOf(got), member) {
					t.Errorf("%s%.200s: %d %v", tool, arguments, status, got)
				}
			}
		}
		times := []any{"yesterday", "", "2026-13-01T00:00:00Z", "2026-01-01", 1767225600, true, nil, []any{}, strings.Repeat("9", 10_000)}
		for _, tool := range []string{"messages_search", "reports_get_sending_health"} {
			refuse(tool, "from", times...)
			refuse(tool, "to", times...)
			refuse(tool, "from", "9999-01-01T00:00:00Z")
			refuse(tool, "channel", 7, []any{}, strings.Repeat("x", 101))
		}
		refuse("suppressions_list", "since", times...)
		refuse("undeliverable_list", "since", times...)
		for _, tool := range []string{"messages_search", "suppressions_list", "undeliverable_list", "templates_list"} {
			refuse(tool, "limit", 0, -1, 201, 1.5, "5", true, 1e30)
		}
		refuse("messages_search", "limit", 51)
		refuse("suppressions_list", "limit", 51)
		refuse("messages_search", "status", "bounces", "Bounce ", "", "Subscription", 1)
		refuse("suppressions_list", "reason", "whim", "", "BOUNCES")
		refuse("undeliverable_list", "status", "gone", "")
		refuse("reports_get_sending_health", "group_by", "days", "", "year")
		refuse("messages_diagnose", "message_id", "", 1, nil, strings.Repeat("m", 257))
		refuse("suppressions_check_address", "email", "", "nobody", "a b@example.com", "a@b@c", strings.Repeat("a", 10_000)+"@example.com")
		for _, tool := range []string{"messages_search", "messages_diagnose", "suppressions_list", "undeliverable_list", "templates_list", "reports_get_sending_health"} {
			refuse(tool, "cursor", "x")
			refuse(tool, "offset", 1)
		}
		for _, tool := range []string{"messages_search", "reports_get_sending_health"} {
			got, _ := (sameness{tool: tool, arguments: `{"from":"2001-01-01T00:00:00Z"}`}).callTool(t, p, agent)
			if got["code"] != "plan_retention_exceeded" || got["status"] != 403.0 || got["retention_days"] != 365.0 {
				t.Errorf("%s before the retention: %v", tool, got)
			}
		}
	})
}

func fieldsOf(problem map[string]any) []string {
	var fields []string
	all, _ := problem["errors"].([]any)
	for _, one := range all {
		of, _ := one.(map[string]any)
		field, _ := of["field"].(string)
		fields = append(fields, field)
	}
	return fields
}
