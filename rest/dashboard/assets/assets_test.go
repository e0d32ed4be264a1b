package assets_test

import (
	"context"
	"flag"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/templates"
	pages "github.com/mailhelm/mailhelm/rest/dashboard/assets"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var update = flag.Bool("update", false, "write the golden files again")

const (
	logoID = "0198c7a2-5d3e-7a01-8b00-2f61c0d4a107"
	hash   = "47839c9c68da856a12e7a8cdd8870dc9e1ac9dfade0f1d318cfbbb3871c347b8"
	logo   = `{"id":"` + logoID + `","source_path":"static/logo.svg","content_hash":"` + hash + `","content_type":"image/svg+xml","url":"https://img.example/` + hash +
		`.svg","width":0,"height":0,"size_bytes":1274,"created_at":"2026-03-12T14:30:00Z"`
	banner = `{"id":"0198c7a2-5d3e-7a01-8b00-2f61c0d4a108","source_path":"static/<b>\"x\".png","content_hash":"` + hash + `","content_type":"image/png","url":"https://img.example/` + hash +
		`.png","width":560,"height":180,"size_bytes":600000,"created_at":"2026-03-12T14:30:00Z"}`
	svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`
)

type office struct {
	*frametest.Office
	operations *frametest.Operations
	config     pages.Config
}

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{Office: frametest.NewOffice(t, frametest.DatabaseOf(storagetest.SQLite(t)), frame.Area{Path: pages.Path, Name: "Images"})}
	o.operations = &frametest.Operations{T: t, Results: map[string]string{
		"assets_list": `{"data":[` + logo + `},` + banner + `],"pagination":{"has_more":true,"next_cursor":"next"}}`,
		"assets_get":  logo + `,"branch":"main"}`,
	}}
	o.Frame.Operations = o.operations
	o.config = pages.Config{
		Content: func(_ context.Context, orgID, path string) ([]byte, error) {
			if orgID != o.Org.ID || path != "static/logo.svg" {
				t.Errorf("read %s of %s", path, orgID)
			}
			return []byte(svg), nil
		},
		Uses: func(context.Context, string) ([]templates.ImageUse, error) {
			return []templates.ImageUse{{Slug: "news/weekly", Paths: []string{"static/logo.svg"}}, {Slug: "welcome", Paths: []string{"other.png", "static/logo.svg"}}}, nil
		},
		Published: true,
	}
	return o
}

func (o *office) open() http.Handler {
	o.T.Helper()
	room, err := pages.New(o.Frame, o.config)
	o.Must(err)
	return o.Open(room)
}

func TestGoldenImages(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	_, page := frametest.Get(t, o.open(), pages.Path)
	frametest.CompareGolden(t, "list", page, *update)
	o.config.Published = false
	o.operations.Results["assets_list"] = `{"data":[` + logo + `}],"pagination":{"has_more":false,"next_cursor":null}}`
	if _, page := frametest.Get(t, o.open(), pages.Path); !strings.Contains(page, "--asset-url") {
		t.Errorf("without an asset address: %s", page)
	}
	o.operations.Results["assets_list"] = `{"data":[],"pagination":{"has_more":false,"next_cursor":null}}`
	_, page = frametest.Get(t, o.open(), pages.Path)
	frametest.CompareGolden(t, "none", page, *update)
	o.Allow(members.MayManageOrg)
	for _, path := range []string{pages.Path, pages.Path + "/" + logoID + "/picture"} {
		if status, _ := frametest.Get(t, o.open(), path); status != http.StatusForbidden {
			t.Errorf("%s without the permission: %d", path, status)
		}
	}
}

// TestPicture shows an image in a frame whose policy allows no script, and nowhere else.
func TestPicture(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	get := func(into string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, pages.Path+"/"+logoID+"/picture", nil)
		r.Header.Set("Sec-Fetch-Dest", into)
		w := httptest.NewRecorder()
		o.open().ServeHTTP(w, r)
		return w
	}
	w := get("iframe")
	policy := w.Header().Get("Content-Security-Policy")
	if w.Code != http.StatusOK || !strings.HasPrefix(policy, "sandbox; default-src 'none'; img-src data:;") || !strings.Contains(w.Body.String(), `<img src="data:image/svg+xml;base64,PHN2Zy`) || strings.Contains(w.Body.String(), "onload") {
		t.Errorf("%d %s %s", w.Code, policy, w.Body)
	}
	for _, into := range []string{"document", "image"} {
		if w := get(into); w.Code != http.StatusSeeOther || w.Header().Get("Location") != pages.Path {
			t.Errorf("as %s: %d %v", into, w.Code, w.Header())
		}
	}
	o.operations.Results["assets_get"] = banner[:len(banner)-1] + `,"branch":""}`
	if w := get("iframe"); w.Code != http.StatusSeeOther {
		t.Errorf("too large: %d", w.Code)
	}
}
