package frame_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestLargeForm sends forms to a page with a limit of its own: one below it, one above it,
// and one with a token of another page.
func TestLargeForm(t *testing.T) {
	t.Parallel()
	o := frametest.NewOffice(t, frametest.DatabaseOf(storagetest.SQLite(t)))
	got := 0
	pages, err := o.Frame.Mux([]frame.Route{{Path: "/large", MaxForm: 1 << 20, Post: func(w http.ResponseWriter, r *http.Request, _ people.Visitor) {
		got = len(r.PostForm.Get("text"))
		w.WriteHeader(http.StatusNoContent)
	}}})
	o.Must(err)
	send := func(size int, more url.Values) int {
		got = 0
		more.Set("text", strings.Repeat("x", size))
		status, _ := frametest.Post(t, pages, o.Site.Visitor, frame.Path+"/large", more)
		return status
	}
	if status := send(1_000_000, url.Values{}); status != http.StatusNoContent || got != 1_000_000 {
		t.Errorf("below the limit: %d, %d bytes", status, got)
	}
	if status := send(1_100_000, url.Values{}); status != http.StatusBadRequest || got != 0 {
		t.Errorf("above the limit: %d, %d bytes", status, got)
	}
	if status := send(10, url.Values{"token": {"x"}}); status != http.StatusForbidden || got != 0 {
		t.Errorf("another token: %d, %d bytes", status, got)
	}
}
