package server

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/conformance/sending/wire"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// provider is a server in place of Amazon SES. While the field ill is nil, the server
// answers correctly. Otherwise the handler in ill answers.
type provider struct {
	well http.Handler
	ill  atomic.Pointer[http.HandlerFunc] // nil: the server answers correctly
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if ill := p.ill.Load(); ill != nil {
		(*ill)(w, r)
		return
	}
	p.well.ServeHTTP(w, r)
}

// connect starts a server that acts as the provider's API and whose answers the test can
// replace by failures. It connects the demo organization's sending account to this server.
func (s *faultScene) connect(t *testing.T) *provider {
	t.Helper()
	account := &provider{well: wire.New(wire.Config{Account: s.p.Simulator, OrgID: s.p.OrgID})}
	server := httptest.NewServer(account)
	t.Cleanup(server.Close)
	now := s.p.Clock.Now()
	err := s.p.Connections.SaveConnection(t.Context(), sending.Connection{
		OrgID: s.p.OrgID, Provider: sending.SES, AccountID: "111122223333", Region: "eu-central-1", Endpoint: server.URL,
		AccessKeyID: "AKIDOFTHEFAULTS0", Secret: secretKey, IngestPath: "faults", CreatedAt: now, UpdatedAt: now,
	})
	if err != nil {
		t.Fatal(err)
	}
	// after a minute the cached connection to the sending account has expired, so the new
	// one is used
	s.p.Clock.Advance(time.Minute)
	return account
}

// respondWith returns a handler that answers with the given status, body and headers. It
// adds headers whose value must not reach a caller.
func respondWith(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Amzn-RequestId", providersHeader)
		w.Header().Set("Set-Cookie", "session="+providersHeader)
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// half answers with only a part of the body that its Content-Length announces, and closes
// the connection.
func half(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "4096")
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{"ProductionAccessEnabled":true,"` + providersWord + `":"` + providersAddress + `","Contacts":[{"EmailAddress":"`))
	panic(http.ErrAbortHandler)
}

// waitForDisconnect sends no answer and returns when the caller disconnects. It reads the
// body, because the server notices a disconnect only after that.
func waitForDisconnect(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

func hangUp(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// TestHostileProvider makes all calls while a server in place of Amazon SES sends broken
// answers. Each call that needs the account must fail with upstream_unavailable, not with
// an error of the caller and not with "not found".
//
// What the server makes of an answer does not depend on the database, so the test runs on SQLite
// alone, unless the tests run in full. [TestSimulatedFaults] has the statements after a failed call
// on both.
func TestHostileProvider(t *testing.T) {
	t.Parallel()
	message := func(code string) string {
		return `{"__type":"` + code + `","message":"` + providersWord + ` about ` + providersAddress + ` and read-address@example.com"}`
	}
	page := "<html><title>" + providersWord + "</title>" + strings.Repeat(providersAddress+" ", 200) + "</html>"
	unavailable := func(name string, wait int) trouble { return trouble{name, http.StatusServiceUnavailable, wait} }
	ways := map[trouble]http.HandlerFunc{
		unavailable("half-a-body", usualWait):             half,
		unavailable("hangs-up", usualWait):                hangUp,
		unavailable("garbage", usualWait):                 respondWith(http.StatusOK, "\x00\xff{]"+providersWord),
		unavailable("a-page", usualWait):                  respondWith(http.StatusOK, page, "Content-Type", "text/html"),
		unavailable("an-array", usualWait):                respondWith(http.StatusOK, `["`+providersWord+`"]`),
		unavailable("500-silent", usualWait):              respondWith(http.StatusInternalServerError, ""),
		unavailable("500-page", usualWait):                respondWith(http.StatusInternalServerError, page, "Content-Type", "text/html"),
		unavailable("502-page", usualWait):                respondWith(http.StatusBadGateway, page, "Content-Type", "text/html"),
		unavailable("404-page", usualWait):                respondWith(http.StatusNotFound, page, "Content-Type", "text/html"),
		unavailable("404-silent", usualWait):              respondWith(http.StatusNotFound, ""),
		unavailable("400-page", usualWait):                respondWith(http.StatusBadRequest, page, "Content-Type", "text/html"),
		unavailable("403", usualWait):                     respondWith(http.StatusForbidden, message("UnrecognizedClientException")),
		unavailable("redirect", usualWait):                respondWith(http.StatusFound, page, "Location", "/"+providersHeader),
		unavailable("429", 7):                             respondWith(http.StatusTooManyRequests, message("TooManyRequestsException"), "Retry-After", "7"),
		unavailable("429-silent", 7):                      respondWith(http.StatusTooManyRequests, "", "Retry-After", "7"),
		unavailable("429-nonsense", usualWait):            respondWith(http.StatusTooManyRequests, message("TooManyRequestsException"), "Retry-After", "soon "+providersHeader),
		unavailable("429-for-a-century", usualWait):       respondWith(http.StatusTooManyRequests, message("TooManyRequestsException"), "Retry-After", "3155760000"),
		{"silence", http.StatusGatewayTimeout, usualWait}: waitForDisconnect,
	}
	enginetest.OnceEngine(t, func(t *testing.T, postgres bool) {
		log := new(journal)
		s := newFaultScene(t, product.Options{Postgres: postgres, Log: log})
		account := s.connect(t)
		for want, way := range ways {
			t.Run(want.name, func(t *testing.T) {
				s.begin(t, want.name)
				account.ill.Store(&way)
				s.checkFailures(t, want)
				account.ill.Store(nil)
				s.checkRecovery(t, want)
			})
		}
		checkFaultLog(t, log.text())
	})
}
