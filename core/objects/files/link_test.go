package files_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/objects/files"
	"github.com/mailhelm/mailhelm/core/objects/objectstest"
)

const (
	png  = "\x89PNG\r\n\x1a\n then anything <script>alert(1)</script>"
	svg  = `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`
	page = "<!doctype html><script>alert(1)</script>"
)

// TestHeaders checks the headers of downloads. The content decides whether an object is an
// image, and nothing that can contain a script is shown.
func TestHeaders(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	store := s.Of(s.org)
	for name, tc := range map[string]struct{ content, claimed, contentType, disposition string }{
		"png":             {png, "image/png", "image/png", `inline; filename=x.bin`},
		"jpeg":            {"\xff\xd8\xff\xe0", "text/html", "image/jpeg", `inline; filename=x.bin`},
		"gif":             {"GIF89a", "", "image/gif", `inline; filename=x.bin`},
		"webp":            {"RIFF\x00\x00\x00\x00WEBPVP", "x/y", "image/webp", `inline; filename=x.bin`},
		"svg":             {svg, "image/svg+xml", "image/svg+xml", `attachment; filename=x.bin`},
		"html as png":     {page, "image/png", "image/png", `attachment; filename=x.bin`},
		"html":            {page, "text/html; charset=utf-8", "text/html; charset=utf-8", `attachment; filename=x.bin`},
		"bitmap":          {"BM....", "image/bmp", "image/bmp", `attachment; filename=x.bin`},
		"empty":           {"", "text/plain", "text/plain", `attachment; filename=x.bin`},
		"pdf":             {"%PDF-1.7", "application/pdf", "application/pdf", `attachment; filename=x.bin`},
		"no content type": {"x", "", "application/octet-stream", `attachment; filename=x.bin`},
	} {
		key := objects.AttachmentKey(s.org, core.NewID(), 0)
		objectstest.Put(t, store, key, tc.content)
		url, err := store.Link(t.Context(), key, objects.Link{Until: start.Add(time.Minute), Filename: "x.bin", ContentType: tc.claimed})
		if err != nil {
			t.Fatal(err)
		}
		answer := s.get(t, http.MethodGet, url, nil)
		header := answer.Header.Clone()
		for _, counted := range []string{"Content-Length", "Accept-Ranges"} {
			header.Del(counted)
		}
		want := http.Header{
			"Content-Type": {tc.contentType}, "Content-Disposition": {tc.disposition}, "X-Content-Type-Options": {"nosniff"},
			"Content-Security-Policy": {"sandbox; default-src 'none'"}, "Cache-Control": {"private, no-store"}, "Referrer-Policy": {"no-referrer"}, "X-Robots-Tag": {"noindex, nofollow"},
		}
		if diff := cmp.Diff(want, header); diff != "" || answer.Status != http.StatusOK || answer.Content != tc.content {
			t.Errorf("%s: %d %q\n%s", name, answer.Status, answer.Content, diff)
		}
	}
}

func TestRanges(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	store, key := s.Of(s.org), objects.RawKey(s.org, "m")
	objectstest.Put(t, store, key, "0123456789")
	url, err := store.Link(t.Context(), key, objects.Link{Until: start.Add(time.Minute)})
	if err != nil {
		t.Fatal(err)
	}
	for requested, want := range map[string]struct {
		status  int
		content string
	}{"": {200, "0123456789"}, "bytes=2-4": {206, "234"}, "bytes=-3": {206, "789"}, "bytes=20-": {416, ""}} {
		answer := s.get(t, http.MethodGet, url, http.Header{"Range": {requested}})
		if answer.Status != want.status || want.status != 416 && answer.Content != want.content {
			t.Errorf("Range %q: %d %q", requested, answer.Status, answer.Content)
		}
	}
	if answer := s.get(t, http.MethodHead, url, nil); answer.Status != http.StatusOK || answer.Header.Get("Content-Length") != "10" {
		t.Errorf("HEAD: %d %v", answer.Status, answer.Header)
	}
}

// TestLinkEnds checks the last moment of a link, and that a link works for at most seven
// days.
func TestLinkEnds(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	store, key := s.Of(s.org), objects.RawKey(s.org, "m")
	objectstest.Put(t, store, key, "x")
	for life, works := range map[time.Duration]time.Duration{time.Hour: time.Hour, 365 * 24 * time.Hour: objects.MaxLinkLife} {
		s.set(start)
		url, err := store.Link(t.Context(), key, objects.Link{Until: start.Add(life)})
		if err != nil {
			t.Fatal(err)
		}
		for after, want := range map[time.Duration]int{0: 200, works - time.Second: 200, works: 404, works + time.Hour: 404} {
			s.set(start.Add(after))
			if got := s.get(t, http.MethodGet, url, nil).Status; got != want {
				t.Errorf("a link for %v answers %d after %v", life, got, after)
			}
		}
	}
	// A link of a deleted object is as unknown as any other.
	s.set(start)
	url, err := store.Link(t.Context(), key, objects.Link{Until: start.Add(time.Hour)})
	if err != nil || store.Delete(t.Context(), key) != nil {
		t.Fatal(err)
	}
	if got := s.get(t, http.MethodGet, url, nil).Status; got != http.StatusNotFound {
		t.Errorf("a link of a deleted object answers %d", got)
	}
}

// TestForgedLinks changes each character of a token to each other one, and uses the key of
// another installation.
func TestForgedLinks(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	store, key := s.Of(s.org), objects.RawKey(s.org, "m")
	objectstest.Put(t, store, key, "x")
	url, err := store.Link(t.Context(), key, objects.Link{Until: start.Add(time.Hour), Filename: "f", ContentType: "text/plain"})
	if err != nil {
		t.Fatal(err)
	}
	prefix := fetchURL + files.LinkPath
	token := strings.TrimPrefix(url, prefix)
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=%/. "
	for i := range len(token) {
		for _, c := range alphabet {
			forged := token[:i] + string(c) + token[i+1:]
			if forged != token && s.get(t, http.MethodGet, prefix+forged, nil).Status != http.StatusNotFound {
				t.Errorf("the token works with %c at %d", c, i)
			}
		}
	}
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		t.Fatal(err)
	}
	for _, forged := range []string{"", "AA", token + "A", token[:len(token)-1], token + "/", base64.RawURLEncoding.EncodeToString(raw[:30]), strings.Repeat("A", 5000)} {
		if s.get(t, http.MethodGet, prefix+forged, nil).Status != http.StatusNotFound {
			t.Errorf("the token %.40q works", forged)
		}
	}
	other, err := files.New(files.Config{Folder: s.folder, Key: make([]byte, files.KeyBytes), FetchURL: fetchURL, Clock: func() time.Time { return start }})
	if err != nil {
		t.Fatal(err)
	}
	if url, err = other.Of(s.org).Link(t.Context(), key, objects.Link{Until: start.Add(time.Hour)}); err != nil || s.get(t, http.MethodGet, url, nil).Status != http.StatusNotFound {
		t.Errorf("a link with another key works (%v)", err)
	}
}
