package inboxes_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
)

// TestNewestMessages checks that the page of an inbox with many messages reads the newest.
func TestNewestMessages(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.operations.Results["inboxes_get"] = strings.Replace(inboxJSON("active"), `"message_count":1`, `"message_count":120`, 1)
	o.operations.Results["inboxes_messages"] = strings.Replace(o.operations.Results["inboxes_messages"], `"cursor":"1",`, `"cursor":"120",`, 1)
	status, page := frametest.Get(t, o.pages, path)
	if status != http.StatusOK || !strings.Contains(page, "These are the newest messages.") {
		t.Errorf("%d %s", status, page)
	}
	var read []string
	for _, c := range o.operations.Calls() {
		if c.Name == "inboxes_messages" {
			read = append(read, c.Arguments)
		}
	}
	if len(read) != 1 || !slices.ContainsFunc(read, func(arguments string) bool { return strings.Contains(arguments, `"after":70`) }) {
		t.Errorf("read %q", read)
	}
}
