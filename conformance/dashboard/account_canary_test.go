package dashboard_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// startEchoingServer starts a mail server that refuses every login. Each refusal repeats
// the sent credentials, encoded and decoded. It returns the server's address and a
// counter of the logins.
func startEchoingServer(t *testing.T) (address string, heard *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	heard = &atomic.Int64{}
	var talks sync.WaitGroup
	talks.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			talks.Go(func() { repeat(conn, heard) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); talks.Wait() })
	return l.Addr().String(), heard
}

func repeat(conn net.Conn, heard *atomic.Int64) {
	defer func() { _ = conn.Close() }() // a failed close does not change the result of the test
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	_, _ = io.WriteString(conn, "220 parrot\r\n")
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		answer := "250-parrot\r\n250 AUTH PLAIN"
		if encoded, is := strings.CutPrefix(lines.Text(), "AUTH PLAIN "); is {
			heard.Add(1)
			plain, _ := base64.StdEncoding.DecodeString(encoded)
			answer = "535 5.7.8 not " + encoded + " nor " + strings.ReplaceAll(string(plain), "\x00", " ")
		}
		if _, err := io.WriteString(conn, answer+"\r\n"); err != nil {
			return
		}
	}
}

// brokenProviders are handlers that stand for Amazon SES and fail, by kind of failure. Some
// repeat the whole request in the answer, with its secrets.
var brokenProviders = map[string]http.HandlerFunc{
	"refuses the credentials": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Amzn-Errortype", "UnrecognizedClientException")
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, `{"message":%q}`, dumpRequest(r))
	},
	"is a page": func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "<html>%s</html>", dumpRequest(r)) },
	"breaks down": func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, dumpRequest(r), http.StatusInternalServerError)
	},
	"hangs up":   func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	"sends away": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) },
}

func dumpRequest(r *http.Request) string {
	body, _ := io.ReadAll(r.Body)
	return fmt.Sprint(r.URL, r.Header, string(body))
}

// setEndpoint changes the stored connection so that the product calls the given endpoint, a
// server of the test. It then advances the clock, so that cached copies of the connection
// expire.
func (b canaryBrowser) setEndpoint(endpoint string) {
	b.t.Helper()
	c, err := connection(b.t, b.p)
	if err != nil {
		b.t.Fatal(err)
	}
	c.Endpoint, c.MayReachPrivate, c.UpdatedAt = endpoint, true, b.p.Clock.Now()
	if err := b.p.Connections.SaveConnection(b.t.Context(), c); err != nil {
		b.t.Fatal(err)
	}
	b.p.Clock.Advance(time.Minute) // cached copies of the connection expire
}

// checkProviderCalls requests every page and API path that calls the provider, and checks
// that no answer contains a secret. what names the provider's failure in messages.
func (b canaryBrowser) checkProviderCalls(what string) {
	b.t.Helper()
	b.secrets.wantAbsent(b.t, "the check while the provider "+what, []byte(b.submit(b.open(accountPage), accountPage+"/verify", unchanged)))
	for _, page := range []string{accountPage, connectPage, "/dashboard/channels", "/dashboard/audit"} {
		b.secrets.wantAbsent(b.t, page, []byte(b.open(page)))
	}
	for _, path := range []string{"/v1/account", "/v1/suppressions", "/v1/contacts/" + b.p.Contact} {
		r, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.p.BaseURL+path, nil)
		if err != nil {
			b.t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+b.p.Live.APIKey)
		answer, err := b.p.HTTP.Do(r)
		if err != nil {
			b.t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil {
			b.t.Fatal(err)
		}
		b.secrets.wantAbsent(b.t, path, text)
	}
}

// failAmazon connects the product to Amazon SES with a secret and submits the connection
// form with invalid fields. Then, for each failure in brokenProviders, it requests every
// page that calls the failing provider.
func (b canaryBrowser) failAmazon() {
	secret := b.addSecret("secret key", "canarySecretKeyOfAmazon+/0123456789abcdef")
	b.connect("ses", func(form url.Values) {
		form.Set("region", "eu-central-1")
		form.Set("access_key_id", accountKeyID)
		form.Set("secret", secret)
	})
	b.addSecret("events key", b.mustFind(b.submit(b.open(accountPage+"/events-key"), accountPage+"/events-key", unchanged), shownEventsKey))
	spoiled := b.form(b.open(connectPage), connectPage)
	spoiled.Set("secret", secret)
	for _, field := range []string{"region", "role_arn", "topic_arn"} {
		spoiled.Set(field, "nowhere")
		_, _, text := b.send(connectPage, spoiled)
		b.secrets.wantAbsent(b.t, "the refusal of a "+field, []byte(text))
	}
	for what, answer := range brokenProviders {
		server := httptest.NewServer(answer)
		b.setEndpoint(server.URL)
		b.checkProviderCalls(what)
		server.Close()
	}
	b.checkProviderCalls("is gone")
}

func (b canaryBrowser) failServer() {
	password := b.addSecret("password of the mail server", "canary password of the mail server")
	b.addSecret("name and password as SMTP has them", base64.StdEncoding.EncodeToString([]byte("\x00mailer\x00"+password)))
	b.connect("smtp", func(form url.Values) {
		form.Set("host", privateMailHost)
		form.Set("port", "25")
		form.Set("access_key_id", "mailer")
		form.Set("secret", password)
		form.Set("identities", "example.com")
		form.Set("max_24_hour_send", "10")
		form.Set("max_send_rate", "5")
	})
	address, heard := startEchoingServer(b.t)
	b.setEndpoint(address)
	b.checkProviderCalls("repeats the password")
	if heard.Load() == 0 {
		b.t.Error("the mail server never heard the password, so its silence shows nothing")
	}
}

// TestSecretsOfAnAccountLeaveNoTrace checks that the secret of a sending account does not
// leak when the account fails in many ways. No answer, no line of the debug log and no file
// of the data folder may contain it.
func TestSecretsOfAnAccountLeaveNoTrace(t *testing.T) {
	t.Parallel()
	enginetest.EachEngine(t, func(t *testing.T, postgres bool) {
		var log strings.Builder
		secrets := canaries{}
		t.Run("product", func(t *testing.T) {
			p := product.Start(t, product.Options{Log: &log, Postgres: postgres})
			b := canaryBrowser{owner(t, p), secrets}
			b.failAmazon()
			c, err := connection(t, p)
			if err != nil || c.Provider != sending.SES || c.Secret != secrets["secret key"] {
				t.Fatalf("the secret was not taken: %v", err)
			}
			secrets.wantAbsent(t, "the data folder", readFiles(t, p.DataDir, "demo.json"))
			b.failServer()
			kept := readFiles(t, p.DataDir, "demo.json")
			if !postgres && !bytes.Contains(kept, []byte(accountKeyID)) {
				t.Error("the files hold nothing of the connection, so their silence shows nothing")
			}
			secrets.wantAbsent(t, "the data folder", kept)
		})
		secrets.checkLog(t, log.String(), `UnrecognizedClientException`, `StatusCode: 500`, `connection refused`)
	})
}
