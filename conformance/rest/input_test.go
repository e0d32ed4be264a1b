package rest_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
)

// badInput is a request that must be refused with validation_failed. field is the invalid
// member; "" means the whole request.
type badInput struct {
	method, target, body string
	headers              []string
	field                string
}

const create = "/v1/contacts"

// badInputs returns invalid requests, keyed by the kind of fault. cursor is a cursor of the
// list of contacts without filters.
func badInputs(cursor string) map[string]badInput {
	return map[string]badInput{
		"duplicate key":         {"POST", create, `{"email":"bad@example.com","email":"bad@example.com"}`, nil, "email"},
		"duplicate key, inside": {"POST", create, `{"email":"bad@example.com","attributes":{"city":"a","city":"b"}}`, nil, "attributes.city"},
		"depth 10,000":          {"POST", create, `{"email":"bad@example.com","attributes":` + strings.Repeat(`{"a":`, 10_000) + `1` + strings.Repeat(`}`, 10_000) + `}`, nil, ""},
		"NUL":                   {"POST", create, `{"email":"bad@example.com","attributes":{"city":"a\u0000"}}`, nil, "attributes.city"},
		"wrong-case key":        {"POST", create, `{"email":"bad@example.com","Attributes":{}}`, nil, "Attributes"},
		"wrong-case email":      {"POST", create, `{"Email":"bad@example.com"}`, nil, ""},
		"unknown member":        {"POST", create, `{"email":"bad@example.com","admin":true}`, nil, "admin"},
		"not an address":        {"POST", create, `{"email":"bad"}`, nil, "email"},
		"no address":            {"POST", create, `{}`, nil, "email"},
		"array":                 {"POST", create, `[{"email":"bad@example.com"}]`, nil, ""},
		"truncated":             {"POST", create, `{"email":"bad@example.com"`, nil, ""},
		"trailing":              {"POST", create, `{"email":"bad@example.com"}{}`, nil, ""},
		"byte order mark":       {"POST", create, "\ufeff" + `{"email":"bad@example.com"}`, nil, ""},
		"UTF-16":                {"POST", create, "\xff\xfe{\x00}\x00", nil, ""},
		"empty body":            {"POST", create, "", []string{"Content-Type", "application/json"}, ""},
		"form":                  {"POST", create, "email=bad%40example.com", []string{"Content-Type", "application/x-www-form-urlencoded"}, "Content-Type"},
		"no content type":       {"POST", create, `{"email":"bad@example.com"}`, []string{"Content-Type", ""}, "Content-Type"},
		"charset":               {"POST", create, `{"email":"bad@example.com"}`, []string{"Content-Type", "application/json; charset=utf-16"}, "Content-Type"},
		"compressed":            {"POST", create, `{"email":"bad@example.com"}`, []string{"Content-Encoding", "gzip"}, "Content-Encoding"},
		"query on a write":      {"POST", create + "?email=bad@example.com", `{"email":"bad@example.com"}`, nil, "email"},
		"path and body":         {"PUT", create + "/bad%40example.com", `{"email":"other@example.com"}`, nil, "email"},
		"body on DELETE":        {"DELETE", create + "/bad%40example.com", `{}`, nil, ""},
		"path is no address":    {"GET", create + "/bad", "", nil, "email"},
		"path is a NUL":         {"GET", create + "/a%00%40example.com", "", nil, "email"},
		"path is not UTF-8":     {"GET", create + "/%FF%40example.com", "", nil, "email"},
		"unknown filter":        {"GET", create + "?emial=x", "", nil, "emial"},
		"another's filter":      {"GET", create + "?external_id=x", "", nil, "external_id"},
		"filter twice":          {"GET", create + "?topic=offers&topic=events", "", nil, "topic"},
		"half a filter":         {"GET", create + "?subscription_status=OPT_IN", "", nil, "subscription_status"},
		"other half":            {"GET", create + "?attribute_value=x", "", nil, "attribute_value"},
		"bad enum":              {"GET", create + "?topic=offers&subscription_status=opt-in", "", nil, "subscription_status"},
		"bad boolean":           {"GET", create + "?unsubscribe_all=yes", "", nil, "unsubscribe_all"},
		"limit 0":               {"GET", create + "?limit=0", "", nil, "limit"},
		"limit 201":             {"GET", create + "?limit=201", "", nil, "limit"},
		"limit -1":              {"GET", create + "?limit=-1", "", nil, "limit"},
		"limit text":            {"GET", create + "?limit=ten", "", nil, "limit"},
		"limit huge":            {"GET", create + "?limit=99999999999999999999", "", nil, "limit"},
		"cursor nonsense":       {"GET", create + "?cursor=nonsense", "", nil, "cursor"},
		"cursor edited":         {"GET", create + "?cursor=" + cursor[:len(cursor)-3], "", nil, "cursor"},
		"cursor, other filter":  {"GET", create + "?unsubscribe_all=true&cursor=" + cursor, "", nil, "cursor"},
		"cursor of other list":  {"GET", "/v1/lists?cursor=" + cursor, "", nil, "cursor"},
		"cursor on no list":     {"GET", "/v1/topics?cursor=" + cursor, "", nil, "cursor"},
		"offset":                {"GET", create + "?offset=10", "", nil, "offset"},
		"query on account":      {"GET", "/v1/account?x=1", "", nil, "x"},
		"long key":              {"POST", create, `{"email":"bad@example.com"}`, []string{"Idempotency-Key", strings.Repeat("k", 256)}, "Idempotency-Key"},
		"malformed key":         {"POST", create, `{"email":"bad@example.com"}`, []string{"Idempotency-Key", `"k`}, "Idempotency-Key"},
	}
}

