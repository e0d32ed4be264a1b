package assets_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/assets"
	"github.com/mailhelm/mailhelm/core/objects"
	host "github.com/mailhelm/mailhelm/rest/assets"
)

const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script></svg>`

// images has an SVG image, a GIF image, and two images whose objects cannot be read.
type images struct{ opened int }

var (
	drawn   = assets.Owned{OrgID: "org", Content: assets.Content{Hash: assets.Hash([]byte(svg)), Type: "image/svg+xml", SizeBytes: len(svg)}}
	gif     = assets.Owned{OrgID: "org", Content: assets.Content{Hash: assets.Hash([]byte("GIF89a")), Type: "image/gif", SizeBytes: 6}}
	away    = assets.Owned{OrgID: "org", Content: assets.Content{Hash: assets.Hash([]byte("away")), Type: "image/png", SizeBytes: 4}}
	broken  = assets.Owned{OrgID: "org", Content: assets.Content{Hash: assets.Hash([]byte("broken")), Type: "image/png", SizeBytes: 6}}
	cutOff  = assets.Owned{OrgID: "org", Content: assets.Content{Hash: assets.Hash([]byte("cut")), Type: "image/png", SizeBytes: 9}}
	unknown = strings.Repeat("0", 64)
)

func (i *images) Find(_ context.Context, hash string) ([]assets.Owned, error) {
	for _, o := range []assets.Owned{drawn, gif, away, broken, cutOff} {
		if o.Hash == hash {
			return []assets.Owned{o}, nil
		}
	}
	return nil, core.NotFound("image")
}

func (i *images) Open(_ context.Context, copies []assets.Owned) (io.ReadCloser, error) {
	i.opened++
	switch copies[0].Hash {
	case away.Hash:
		return nil, core.TemporarilyUnavailable(objects.ErrUnavailable)
	case broken.Hash:
		return nil, fmt.Errorf("no object")
	case cutOff.Hash:
		return io.NopCloser(io.MultiReader(strings.NewReader("four"), failing{})), nil
	case gif.Hash:
		return io.NopCloser(strings.NewReader("GIF89a")), nil
	}
	return io.NopCloser(strings.NewReader(svg)), nil
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// get requests a path.
func get(i *images, method, path string, tags ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://images.test"+path, nil)
	r.Header["If-None-Match"] = tags
	w := httptest.NewRecorder()
	host.New(host.Config{Images: i, Log: slog.New(slog.DiscardHandler)}).ServeHTTP(w, r)
	return w
}

func TestServe(t *testing.T) {
	t.Parallel()
	i := &images{}
	path := "/" + drawn.Hash + ".svg"
	w := get(i, http.MethodGet, path)
	want := http.Header{
		"Content-Type": {"image/svg+xml"}, "Content-Length": {fmt.Sprint(len(svg))}, "Etag": {`"` + drawn.Hash + `"`},
		"Cache-Control": {"public, max-age=31536000, immutable"}, "Cross-Origin-Resource-Policy": {"cross-origin"},
		"X-Content-Type-Options": {"nosniff"}, "Referrer-Policy": {"no-referrer"}, "Content-Disposition": {`attachment; filename="image.svg"`},
		"Content-Security-Policy": {"sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"},
	}
	if diff := cmp.Diff(want, w.Header()); diff != "" || w.Code != 200 || w.Body.String() != svg {
		t.Errorf("%d %q (-want +got):\n%s", w.Code, w.Body, diff)
	}
	if w := get(i, http.MethodGet, "/"+gif.Hash+".gif?x=1"); w.Code != 200 || w.Body.String() != "GIF89a" || w.Header().Get("Content-Disposition") != "inline" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	i.opened = 0
	if w := get(i, http.MethodHead, path); w.Code != 200 || w.Body.Len() != 0 || !cmp.Equal(want, w.Header()) {
		t.Errorf("HEAD: %d %q %v", w.Code, w.Body, w.Header())
	}
	for _, tags := range [][]string{{`"` + drawn.Hash + `"`}, {`"other", W/"` + drawn.Hash + `"`}, {"*"}} {
		if w := get(i, http.MethodGet, path, tags...); w.Code != 304 || w.Body.Len() != 0 || w.Header().Get("Etag") == "" || w.Header().Get("Cache-Control") != want.Get("Cache-Control") {
			t.Errorf("%q: %d %v", tags, w.Code, w.Header())
		}
	}
	if i.opened != 0 {
		t.Errorf("%d objects were opened for answers without a body", i.opened)
	}
	if w := get(i, http.MethodGet, path, `"other"`); w.Code != 200 || w.Body.String() != svg {
		t.Errorf("another tag: %d", w.Code)
	}
	if w := get(i, http.MethodGet, "/_health"); w.Code != 200 || w.Body.Len() != 0 {
		t.Errorf("health: %d", w.Code)
	}
}

func TestRefuse(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]int{
		"/": 404, "/" + unknown + ".png": 404, "/" + drawn.Hash: 404, "/" + drawn.Hash + ".png": 404, "/" + drawn.Hash + ".SVG": 404,
		"/" + strings.ToUpper(drawn.Hash) + ".svg": 404, "/x/" + drawn.Hash + ".svg": 404, "/" + drawn.Hash + ".svg/": 404, "/%2e%2e/" + drawn.Hash + ".svg": 404,
		"/" + away.Hash + ".png": 503, "/" + broken.Hash + ".png": 500,
	} {
		w := get(&images{}, http.MethodGet, path)
		h := w.Header()
		if w.Code != want || h.Get("Cache-Control") != "no-store" || h.Get("Etag") != "" || h.Get("X-Content-Type-Options") != "nosniff" ||
			!strings.HasPrefix(h.Get("Content-Type"), "text/plain") || !strings.HasPrefix(h.Get("Content-Security-Policy"), "sandbox;") || strings.Contains(w.Body.String(), "object") {
			t.Errorf("%s: %d %v %q", path, w.Code, h, w.Body)
		}
		if (want == 503) != (h.Get("Retry-After") != "") {
			t.Errorf("%s: Retry-After %q", path, h.Get("Retry-After"))
		}
	}
	if w := get(&images{}, http.MethodPost, "/"+drawn.Hash+".svg"); w.Code != 405 || w.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d %v", w.Code, w.Header())
	}
}

// TestCutOff aborts an answer whose object cannot be read to its end.
func TestCutOff(t *testing.T) {
	t.Parallel()
	defer func() {
		if err, _ := recover().(error); !errors.Is(err, http.ErrAbortHandler) {
			t.Error("the answer was not aborted")
		}
	}()
	get(&images{}, http.MethodGet, "/"+cutOff.Hash+".png")
}
