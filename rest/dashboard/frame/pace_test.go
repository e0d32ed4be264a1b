package frame_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestTooManyPages checks that the request of a person who sent too many is refused before
// the handler of the page runs.
func TestTooManyPages(t *testing.T) {
	t.Parallel()
	f := frame.New(frame.Config{
		Site: &frametest.Site{Visitor: people.Visitor{User: access.User{ID: "ada"}}}, Organizations: storagetest.SQLite(t).Members(),
		Pace: func(_ context.Context, userID string) error {
			return &core.Error{Code: core.CodeRateLimited, Message: "Too many for " + userID + ".", Next: "Wait."}
		},
	})
	pages, err := f.Mux([]frame.Route{{Path: "/lists", Get: func(http.ResponseWriter, *http.Request, people.Visitor) {
		t.Error("the handler ran")
	}}})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	pages.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/dashboard/lists", nil))
	if w.Code != http.StatusTooManyRequests || !strings.Contains(w.Body.String(), "Too many for ada.") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
