package pull_test

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/objects/files"
	"github.com/mailhelm/mailhelm/rest/pull"
)

func openObjectsIn(t *testing.T, folder string, clock core.Clock) *files.Files {
	t.Helper()
	f, err := files.New(files.Config{Folder: filepath.Join(folder, "objects"), Key: make([]byte, files.KeyBytes), Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestObjects serves an object by its link, and checks that all links that do not work have
// the same answer, and that no link is logged.
func TestObjects(t *testing.T) {
	t.Parallel()
	org, folder := core.NewID(), t.TempDir()
	var clock atomic.Pointer[time.Time]
	clock.Store(&start)
	kept := openObjectsIn(t, folder, func() time.Time { return *clock.Load() })
	var log bytes.Buffer
	site := httptest.NewServer(pull.New(pull.Config{
		DocsURL: "https://app.test/docs", Objects: kept, ObjectPath: files.LinkPath, Log: slog.New(slog.NewJSONHandler(&log, nil)),
		Remote: func(r *http.Request) string { return r.RemoteAddr }, Clock: func() time.Time { return *clock.Load() },
	}))
	t.Cleanup(site.Close)
	key := objects.AttachmentKey(org, "m", 0)
	if err := kept.Of(org).Put(t.Context(), key, strings.NewReader("<script>"), 8, ""); err != nil {
		t.Fatal(err)
	}
	link := func(key string, life time.Duration) string {
		t.Helper()
		path, err := kept.Of(org).Link(t.Context(), key, objects.Link{Until: start.Add(life), ContentType: "text/html", Filename: "page.html"})
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	answer := func(method, path string) (int, http.Header, string) { return ask(t, method, site.URL+path) }
	working := link(key, time.Hour)
	status, header, body := answer(http.MethodGet, working)
	want := http.Header{
		"Content-Type": {"text/html"}, "Content-Disposition": {"attachment; filename=page.html"}, "X-Content-Type-Options": {"nosniff"}, "Accept-Ranges": {"bytes"}, "Content-Length": {"8"},
		"Content-Security-Policy": {"sandbox; default-src 'none'"}, "Cache-Control": {"private, no-store"}, "Referrer-Policy": {"no-referrer"}, "X-Robots-Tag": {"noindex, nofollow"},
		"Access-Control-Allow-Origin": {"*"}, "Access-Control-Expose-Headers": {"Content-Disposition, Content-Range, Retry-After, X-Request-Id"},
	}
	if diff := cmp.Diff(want, header); diff != "" || status != http.StatusOK || body != "<script>" {
		t.Errorf("%d %q %s", status, body, diff)
	}
	if status, _, body := answer(http.MethodHead, working); status != http.StatusOK || body != "" {
		t.Errorf("HEAD: %d %q", status, body)
	} else if status, header, _ := answer(http.MethodPost, working); status != http.StatusMethodNotAllowed || header.Get("Allow") != "GET, HEAD, OPTIONS" {
		t.Errorf("POST: %d", status)
	}
	expired, missing := link(key, time.Minute), link(objects.AttachmentKey(org, "m", 1), time.Hour)
	later := start.Add(time.Minute)
	clock.Store(&later)
	forged := working[:len(working)-1] + map[bool]string{true: "A", false: "E"}[working[len(working)-1] != 'A']
	wantStatus, wantHeader, wantBody := answer(http.MethodGet, files.LinkPath+"nonsense")
	if wantStatus != http.StatusNotFound {
		t.Fatalf("nonsense: %d", wantStatus)
	}
	for name, path := range map[string]string{
		"forged": forged, "missing object": missing, "expired": expired, "empty": files.LinkPath, "longer path": working + "/x",
		"escaped": strings.Replace(working, files.LinkPath, files.LinkPath+"%2e", 1), "below": files.LinkPath + "../_health",
	} {
		status, header, body := answer(http.MethodGet, path)
		if diff := cmp.Diff(wantHeader, header); diff != "" || status != wantStatus || body != wantBody {
			t.Errorf("%s: %d %s %s", name, status, body, diff)
		}
	}
	if err := os.Rename(filepath.Join(folder, "objects"), filepath.Join(folder, "away")); err != nil {
		t.Fatal(err)
	}
	if status, _, body := answer(http.MethodGet, working); status != http.StatusServiceUnavailable || strings.Contains(body, folder) {
		t.Errorf("without the folder: %d %s", status, body)
	}
	site.Close()
	for _, secret := range []string{strings.TrimPrefix(working, files.LinkPath), strings.TrimPrefix(forged, files.LinkPath), "nonsense"} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("the log has a link: %s", log.String())
		}
	}
}

// web makes the requests.
var web = http.Client{Timeout: time.Minute}

// ask returns the status, the header and the body of an answer, without what differs between
// requests.
func ask(t *testing.T, method, url string) (status int, header http.Header, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Request-Id", "req_1")
	response, err := web.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(response.Body)
	if err = errors.Join(err, response.Body.Close()); err != nil {
		t.Fatal(err)
	}
	response.Header.Del("Date")
	response.Header.Del("X-Request-Id")
	return response.StatusCode, response.Header, strings.ReplaceAll(string(content), "req_1", "")
}
