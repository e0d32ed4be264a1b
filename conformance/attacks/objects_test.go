package attacks_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/conformance/product"
)

// attackMail is a message with a page, a drawing and an image as attachments, under names and
// content types that lie.
const attackMail = `From: a@acme.example
Subject: files
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/html; name="../../page.html"
Content-Disposition: attachment; filename="../../page.html"

<script>alert(document.domain)</script>
--b
Content-Type: image/svg+xml
Content-Disposition: inline; filename="a.svg"

<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>
--b
Content-Type: image/png
Content-Disposition: inline; filename="b.png"

<!doctype html><script>alert(1)</script>
--b
Content-Type: text/html
Content-Transfer-Encoding: base64
Content-Disposition: attachment; filename="c.html"

iVBORw0KGgo8c2NyaXB0PmFsZXJ0KDEpPC9zY3JpcHQ+
--b--
`

// fileLinks sends attackMail to a new inbox and returns the links to the four attachments and to
// the source.
func fileLinks(t *testing.T, p *product.Product) (links []string, source string) {
	t.Helper()
	in := mintInbox(t, p, `{"ttl":600}`)
	c := dialMail(t, p).begin(t)
	for _, line := range []string{"MAIL FROM:<a@acme.example>", "RCPT TO:<" + in.Address + ">", "DATA"} {
		c.sendCommand(line)
	}
	if code := c.sendCommand(strings.ReplaceAll(attackMail, "\n", "\r\n") + "."); code != 250 {
		t.Fatalf("mail: %d", code)
	}
	subjects(t, p, in, 1)
	var arrived struct {
		Messages []struct {
			RawURL  string `json:"raw_url"`
			Message struct{ Attachments []struct{ URL string } }
		}
	}
	if err := json.Unmarshal([]byte(caller{Product: p}.send(t, http.MethodGet, in.PullURL, "").want(t, http.StatusOK).body), &arrived); err != nil {
		t.Fatal(err)
	}
	for _, a := range arrived.Messages[0].Message.Attachments {
		links = append(links, a.URL)
	}
	if len(links) != 4 {
		t.Fatalf("%d attachments", len(links))
	}
	return links, arrived.Messages[0].RawURL
}

// TestFilesOfMailRunNothing reads attachments that lie about what they are. A browser must save
// all but the image, and run none of them.
func TestFilesOfMailRunNothing(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	links, source := fileLinks(t, p)
	reader := caller{Product: p}
	for i, want := range []struct{ contentType, disposition, content string }{
		{"text/html", "attachment; filename=page.html", "<script>alert(document.domain)</script>"},
		{"image/svg+xml", "attachment; filename=a.svg", "<svg"},
		{"image/png", "attachment; filename=b.png", "<!doctype html>"},
		{"image/png", "inline; filename=c.html", "\x89PNG\r\n\x1a\n<script>"},
		{"message/rfc822", "attachment; filename=", "Received: "},
	} {
		got := reader.send(t, http.MethodGet, append(slices.Clone(links), source)[i], "").want(t, http.StatusOK)
		if got.header.Get("Content-Type") != want.contentType || !strings.HasPrefix(got.header.Get("Content-Disposition"), want.disposition) || !strings.HasPrefix(got.body, want.content) {
			t.Errorf("attachment %d: %v %.100q", i, got.header, got.body)
		}
		for name, value := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "sandbox; default-src 'none'", "Referrer-Policy": "no-referrer", "Access-Control-Allow-Origin": "*",
			"Access-Control-Allow-Credentials": "", "Cache-Control": "private, no-store", "Set-Cookie": "",
		} {
			if got.header.Get(name) != value {
				t.Errorf("attachment %d: %s is %q, want %q", i, name, got.header.Get(name), value)
			}
		}
	}
	for name, ranges := range map[string]struct {
		status int
		length int
	}{"bytes=0-7": {206, 8}, "bytes=-4": {206, 4}, "bytes=99999-": {416, -1}, "bytes=0-0,2-2,4-4": {206, -1}, "bytes=" + strings.Repeat("0-,", 5000) + "0-": {0, -1}, "lines=1": {416, -1}} {
		got := reader.send(t, http.MethodGet, links[0], "", "Range", name)
		if ranges.status != 0 && got.status != ranges.status || ranges.length >= 0 && len(got.body) != ranges.length || len(got.body) > 4096 {
			t.Errorf("Range %.40q: %d with %d bytes", name, got.status, len(got.body))
		}
		if got.header.Get("X-Content-Type-Options") != "nosniff" || strings.HasPrefix(got.header.Get("Content-Disposition"), "inline") {
			t.Errorf("Range %.40q: %v", name, got.header)
		}
	}
	if got := reader.send(t, http.MethodHead, links[0], ""); got.status != 200 || got.body != "" || got.header.Get("Content-Length") != fmt.Sprint(len("<script>alert(document.domain)</script>")) {
		t.Errorf("HEAD: %d %v", got.status, got.header)
	}
}

