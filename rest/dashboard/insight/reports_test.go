package insight_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	"github.com/mailhelm/mailhelm/rest/dashboard/insight"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// hostile is a name as an attacker would write it: a formula and HTML.
const hostile = `=HYPERLINK(\"http://x\") <script>alert(1)</script>`

// operationsOf prepares the results of the operations that the pages call.
func operationsOf(t *testing.T, o *office) *frametest.Operations {
	t.Helper()
	operations := &frametest.Operations{T: t, Results: map[string]string{
		"channels_list": `{"data":[{"id":"0196f0a0-0000-7000-8000-000000000001","name":"shop-set","slug":"shop","status":"active","tracking_domain":null,
			"suppression_policy":[],"identities":[],"created_at":"2026-03-01T00:00:00Z"}],"pagination":{"has_more":false,"next_cursor":null}}`,
		"reports_deliverability": `{"data":[{"period":"2026-03-02T00:00:00Z","sent":1200,"delivered":1100,"bounced":60,"complained":2,"suppressed":1,"delivery_rate":0.91667},
			{"period":"2026-03-09T00:00:00Z","sent":10,"delivered":10,"bounced":0,"complained":0,"suppressed":0,"delivery_rate":1}]}`,
		"reports_engagement": `{"data":[{"period":"2026-03-02T00:00:00Z","sent":1200,"delivered":1100,"opens":700,"unique_opens":500,"clicks":90,"unique_clicks":80,"open_rate":0.4545,"click_rate":0.0727}]}`,
		"reports_template_performance": `{"data":[{"template":"` + hostile + `","sent":5,"delivered":5,"bounced":0,"complained":0,"opens":1,"unique_opens":1,"clicks":0,
			"unique_clicks":0,"bounce_rate":0,"complaint_rate":0,"open_rate":0.2,"click_rate":0}]}`,
		"suppressions_list": `{"data":[{"email":"gone@example.com","reason":"bounce","suppressed_at":"2026-03-01T00:00:00Z","source":"ses_event"},
			{"email":"x@example.com","reason":"manual","suppressed_at":"2026-03-01T00:00:00Z","source":"manual"}],"pagination":{"has_more":true,"next_cursor":"NEXT"}}`,
	}}
	o.Frame.Operations = operations
	return operations
}

func TestGoldenReports(t *testing.T) {
	t.Parallel()
	o := newOffice(t, storagetest.SQLite(t))
	operations := operationsOf(t, o)
	for name, path := range map[string]string{
		"reports": insight.ReportsPath + "?group=week&channel=shop&from_day=2026-03-01&to_day=2026-03-12", "reports_engagement": insight.ReportsPath + "?report=engagement",
		"reports_templates": insight.ReportsPath + "?report=templates", "reports_refused": insight.ReportsPath + "?from_day=x",
		"suppressions": insight.SuppressionsPath + "?reason=bounce",
	} {
		_, page := frametest.Get(t, o.pages, path)
		frametest.CompareGolden(t, name, page, *update)
	}
	operations.Errors = map[string]*core.Error{"suppressions_list": {Code: core.CodeUpstreamUnavailable, Message: "The sending account does not answer."}}
	_, page := frametest.Get(t, o.pages, insight.SuppressionsPath)
	frametest.CompareGolden(t, "suppressions_unreadable", page, *update)
}

// TestReportFile checks the file with a report: its cells are those of the page, a formula
// in a name of another person is a text, and it needs the permission of the page.
func TestReportFile(t *testing.T) {
	t.Parallel()
	o := newOffice(t, storagetest.SQLite(t))
	operations := operationsOf(t, o)
	w := httptest.NewRecorder()
	o.pages.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, insight.ReportsPath+"/csv?report=templates", nil))
	want := "Template,Sent,Delivered,Bounced,Complained,Opened,Clicked,Bounce rate,Complaint rate,Open rate,Click rate\r\n" +
		`"'=HYPERLINK(""http://x"") <script>alert(1)</script>",5,5,0,0,1,0,0.00 %,0.00 %,20.00 %,0.00 %` + "\r\n"
	if diff := cmp.Diff(want, w.Body.String()); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
	if got := w.Header().Get("Content-Disposition"); got != `attachment; filename="mailhelm-templates.csv"` || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/csv") {
		t.Errorf("header %v", w.Header())
	}
	_ = operations.Calls()
	_, _ = frametest.Get(t, o.pages, insight.ReportsPath+"/csv?group=week&channel=shop&to_day=2026-03-12")
	calls := operations.Calls()
	if got := calls[len(calls)-1]; got.Name != "reports_deliverability" || got.Arguments != `{"channel":"0196f0a0-0000-7000-8000-000000000001","group_by":"week","to":"2026-03-13T00:00:00Z"}` {
		t.Errorf("call %+v", got)
	}
	o.Allow(members.MayViewLists)
	for _, path := range []string{insight.ReportsPath, insight.ReportsPath + "/csv", insight.SuppressionsPath, frame.Path + "/health"} {
		if status, _ := frametest.Get(t, o.pages, path); status != http.StatusForbidden {
			t.Errorf("%s without permission: %d", path, status)
		}
	}
}

// TestLinksBetweenLists checks that an undeliverable address leads to the account's list and
// its messages, for a visitor who may open them.
func TestLinksBetweenLists(t *testing.T) {
	t.Parallel()
	o := newOffice(t, storagetest.SQLite(t))
	operationsOf(t, o)
	o.Frame.Areas = append(o.Frame.Areas, frame.Area{Path: insight.SuppressionsPath, Name: "S"}, frame.Area{Path: frame.Path + "/messages", Name: "M"})
	_, page := frametest.Get(t, o.pages, insight.UndeliverablePath+"/"+o.address)
	for _, want := range []string{insight.SuppressionsPath + "?email=gone%40example.com", "/dashboard/messages?recipient=gone%40example.com"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	_, page = frametest.Get(t, o.pages, insight.SuppressionsPath)
	if !strings.Contains(page, insight.UndeliverablePath+"?q=gone%40example.com") {
		t.Errorf("the list lacks the link to the undeliverable entry: %s", page)
	}
}
