package rest_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/rest"
)

// largeIn has the arguments of an operation that takes a bundle.
type largeIn struct {
	DryRun *bool             `json:"dry_run,omitempty" jsonschema_description:"In the query."`
	Prune  bool              `json:"prune,omitempty" jsonschema_description:"In the query."`
	Files  map[string]string `json:"files,omitempty" jsonschema_description:"In the body."`
}

// largeOut says what an operation that takes a bundle got.
type largeOut struct {
	DryRun *bool             `json:"dry_run"`
	Prune  bool              `json:"prune"`
	Files  map[string]string `json:"files"`
}

// newLarge returns a stack with the route POST /v1/large, which takes a bundle. The operation panics if
// there is a file with the name panic, and takes long if there is one with the name wait.
func newLarge(t *testing.T) *stack {
	return newStack(t, []core.Operation{core.Declare(core.Op[largeIn, largeOut]{
		Name: "probe_large", Title: "Take a bundle", Purpose: "Takes a bundle.", Effect: core.Writes, IgnoresKey: true,
		Prepare: func(_ context.Context, c *core.Call, in largeIn) (largeIn, error) {
			if in.Files["panic"] != "" {
				panic("a mistake in an operation")
			}
			if in.Files["wait"] != "" {
				time.Sleep(300 * time.Millisecond) //nolint:forbidigo // longer than the server waits
			}
			for name, content := range c.Files {
				if in.Files == nil {
					in.Files = map[string]string{}
				}
				in.Files[name] = string(content)
			}
			return in, nil
		},
		Do: func(_ context.Context, _ *core.Call, in largeIn) (largeOut, error) { return largeOut(in), nil },
	})}, rest.Route{Method: http.MethodPost, Path: "/v1/large", Operation: "probe_large", Success: 200, Bundle: true, QueryAlso: []string{"dry_run", "prune"}, MaxBody: 256 << 10})
}

// zipped returns a zip archive with one file.
func zipped(t *testing.T, name, content string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	f, err := z.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, content); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestBundleBodies checks that the arguments of a route with a bundle come from the query and from the
// body, which is JSON or an archive.
func TestBundleBodies(t *testing.T) {
	t.Parallel()
	s := newLarge(t)
	const isZip = "application/zip"
	for _, c := range []struct {
		query, body, contentType string
		status                   int
		want                     string
	}{
		{"", `{"files":{"a":"b"}}`, "", 200, `{"dry_run":null,"prune":false,"files":{"a":"b"}}`},
		{"?dry_run=false&prune=true", ` {"files":{"a":"b"} } ` + "\n", "", 200, `{"dry_run":false,"prune":true,"files":{"a":"b"}}`},
		{"?prune=true", `{ }`, "", 200, `{"dry_run":null,"prune":true,"files":null}`},
		{"?prune=true", `{"prune":true}`, "", 422, "prune"},
		{"?prune=true", `{"files":{}}}`, "", 422, "after the JSON value"},
		{"?prune=true", `{"files":{}`, "", 422, "JSON"},
		{"?prune=true", `[{}]`, "", 422, "object"},
		{"?prune=perhaps", `{}`, "", 422, "prune"},
		{"", `{"files":{"a\\\"[,":",,,[[["}}`, "", 200, `a\\\"[,`},
		{"?prune=true&prune=false", `{}`, "", 422, "more than once"},
		{"?other=true", `{}`, "", 422, "no query parameter"},
		{"?prune=%zz", `{}`, "", 422, "not encoded correctly"},
		{"", `{}`, "text/plain", 422, "Content-Type"},
		{"", `{"files":{"a":"` + strings.Repeat("x", 256<<10) + `"}}`, "", 422, "more than"},
		{"", `{"files":[` + strings.Repeat("0,", 60_000) + `0]}`, "", 422, "more than 50000 JSON values"},
		{"", `{"files":{"a":"` + strings.Repeat(`,[{`, 60_000) + `"}}`, "", 200, ",[{,[{"},
		{"?dry_run=false", zipped(t, "a/b.hbs", "<p>\x01\u2028"), isZip, 200, `{"dry_run":false,"prune":false,"files":{"a/b.hbs":"\u003cp\u003e\u0001\u2028"}}`},
		{"?other=true", zipped(t, "a", "b"), isZip, 422, "no query parameter"},
		{"", `{}`, isZip, 422, "no zip archive"},
		{"", zipped(t, "../a", "b"), isZip, 422, "../a"},
	} {
		headers := []string{}
		if c.contentType != "" {
			headers = []string{"Content-Type", c.contentType}
		}
		if got := s.do(t, http.MethodPost, "/v1/large"+c.query, c.body, headers...); got.Code != c.status || !strings.Contains(got.Body.String(), c.want) {
			t.Errorf("%s %.60q: %d %s, want %d with %s", c.query, c.body, got.Code, got.Body, c.status, c.want)
		}
	}
}