// TestFilesOfMailAreOnTheFetchHostOnly asks for links at the other hosts, where a page would
// have their origin, and changes links. All answers of the fetch host must be the same as for a
// link that never existed, also for a link that has expired, and whose inbox was deleted.
func TestFilesOfMailAreOnTheFetchHostOnly(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		links, source := fileLinks(t, p)
		link := links[0]
		reader := caller{Product: p}
		path := strings.TrimPrefix(link, p.FetchURL)
		if !strings.HasPrefix(path, "/o/") {
			t.Fatalf("link %s", link)
		}
		for _, host := range []string{p.BaseURL, p.AuthURL, p.AppURL, p.MCPURL, p.DocsURL, p.AdminURL} {
			for _, r := range []reply{reader.send(t, http.MethodGet, host+path, ""), caller{p, p.Live.APIKey}.send(t, http.MethodGet, host+path, "")} {
				if r.status < 300 || strings.Contains(r.body, "<script>alert") {
					t.Errorf("%s has the link: %d %.200s", host, r.status, r.body)
				}
			}
		}
		caller{p, p.Live.APIKey}.send(t, http.MethodGet, link, "").want(t, http.StatusBadRequest)
		token := strings.TrimPrefix(path, "/o/")
		unknown := withoutID(reader.send(t, http.MethodGet, p.FetchURL+"/o/"+strings.Repeat("A", len(token)), ""))
		if unknown.status != http.StatusNotFound {
			t.Fatalf("unknown: %d %s", unknown.status, unknown.body)
		}
		other := []byte(token)
		other[len(token)/2] ^= 1
		tampered := map[string]string{
			"a changed character": "/o/" + string(other), "cut": "/o/" + token[:len(token)-2], "longer": path + "A", "padding": path + "=", "a slash": path + "/", "below": path + "/../../" + token,
			"twice": "/o/" + token + "/" + token, "of another link": "/o/" + token[:len(token)-22] + source[len(source)-22:], "traversal": "/o/../../../../etc/passwd", "escaped traversal": "/o/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
			"absolute": "/o//etc/passwd", "NUL": "/o/" + token + "%00", "escaped": "/o/%" + fmt.Sprintf("%02x", token[0]) + token[1:], "empty": "/o/", "long": "/o/" + strings.Repeat("A", 1<<14), "key": "/o/" + p.OrgID + "/raw",
		}
		ask := func(name, address string) {
			t.Helper()
			if diff := cmp.Diff(unknown, withoutID(reader.send(t, http.MethodGet, address, "")), cmp.AllowUnexported(reply{})); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
		for name, path := range tampered {
			ask(name, p.FetchURL+path)
		}
		reader.send(t, http.MethodGet, link, "").want(t, http.StatusOK)
		p.Clock.Advance(10*time.Minute + time.Second)
		ask("expired", link)
	})
}

// withoutID returns a reply without what differs between any two requests.
func withoutID(r reply) reply {
	id := r.header.Get("X-Request-Id")
	for _, name := range []string{"Date", "X-Request-Id"} {
		r.header.Del(name)
	}
	r.body, r.took = strings.ReplaceAll(r.body, id, ""), 0
	return r
}
