package ses_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/sending/ses"
)

// call is a recorded request to the fake SES API.
type call struct {
	method, path, authorization string
	body                        string
}

// provider is a fake of the SES API in this process. It answers the methods and paths that
// the test registers, and fails the test for others.
type provider struct {
	t *testing.T

	mu      sync.Mutex
	answers map[string]http.HandlerFunc
	calls   []call
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	return &provider{t: t, answers: map[string]http.HandlerFunc{}}
}

// RoundTrip records the request and returns the response that the test registered for its
// method and path. It does not use the network.
func (p *provider) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
		r.Body.Close()
	}
	one := call{r.Method, r.URL.EscapedPath(), r.Header.Get("Authorization"), string(body)}
	p.mu.Lock()
	p.calls = append(p.calls, one)
	answer := p.answers[one.method+" "+one.path]
	p.mu.Unlock()
	if answer == nil {
		p.t.Errorf("the provider was asked for %s %s", one.method, one.path)
		answer = refuse(http.StatusBadRequest, "BadRequestException")
	}
	w := httptest.NewRecorder()
	r.Body = io.NopCloser(strings.NewReader(one.body))
	answer(w, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return w.Result(), nil
}

func (p *provider) handle(methodAndPath string, answer http.HandlerFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answers[methodAndPath] = answer
}

// recordedCalls returns all requests so far, in order.
func (p *provider) recordedCalls() []call {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]call(nil), p.calls...)
}

// count returns how many requests had the method and path, such as "GET /v2/email/account".
func (p *provider) count(methodAndPath string) int {
	n := 0
	for _, c := range p.recordedCalls() {
		if c.method+" "+c.path == methodAndPath {
			n++
		}
	}
	return n
}

// hidden is part of every error text of the fake SES API. Errors that API callers see must
// not contain it.
const hidden = "PROVIDER-TEXT"

func refuse(status int, code string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Amzn-Errortype", code)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]string{"message": hidden})
	}
}

func respondWith(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, text)
	}
}

// answerInTurn returns a handler that uses the n-th answer for the n-th request, and the
// last one for further requests.
func answerInTurn(answers ...http.HandlerFunc) http.HandlerFunc {
	var mu sync.Mutex
	return func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		next := answers[0]
		if len(answers) > 1 {
			answers = answers[1:]
		}
		mu.Unlock()
		next(w, r)
	}
}

// The paths of the API.
const (
	getAccount   = "GET /v2/email/account"
	sendEmail    = "POST /v2/email/outbound-emails"
	sendBulk     = "POST /v2/email/outbound-bulk-emails"
	contactLists = "GET /v2/email/contact-lists"
	contact      = "/v2/email/contact-lists/people/contacts/ada%40example.com"
	askTokens    = "POST /"
)

const oneList = `{"ContactLists":[{"ContactListName":"people"}]}`

func config(p *provider) ses.Config {
	return ses.Config{
		AccountID: "111122223333", Region: "eu-central-1",
		Credentials: ses.Credentials{AccessKeyID: "AKIDEXAMPLE", Secret: "secret"},
		HTTPClient:  &http.Client{Transport: p}, RetryDelay: time.Microsecond,
	}
}

func open(t *testing.T, c ses.Config) *ses.Account {
	t.Helper()
	a, err := ses.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
