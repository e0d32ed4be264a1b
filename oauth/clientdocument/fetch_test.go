package clientdocument

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/outbound/outboundtest"
)

func TestFetch(t *testing.T) {
	t.Parallel()
	requests := make(chan http.Header, 2)
	s := newSite(t, func(s *site, w http.ResponseWriter, r *http.Request) {
		header := r.Header.Clone()
		if r.Close {
			header.Set("Closes", "yes")
		}
		requests <- header
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		serveDocument(s, w, r)
	})
	config := s.config()
	config.UserAgent = "Mailhelm/test"
	reader, dials := reading(config)
	for _, id := range []string{s.clientID, s.URL + "/other.json"} {
		if d := mustRead(t, reader, id); d.ClientID != id || d.Name != "Agent" || len(d.RedirectURIs) != 1 {
			t.Errorf("%+v", d)
		}
		seen := <-requests
		for name, want := range map[string]string{
			"Accept": "application/json", "User-Agent": "Mailhelm/test", "Closes": "yes",
			"Accept-Encoding": "", "Cookie": "", "Authorization": "", "Referer": "",
		} {
			if got := seen.Get(name); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
	}
	if len(dials.approved) != 2 {
		t.Errorf("two fetches took the connections %v", dials.approved)
	}
}

func answer(status int, header http.Header, body string) func(*site, http.ResponseWriter, *http.Request) {
	return func(_ *site, w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = []string{"application/json"}
		for name, values := range header {
			w.Header()[name] = values
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func TestAnswersThatAreRefused(t *testing.T) {
	t.Parallel()
	leads := http.Header{"Location": {"/elsewhere.json"}}
	kind := func(s string) http.Header { return http.Header{"Content-Type": {s}} }
	for name, c := range map[string]struct {
		handler func(*site, http.ResponseWriter, *http.Request)
		want    string
	}{
		"300":             {answer(300, leads, ""), "not followed"},
		"301":             {answer(301, leads, ""), "not followed"},
		"302":             {answer(302, leads, ""), "not followed"},
		"303":             {answer(303, leads, ""), "not followed"},
		"304":             {answer(304, nil, ""), "not followed"},
		"307":             {answer(307, leads, ""), "not followed"},
		"308":             {answer(308, http.Header{"Location": {"http://169.254.169.254/latest"}}, ""), "not followed"},
		"201":             {answer(201, nil, "{}"), "status 201"},
		"204":             {answer(204, nil, ""), "status 204"},
		"206":             {answer(206, nil, "{}"), "status 206"},
		"401":             {answer(401, nil, "{}"), "status 401"},
		"404":             {answer(404, nil, "{}"), "status 404"},
		"500":             {answer(500, nil, "{}"), "status 500"},
		"html":            {answer(200, kind("text/html"), "{}"), "content type"},
		"text of json":    {answer(200, kind("text/json"), "{}"), "content type"},
		"like json":       {answer(200, kind("application/jsonp"), "{}"), "content type"},
		"image of json":   {answer(200, kind("image/svg+json"), "{}"), "content type"},
		"broken type":     {answer(200, kind("application/json; ="), "{}"), "content type"},
		"empty type":      {answer(200, kind(""), "{}"), "content type"},
		"gzip":            {answer(200, http.Header{"Content-Encoding": {"gzip"}}, bomb(t)), "compressed"},
		"brotli":          {answer(200, http.Header{"Content-Encoding": {"br"}}, "x"), "compressed"},
		"identity":        {answer(200, http.Header{"Content-Encoding": {"identity"}}, "{}"), "compressed"},
		"unlabelled gzip": {answer(200, nil, bomb(t)), "JSON"},
		"a long length":   {answer(200, http.Header{"Content-Length": {"65537"}}, strings.Repeat(" ", 65537)), "longer than 64 KB"},
		"a long stream": {func(_ *site, w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for r.Context().Err() == nil {
				if _, err := w.Write(bytes.Repeat([]byte(" "), 10_000)); err != nil {
					return
				}
				_ = http.NewResponseController(w).Flush()
			}
		}, "longer than 64 KB"},
		"a long header": {answer(200, http.Header{"X": {strings.Repeat("x", 20_000)}}, "{}"), "cannot be reached"},
		"broken off":    {answer(200, http.Header{"Content-Length": {"500"}}, "{"), "cannot be reached"},
		"hung up":       {func(*site, http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "cannot be reached"},
		"no JSON":       {answer(200, nil, "{"), "JSON"},
		"twice":         {answer(200, nil, `{"client_id":"a","client_id":"b"}`), "twice"},
		"another's":     {answer(200, nil, string(documentFor(appID, nil))), "differs from the address of the document"},
		"leads away": {func(s *site, w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(documentFor(s.clientID, members{"redirect_uris": []string{"https://evil.example/cb"}}))
		}, "number 1 of the redirect_uris"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, c.handler)
			reader, _ := reading(s.config())
			_, err := reader.ReadDocument(t.Context(), s.clientID)
			wantRefusal(t, err, c.want)
			if n := s.requests.Load(); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// bomb returns 10 KB that decompress to 10 MB of white space.
func bomb(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(bytes.Repeat([]byte(" "), 10<<20)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestAnswersThatAreTaken(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]string{
		"plain": "application/json", "charset": "Application/JSON; charset=utf-8", "specific": "application/client-metadata+json",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, func(s *site, w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", kind)
				document := documentFor(s.clientID, nil)
				_, _ = w.Write(append(document, bytes.Repeat([]byte(" "), maxBody-len(document))...))
			})
			reader, _ := reading(s.config())
			mustRead(t, reader, s.clientID)
		})
	}
}

// TestSlowServers checks that a fetch ends at its deadline, whether the TLS handshake, the
// header or the body is slow.
func TestSlowServers(t *testing.T) {
	t.Parallel()
	for name, handler := range map[string]func(*site, http.ResponseWriter, *http.Request){
		"header": func(_ *site, _ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"body": func(_ *site, w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "{")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		},
		"drops": func(_ *site, w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			drop := time.NewTicker(5 * time.Millisecond)
			defer drop.Stop()
			for {
				_, _ = io.WriteString(w, " ")
				_ = http.NewResponseController(w).Flush()
				select {
				case <-r.Context().Done():
					return
				case <-drop.C:
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, handler)
			config := s.config()
			config.Deadline = 300 * time.Millisecond
			reader, _ := reading(config)
			takesTooLong(t, reader, s.clientID)
		})
	}
	t.Run("handshake", func(t *testing.T) {
		t.Parallel()
		silent, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = silent.Close() }) // the kernel accepts connections, but no server responds
		reader, _ := reading(Config{Allowed: loopback, Deadline: 300 * time.Millisecond})
		takesTooLong(t, reader, "https://"+silent.Addr().String()+"/c")
	})
}

func takesTooLong(t *testing.T, reader *Reader, clientID string) {
	t.Helper()
	began := time.Now()
	_, err := reader.ReadDocument(context.WithoutCancel(t.Context()), clientID)
	wantRefusal(t, err, "too long to arrive")
	if took := time.Since(began); took < 250*time.Millisecond || took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestDefaultDeadline(t *testing.T) {
	t.Parallel()
	if c := New(Config{}).config; c.Deadline != 5*time.Second || !strings.Contains(c.UserAgent, "Mailhelm") {
		t.Errorf("%+v", c)
	}
}

func TestCertificates(t *testing.T) {
	t.Parallel()
	s := newSite(t, serveDocument)
	unknown := s.config()
	unknown.RootCAs = x509.NewCertPool()
	reader, _ := reading(unknown)
	_, err := reader.ReadDocument(t.Context(), s.clientID)
	wantRefusal(t, err, "no trusted certificate")

	// The certificate is for example.com and 127.0.0.1, not for localhost.
	reader, _ = reading(s.config())
	_, err = reader.ReadDocument(t.Context(), strings.Replace(s.clientID, "127.0.0.1", "localhost", 1))
	wantRefusal(t, err, "no trusted certificate")
	if n := s.requests.Load(); n != 0 {
		t.Errorf("%d requests were sent to a host that is not who it says", n)
	}
}

// TestOnlyHTTPS checks that a client id that is an http URL is not fetched. A client id
// that is an https URL must never be fetched over http.
func TestOnlyHTTPS(t *testing.T) {
	t.Parallel()
	requests := make(chan string, 1)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { requests <- r.URL.Path }))
	t.Cleanup(s.Close)
	reader, dials := reading(Config{Allowed: loopback, Deadline: 10 * time.Second})
	_, err := reader.ReadDocument(t.Context(), s.URL+"/c")
	wantRefusal(t, err, "https://")
	if len(dials.approved) != 0 {
		t.Errorf("%v was dialled", dials.approved)
	}
	_, err = reader.ReadDocument(t.Context(), strings.Replace(s.URL, "http", "https", 1)+"/c")
	wantRefusal(t, err, "cannot be reached")
	select {
	case path := <-requests:
		t.Errorf("%s was asked for over http", path)
	default:
	}
}

// TestOneTextForWhatIsNotThere checks that a closed port, a forbidden address and an
// unknown host name give the same error text. Different texts would reveal open ports of
// the server's network.
func TestOneTextForWhatIsNotThere(t *testing.T) {
	t.Parallel()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := closed.Addr().String()
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	allowing, _ := reading(Config{Allowed: loopback})
	_, absent := allowing.ReadDocument(t.Context(), "https://"+address+"/c")
	names := outboundtest.NewNames(t, "127.0.0.1")
	refusing, _ := reading(Config{Resolver: names.Resolver()})
	_, denied := refusing.ReadDocument(t.Context(), appID)
	unknown, _ := reading(Config{Resolver: outboundtest.NewNames(t, "").Resolver()})
	_, nobody := unknown.ReadDocument(t.Context(), appID)
	wantRefusal(t, absent, "cannot be reached")
	if absent.Error() != denied.Error() || absent.Error() != nobody.Error() {
		t.Errorf("%q, %q, %q", absent, denied, nobody)
	}
}