// TestBadInput checks that each invalid request is refused with the name of the invalid
// member, and that nothing is stored.
func TestBadInput(t *testing.T) {
	t.Parallel()
	a := start(t, product.Options{})
	first := a.do(t, "GET", "/v1/contacts?limit=1", "").want(200).page()
	t.Run("refused", func(t *testing.T) {
		for name, tc := range badInputs(*first.Pagination.NextCursor) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				p := a.do(t, tc.method, tc.target, tc.body, tc.headers...).refused(422, core.CodeValidationFailed)
				if !slices.ContainsFunc(p.Errors, func(e core.FieldError) bool { return tc.field == "" || e.Field == tc.field }) {
					t.Errorf("errors = %+v, want one about %q", p.Errors, tc.field)
				}
			})
		}
	})
	p := a.do(t, "POST", create, `{"email":"bad@example.com","attributes":{"orders":"many","shoe_size":43}}`).refused(422, core.CodeAttributeValidationFailed)
	if len(p.Errors) != 2 {
		t.Errorf("errors = %+v, want one for each attribute", p.Errors)
	}
	a.do(t, "GET", create+"/bad%40example.com", "").refused(404, core.CodeNotFound)
}

// TestAddressesInPaths checks that an address in a path names its contact in any encoding,
// and that the response has the address unencoded.
func TestAddressesInPaths(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		for sent, email := range map[string]string{
			"plus+tag@example.com":          "plus+tag@example.com",
			"plus%2Bcoded%40example.com":    "plus+coded@example.com",
			"slash%2Finside%40example.com":  "slash/inside@example.com",
			"percent%2541%40example.com":    "percent%41@example.com",
			"o'brien%40example.com":         "o'brien@example.com",
			"query%3Fmark%40example.com":    "query?mark@example.com",
			"hash%23mark%40example.com":     "hash#mark@example.com",
			"amp&equals=%40example.com":     "amp&equals=@example.com",
			"user%40xn--mnchen-3ya.example": "user@xn--mnchen-3ya.example",
		} {
			t.Run(email, func(t *testing.T) {
				t.Parallel()
				r := a.request(t, "PUT", "/", `{}`)
				r.URL.Opaque = strings.TrimPrefix(a.BaseURL, "http:") + "/v1/contacts/" + sent
				if c := a.send(t, r).want(201).contact(); c.Email != email {
					t.Errorf("email = %q, want %q", c.Email, email)
				}
				a.do(t, "POST", "/v1/contacts", fmt.Sprintf(`{"email":%q}`, email)).refused(409, core.CodeConflict)
			})
		}
	})
}

// TestAddressesOutsideASCII checks that addresses with a local part outside ASCII (RFC
// 6531) are refused, because the sending account does not accept them. An internationalized
// domain is accepted and stored in its ASCII form.
func TestAddressesOutsideASCII(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		for _, sent := range []string{"m%C3%BCnch%40example.com", "%E7%94%A8%E6%88%B7@example.com", "user@m%C3%BC%20nchen.example"} {
			for _, method := range []string{"GET", "PUT"} {
				body := ""
				if method == "PUT" {
					body = "{}"
				}
				p := a.do(t, method, "/v1/contacts/"+sent, body).refused(422, core.CodeValidationFailed)
				if p.Errors[0].Field != "email" {
					t.Errorf("%s %s: errors = %+v", method, sent, p.Errors)
				}
			}
		}
	})
}

// TestLargeBodyIsRefusedUnread sends the headers of a request of 64 MB and only the
// beginning of its body. It checks that the request is refused before the rest arrives.
func TestLargeBodyIsRefusedUnread(t *testing.T) {
	t.Parallel()
	a := start(t, product.Options{})
	for name, head := range map[string]string{
		"announced": "Content-Length: 67108864\r\n",
		"chunked":   "Transfer-Encoding: chunked\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var dialer net.Dialer
			conn, err := dialer.DialContext(t.Context(), "tcp", strings.TrimPrefix(a.BaseURL, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close() //nolint:errcheck // the server may have closed it
			_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
			fmt.Fprintf(conn, "POST /v1/contacts HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n%s\r\n", a.credential, head)
			if name == "chunked" {
				// announces a chunk of 2 MiB and sends only a part of it
				fmt.Fprintf(conn, "200000\r\n{\"email\":\"%s", strings.Repeat("a", 3<<19))
			}
			got, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer got.Body.Close()
			body, _ := io.ReadAll(got.Body)
			if got.StatusCode != 422 || !strings.Contains(string(body), "1 MiB") || !got.Close {
				t.Errorf("status %d, close %v: %s", got.StatusCode, got.Close, body)
			}
		})
	}
}

// TestBodiesWithoutATokenAreNotRead checks that the server does not read the body of a
// request without a valid credential.
func TestBodiesWithoutATokenAreNotRead(t *testing.T) {
	t.Parallel()
	a := start(t, product.Options{})
	r := a.as("").request(t, "POST", "/v1/contacts", "x")
	reader, writer := io.Pipe()
	defer writer.Close() //nolint:errcheck // never fails
	r.Body, r.ContentLength = reader, -1
	r.Header.Set("Expect", "100-continue")
	a.send(t, r).refused(401, core.CodeInvalidKey)
}