// TestLongImports checks that a call that takes longer than the server's time for an answer is answered.
func TestLongImports(t *testing.T) {
	t.Parallel()
	s := newLarge(t)
	server := httptest.NewUnstartedServer(s.handler)
	server.Config.WriteTimeout = 100 * time.Millisecond
	server.Start()
	defer server.Close()
	r := s.request(http.MethodPost, server.URL+"/v1/large", `{"files":{"wait":"1"}}`)
	r.RequestURI = ""
	got, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(got.Body); err != nil || got.Body.Close() != nil || got.StatusCode != http.StatusOK {
		t.Errorf("%d %s %v", got.StatusCode, body, err)
	}
}

// upload is a body that arrives when the test sends it.
type upload struct {
	*io.PipeReader
	begun chan struct{} // closed by the first read
	seen  bool
}

func newUpload() (*upload, *io.PipeWriter) {
	r, w := io.Pipe()
	return &upload{PipeReader: r, begun: make(chan struct{})}, w
}

func (u *upload) Read(b []byte) (int, error) {
	if !u.seen {
		u.seen = true
		close(u.begun)
	}
	return u.PipeReader.Read(b)
}

// TestLargeCallsAreBounded checks that an organization can send two bundles at a time. Another one is not
// read before one of them is answered. A call to another route does not wait.
func TestLargeCallsAreBounded(t *testing.T) {
	t.Parallel()
	s := newLarge(t)
	answers := make(chan int, 3)
	start := func() (*upload, *io.PipeWriter) {
		body, sender := newUpload()
		r := s.request(http.MethodPost, "/v1/large", "", "Content-Type", "application/json")
		r.Body, r.ContentLength = body, -1
		go func() {
			w := httptest.NewRecorder()
			s.handler.ServeHTTP(w, r)
			answers <- w.Code
		}()
		return body, sender
	}
	first, firstSender := start()
	second, secondSender := start()
	<-first.begun
	<-second.begun
	third, thirdSender := start()
	if got := s.do(t, http.MethodGet, "/v1/_scopes", ""); got.Code != http.StatusOK {
		t.Errorf("another route: %d", got.Code)
	}
	if got := s.do(t, http.MethodPost, "/v1/large", "{}", "Authorization", "Bearer unknown"); got.Code != http.StatusUnauthorized {
		t.Errorf("without a credential: %d", got.Code)
	}
	select {
	case <-third.begun:
		t.Error("a third body was read")
	default:
	}
	for _, sender := range []*io.PipeWriter{firstSender, secondSender, thirdSender} {
		_, _ = io.WriteString(sender, "{}") // the answer says whether it arrived
		_ = sender.Close()
		if code := <-answers; code != http.StatusOK {
			t.Errorf("answered %d", code)
		}
	}
}

// TestSlotsAreReleased checks that a call releases its slot however it ends: with an answer, a refusal of
// its body, a panic, or a client that is gone. The organization has two slots, so
// a call after three that keep theirs would be refused.
func TestSlotsAreReleased(t *testing.T) {
	t.Parallel()
	s := newLarge(t)
	gone := func() *http.Request {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		r := s.request(http.MethodPost, "/v1/large", "{}").WithContext(ctx)
		r.Body = io.NopCloser(failing{})
		return r
	}
	for name, request := range map[string]func() *http.Request{
		"answered": func() *http.Request { return s.request(http.MethodPost, "/v1/large", "{}") },
		"refused":  func() *http.Request { return s.request(http.MethodPost, "/v1/large?other=1", "{}") },
		"invalid":  func() *http.Request { return s.request(http.MethodPost, "/v1/large", "{") },
		"no archive": func() *http.Request {
			return s.request(http.MethodPost, "/v1/large", "{", "Content-Type", "application/zip")
		},
		"panicking":   func() *http.Request { return s.request(http.MethodPost, "/v1/large", `{"files":{"panic":"1"}}`) },
		"client gone": gone,
	} {
		for range 3 {
			s.abandon(request())
		}
		if got := s.do(t, http.MethodPost, "/v1/large", "{}"); got.Code != http.StatusOK {
			t.Errorf("after %s: %d", name, got.Code)
		}
	}
}

// abandon serves a request whose connection may be aborted.
func (s *stack) abandon(r *http.Request) {
	defer func() {
		cause := recover()
		if err, ok := cause.(error); cause != nil && (!ok || !errors.Is(err, http.ErrAbortHandler)) {
			panic(cause)
		}
	}()
	s.handler.ServeHTTP(httptest.NewRecorder(), r)
}

// failing is a body whose client is gone.
type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("connection reset") }
