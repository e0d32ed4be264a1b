package frame_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestReportsAfterAFormReadFromThePrimary checks that a page which only reports may read from a
// replica until its visitor sends a form. Reads of the form, and of pages soon after it, use the
// primary. ReadExpensive always does.
func TestReportsAfterAFormReadFromThePrimary(t *testing.T) {
	t.Parallel()
	site := &frametest.Site{}
	f := frame.New(frame.Config{
		Site: site, Organizations: storagetest.SQLite(t).Members(), Pace: frametest.Unpaced, ReplicaLag: 5 * time.Second,
		Expensive: func(ctx context.Context, _ string, read func(context.Context) error) error { return read(ctx) },
	})
	var report, preview bool
	replica := func(ctx context.Context) (bool, error) {
		return core.ReplicaReadOf(ctx).Choose(func() (time.Duration, bool) { return 0, true }), nil
	}
	read := func(w http.ResponseWriter, r *http.Request, v people.Visitor) {
		report, _ = frame.ReadReport(f, r, v, replica)
		preview, _ = frame.ReadExpensive(f, r, v, replica)
		w.WriteHeader(http.StatusOK)
	}
	pages, err := f.Mux([]frame.Route{{Path: "/reports", Get: read, Post: read}})
	if err != nil {
		t.Fatal(err)
	}
	const path = frame.Path + "/reports"
	check := func(step string, want bool) {
		t.Helper()
		if report != want || preview {
			t.Errorf("%s: the replica answers the report: %t, want %t, and a preview: %t", step, report, want, preview)
		}
	}
	frametest.Get(t, pages, path)
	check("a page", true)
	frametest.Post(t, pages, site.Visitor, path, nil)
	check("a form", false)
	frametest.Get(t, pages, path)
	check("the page after a form", false)
	if site.Wrote != 5*time.Second {
		t.Errorf("pages read from the primary for %v", site.Wrote)
	}
}
