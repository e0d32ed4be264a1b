package bridge_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/connecting/bridge"
)

// tokens gives numbered tokens, each other than the refused one.
type tokens struct {
	mu  sync.Mutex
	n   int
	err error
}

func (t *tokens) Token(context.Context) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return fmt.Sprint("t", t.n), t.err
}

func (t *tokens) Renew(context.Context, string) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n++
	return fmt.Sprint("t", t.n), t.err
}

// run passes the lines through a bridge to the endpoint and returns the lines that the
// client got, sorted.
func run(t *testing.T, endpoint http.HandlerFunc, from *tokens, lines ...string) []string {
	t.Helper()
	server := httptest.NewServer(endpoint)
	defer server.Close()
	var out bytes.Buffer
	b := bridge.Bridge{Address: server.URL, HTTP: server.Client(), Tokens: from, Help: "Sign in again."}
	if err := b.Run(t.Context(), strings.NewReader(strings.Join(lines, "\n")), &out); err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.ReplaceAll(strings.TrimSuffix(out.String(), "\n"), server.URL, "URL"), "\n")
	slices.Sort(got)
	return got
}

// reply is an endpoint that gives one answer.
func reply(status int, media, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", media)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

const ask = `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`

func TestAnswers(t *testing.T) {
	t.Parallel()
	const notice = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":0.50,"x":"<&>"}}`
	const answer = `{"jsonrpc":"2.0","id":7,"result":{"n":1.0,"s":"\u00e9","big":12345678901234567890}}`
	for name, tc := range map[string]struct {
		endpoint http.HandlerFunc
		want     []string
	}{
		"JSON":                {reply(200, "application/json", answer), []string{answer}},
		"JSON on many lines":  {reply(200, "application/json; charset=utf-8", "{\n  \"jsonrpc\": \"2.0\",\n \"id\": 7, \"result\": {}}\n"), []string{`{"jsonrpc":"2.0","id":7,"result":{}}`}},
		"events":              {reply(200, "text/event-stream", ": hello\nevent: message\ndata: "+notice+"\n\ndata:"+answer+"\r\n\r\n"), []string{answer, notice}},
		"event on many lines": {reply(200, "text/event-stream", "data: {\"jsonrpc\":\"2.0\",\ndata: \"id\":7,\"result\":{}}\n\n"), []string{`{"jsonrpc":"2.0","id":7,"result":{}}`}},
		"JSON-RPC error":      {reply(400, "application/json", `{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"no"}}`), []string{`{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"no"}}`}},
		"answer to another":   {reply(200, "application/json", `{"jsonrpc":"2.0","id":8,"result":{}}`), []string{`{"jsonrpc":"2.0","id":7,"error":{"code":2,"message":"No complete answer from URL: the connection ended before the answer. Check that the server runs and can be reached, then try again."}}`}},
		"events that end":     {reply(200, "text/event-stream", "data: "+answer), []string{`{"jsonrpc":"2.0","id":7,"error":{"code":2,"message":"No complete answer from URL: the connection ended before the answer. Check that the server runs and can be reached, then try again."}}`}},
		"problem":             {reply(429, "application/problem+json", `{"title":"Too many requests","detail":"Slow down.","next_step":"Wait.","retry_after":3}`), []string{`{"jsonrpc":"2.0","id":7,"error":{"code":3,"message":"Too many requests Slow down. Wait.","data":{"title":"Too many requests","detail":"Slow down.","next_step":"Wait.","retry_after":3}}}`}},
		"a proxy's page":      {reply(502, "text/html", "<h1>Bad gateway</h1>"), []string{`{"jsonrpc":"2.0","id":7,"error":{"code":3,"message":"the endpoint answered with status 502 Bad Gateway"}}`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, run(t, tc.endpoint, &tokens{}, ask)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestInput checks the answers to lines that are no message, and that they do not end the
// bridge.
func TestInput(t *testing.T) {
	t.Parallel()
	echo := func(w http.ResponseWriter, r *http.Request) {
		var m map[string]json.RawMessage
		_ = json.NewDecoder(r.Body).Decode(&m)
		reply(200, "application/json", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, m["id"]))(w, r)
	}
	got := run(t, echo, &tokens{}, "", "  ", "nonsense", "[1,2]", "[]", `"text"`, `{"id":1,"id":2,"method":"a"}`, strings.Repeat("x", 3<<20), `{"id":"a b","method":"ping"}`, `{"method":"notifications/x"}`, `{"id":1,"result":{}}`)
	refused := 0
	for _, line := range got {
		if strings.Contains(line, `"id":null,"error":{"code":-32`) {
			refused++
		}
	}
	if refused != 6 || !slices.Contains(got, `{"jsonrpc":"2.0","id":"a b","result":{}}`) || len(got) != 7 {
		t.Errorf("%d refused of %d:\n%s", refused, len(got), strings.Join(got, "\n"))
	}
}

// TestHeaders checks the headers of both generations of the protocol.
func TestHeaders(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	seen := map[string]string{}
	endpoint := func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		var m struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.Unmarshal(raw, &m)
		mu.Lock()
		seen[m.Method] = strings.Join([]string{r.Header.Get("Mcp-Protocol-Version"), r.Header.Get("Mcp-Method"), r.Header.Get("Mcp-Name"), r.Header.Get("Mcp-Session-Id"), r.Header.Get("Authorization")}, "|")
		mu.Unlock()
		w.Header().Set("Mcp-Session-Id", "s1")
		reply(200, "application/json", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18"}}`, m.ID))(w, r)
	}
	run(t, endpoint, &tokens{},
		`{"id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`,
		`{"id":2,"method":"tools/list"}`,
		`{"id":3,"method":"tools/call","params":{"name":"lïsts","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
		`{"id":4,"method":"resources/read","params":{"uri":"a:b","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`)
	if diff := cmp.Diff(map[string]string{
		"initialize":     "||||Bearer t0",
		"tools/list":     "2025-06-18|||s1|Bearer t0",
		"tools/call":     "2026-07-28|tools/call|=?base64?bMOvc3Rz?=|s1|Bearer t0",
		"resources/read": "2026-07-28|resources/read|a:b|s1|Bearer t0",
	}, seen); diff != "" {
		t.Error(diff)
	}
}

// TestRefusedToken checks that a call is repeated once with another token, and that a failed
// sign-in is explained.
func TestRefusedToken(t *testing.T) {
	t.Parallel()
	calls := 0
	endpoint := func(valid string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			calls++
			if r.Header.Get("Authorization") != "Bearer "+valid {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			reply(200, "application/json", `{"jsonrpc":"2.0","id":7,"result":{}}`)(w, r)
		}
	}
	if got := run(t, endpoint("t1"), &tokens{}, ask); calls != 2 || got[0] != `{"jsonrpc":"2.0","id":7,"result":{}}` {
		t.Errorf("%d calls, %s", calls, got)
	}
	calls = 0
	if got := run(t, endpoint("none"), &tokens{}, ask); calls != 2 || !strings.Contains(got[0], `"code":3`) {
		t.Errorf("%d calls, %s", calls, got)
	}
	got := run(t, endpoint("none"), &tokens{err: fmt.Errorf("refused in the browser")}, ask)
	if want := `{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"No access to URL: refused in the browser. Sign in again."}}`; got[0] != want {
		t.Errorf("%s", got)
	}
}

// TestCancel checks that a cancelled call ends the connection and gets no answer, and that
// calls run at the same time.
func TestCancel(t *testing.T) {
	t.Parallel()
	arrived, ended := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		if bytes.Contains(raw, []byte(`"slow"`)) {
			close(arrived)
			<-r.Context().Done()
			close(ended)
			return
		}
		reply(200, "application/json", `{"jsonrpc":"2.0","id":7,"result":{}}`)(w, r)
	}))
	defer server.Close()
	in, lines := io.Pipe()
	answers, out := io.Pipe()
	b := bridge.Bridge{Address: server.URL, HTTP: server.Client(), Tokens: &tokens{}}
	done := make(chan error, 1)
	go func() { done <- b.Run(t.Context(), in, out); _ = out.Close() }()
	fmt.Fprintln(lines, `{"id":"x","method":"slow"}`)
	<-arrived
	fmt.Fprintln(lines, ask)
	buffer := make([]byte, 1000)
	n, _ := answers.Read(buffer)
	if got := string(buffer[:n]); got != `{"jsonrpc":"2.0","id":7,"result":{}}`+"\n" {
		t.Errorf("during a slow call: %s", got)
	}
	fmt.Fprintln(lines, `{"method":"notifications/cancelled","params":{"requestId":"x"}}`)
	<-ended
	_ = lines.Close() // a pipe returns no error
	if rest, _ := io.ReadAll(answers); len(rest) > 0 {
		t.Errorf("a cancelled call was answered: %s", rest)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
