package assets

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/assets"
)

// record is an image as the API shows it.
type record struct {
	ID          string `json:"id"`
	SourcePath  string `json:"source_path"`
	ContentHash string `json:"content_hash"`
	ContentType string `json:"content_type"`
	URL         string `json:"url"`
	Width       int    `json:"width"`
	Height      int    `json:"height"`
	SizeBytes   int    `json:"size_bytes"`
	Branch      *string
}

// read decodes the answer to a GET request of the API.
func read(t *testing.T, p *product.Product, bearer, target string, into any) int {
	t.Helper()
	a := p.Send(t, product.Request{URL: p.BaseURL + target, Bearer: bearer})
	if err := json.Unmarshal([]byte(a.Body), into); err != nil {
		t.Fatalf("%s: %v in %s", target, err, a.Body)
	}
	return a.Status
}

// onLoopback returns an address of images with the host 127.0.0.1, because not every resolver knows the
// names below localhost.
func onLoopback(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil || u.Hostname() != "images.localhost" || u.Port() == "" {
		t.Fatalf("%s: %v", address, err)
	}
	return "http://127.0.0.1:" + u.Port() + u.Path
}

// TestImages reads the images of the demo: in pages, one by one, and at their public addresses. No other
// address of the installation serves them, and no other organization sees their records.
func TestImages(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{Past: true})
	var all []record
	for cursor, last := "", false; !last; {
		var page struct {
			Data       []record
			Pagination struct {
				NextCursor *string `json:"next_cursor"`
			}
		}
		if status := read(t, p, p.Live.APIKey, "/v1/assets?limit=1&cursor="+cursor, &page); status != http.StatusOK || len(page.Data) != 1 {
			t.Fatalf("%d %+v", status, page)
		}
		all = append(all, page.Data...)
		if last = page.Pagination.NextCursor == nil; !last {
			cursor = *page.Pagination.NextCursor
		}
	}
	if len(all) != 2 || all[0].SourcePath != "static/harvest.png" || all[0].Width != 560 || all[0].Height != 180 || all[1].SourcePath != "static/logo.png" {
		t.Fatalf("%+v", all)
	}
	for _, a := range all {
		var one record
		if status := read(t, p, p.Live.APIKey, "/v1/assets/"+a.ID, &one); status != http.StatusOK || one.Branch == nil || *one.Branch != "" || one.URL != a.URL {
			t.Errorf("%d %+v", status, one)
		}
		if status := read(t, p, p.Other.Live.APIKey, "/v1/assets/"+a.ID, &one); status != http.StatusNotFound {
			t.Errorf("another organization: %d", status)
		}
		if a.URL != p.AssetURL+"/"+a.ContentHash+".png" {
			t.Errorf("address %s", a.URL)
		}
		got := p.Send(t, product.Request{URL: onLoopback(t, a.URL)})
		if assets.Hash([]byte(got.Body)) != a.ContentHash || len(got.Body) != a.SizeBytes || got.Status != http.StatusOK || got.Header.Get("Content-Type") != a.ContentType {
			t.Errorf("%s: %d %v", a.URL, got.Status, got.Header)
		}
		for _, origin := range []string{p.BaseURL, p.AuthURL, p.AppURL, p.MCPURL, p.FetchURL} {
			if got := p.Send(t, product.Request{URL: origin + "/" + path.Base(a.URL)}); got.Status == http.StatusOK || strings.HasPrefix(got.Header.Get("Content-Type"), "image/") {
				t.Errorf("%s serves the image: %d %v", origin, got.Status, got.Header)
			}
		}
	}
	var none struct{ Data []record }
	if status := read(t, p, p.Other.Live.APIKey, "/v1/assets", &none); status != http.StatusOK || len(none.Data) != 0 {
		t.Errorf("another organization: %d %+v", status, none)
	}
	deploys(t, p, all[1])
	runGuide(t, p)
}

// deploys saves a template that names an image, and waits until the account has it with the address.
func deploys(t *testing.T, p *product.Product, image record) {
	t.Helper()
	token := p.Token(t, p.MCPURL, product.ToolScopes().Strings()...)
	html, err := json.Marshal(`<p><img src="{{asset "./` + image.SourcePath + `"}}" alt="Logo"><img src="` + image.SourcePath + `" alt=""><img src="none.png" alt=""></p>`)
	if err != nil {
		t.Fatal(err)
	}
	call := p.ToAgent(token, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"templates_author","arguments":{"slug":"with-image","html":`+string(html)+`}}}`)
	if a := p.Send(t, call); !strings.Contains(a.Body, `"saved"`) {
		t.Fatal(a.Body)
	}
	want := `<img src="` + image.URL + `" alt="Logo"><img src="` + image.URL + `" alt=""><img src="none.png" alt="">`
	product.Await(t, time.Minute, func() error {
		var detail struct {
			DeployedName    string `json:"deployed_name"`
			DeployedVersion *int   `json:"deployed_version"`
		}
		read(t, p, p.Live.APIKey, "/v1/templates/with-image", &detail)
		if detail.DeployedVersion == nil {
			return fmt.Errorf("the template is not deployed")
		}
		stored, err := p.Simulator.Template(t.Context(), p.OrgID, detail.DeployedName)
		if err != nil || !strings.Contains(stored.HTML, want) {
			return fmt.Errorf("the account has %s, %w", stored.HTML, err)
		}
		return nil
	})
}
