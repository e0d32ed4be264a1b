package attacks_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
)

// stopSending sends an HTTP request, closes the sending half of the connection and reads
// the response. If the server closes the connection without a response, the status in the
// reply is 0.
func stopSending(t *testing.T, address, text string) reply {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", u.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // the answer was read
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		return reply{}
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return reply{}
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Errorf("the answer broke off: %v", err)
	}
	return reply{status: answer.StatusCode, header: answer.Header, body: string(body)}
}

// TestHalfClosedConnectionGetsAWholeAnswerOrNone checks clients that close the sending half
// of their connection after a request. To the server such a client looks as if it had
// disconnected, so the server cancels the call. The client must get a complete JSON answer
// or none, never a server error. The log must show no error, and the metrics no refusal.
func TestHalfClosedConnectionGetsAWholeAnswerOrNone(t *testing.T) {
	t.Parallel()
	log := &lines{}
	t.Run("product", func(t *testing.T) {
		p := product.Start(t, product.Options{Log: log})
		const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"lists_list","arguments":{}}}`
		for range 20 {
			for address, text := range map[string]string{
				p.MCPURL:  request("POST /mcp", p.Token(t, p.MCPURL), call),
				p.BaseURL: request("GET /v1/lists", p.Live.APIKey, ""),
			} {
				got := stopSending(t, address, text)
				if got.status >= 500 || got.status != 0 && !strings.HasPrefix(got.body, "{") {
					t.Errorf("%.20s: %d %.200q", text, got.status, got.body)
				}
			}
		}
		if counts := fetch(t, p.HTTP, p.AdminURL+"/metrics"); countedRefusal.MatchString(counts) {
			t.Errorf("who left was counted as refused: %s", counts)
		}
	})
	if bytes.Contains(log.text.Bytes(), []byte(`"level":"ERROR"`)) {
		t.Errorf("the log has errors: %.2000s", log.text.String())
	}
}

// countedRefusal matches a line of metrics with a refusal. Series without one are 0.
var countedRefusal = regexp.MustCompile(`(?m)^mailhelm_refusals_total\{.*\} [1-9]`)

// request returns the text of an HTTP/1.1 request with a bearer token and a JSON body. line
// has the method and the path, such as "GET /v1/lists".
func request(line, credential, body string) string {
	return fmt.Sprintf("%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		line, credential, len(body), body)
}

func fetch(t *testing.T, client *http.Client, address string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d, %v", address, answer.StatusCode, err)
	}
	return string(body)
}
