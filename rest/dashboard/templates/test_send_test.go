package templates_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	"github.com/mailhelm/mailhelm/rest/dashboard/templates"
)

func TestGoldenSendTest(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.operations.Results["templates_test_send"] = `{"results":[{"recipient":"ada@example.com","status":"sent","message_id":"m-1"},{"recipient":"ben@example.com","status":"failed","error":"` + escaped + `"}],"sent":1,"total":2}`
	path := templates.TemplatesPath + "/welcome-1/test"
	post := func(addresses, values string) (int, string) {
		return frametest.Post(t, o.pages, o.Site.Visitor, path, url.Values{"recipients": {addresses}, "data": {values}})
	}
	if status, page := frametest.Get(t, o.pages, path); status != http.StatusOK || !strings.Contains(page, o.User.Email) {
		t.Errorf("the form: %d %s", status, page)
	}
	o.operations.Calls()
	status, page := post("ada@example.com,\r\nben@example.com", `{"name": "Ada"}`)
	if status != http.StatusOK || strings.Contains(page, "<script>alert") {
		t.Errorf("%d %s", status, page)
	}
	frametest.CompareGolden(t, "tested", page, *update)
	called := o.operations.Calls()
	want := `{"data":{"name":"Ada"},"recipients":["ada@example.com","ben@example.com"],"slug":"welcome-1"}`
	if last := called[len(called)-1]; last.Name != "templates_test_send" || last.Arguments != want {
		t.Errorf("called %+v, want %s", last, want)
	}
	for _, form := range [][2]string{{" ", ""}, {"ada@example.com", "[1]"}} {
		if status, page := post(form[0], form[1]); status != http.StatusUnprocessableEntity {
			t.Errorf("%q: %d %s", form, status, page)
		}
	}
	o.operations.Errors = map[string]*core.Error{"templates_test_send": {Code: core.CodeRateLimited, Message: "Ten tests were sent."}}
	if status, page := post("ada@example.com", ""); status != http.StatusTooManyRequests || !strings.Contains(page, "Ten tests were sent.") {
		t.Errorf("limit: %d %s", status, page)
	}
	o.Allow(members.MayViewContent)
	if status, _ := frametest.Get(t, o.pages, path); status != http.StatusForbidden {
		t.Errorf("without the permission: %d", status)
	}
}
