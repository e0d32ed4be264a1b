package mcp_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/goldentest"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write the golden transcripts")

// wire sends HTTP requests at one protocol revision and records requests and answers for a
// transcript.
type wire struct {
	t          *testing.T
	url        string
	revision   string
	token      string
	http       *http.Client
	transcript txtar.Archive
	replace    *strings.Replacer // replaces addresses that differ between runs
	ids        []string          // the recorded ids in the order in which they first occurred
	calls      int
}

// exchange is one request of a transcript. The test adds the headers and parameters that
// the protocol revision requires.
type exchange struct {
	verb    string            // the HTTP method; POST unless set
	token   string            // the access token; "" means wire.token, "-" sends no token
	body    string            // the whole request body; used instead of method and params
	method  string            // the JSON-RPC method
	params  map[string]any    // the JSON-RPC params
	client  map[string]any    // the client's capabilities
	header  map[string]string // header fields to add to those of every request; the value "" removes a field
	silent  bool              // the request is a notification, which has no JSON-RPC id
	onReply func(result map[string]any)
}

func (w *wire) send(x exchange) {
	w.t.Helper()
	w.calls++
	verb := or(x.verb, http.MethodPost)
	body := x.body
	if body == "" && x.method != "" {
		body = w.message(x)
	}
	r, err := http.NewRequestWithContext(w.t.Context(), verb, w.url+"/mcp", strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	w.setHeader(r, x)
	response, err := w.http.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	w.write("request", verb+" /mcp", r.Header, []string{"Accept", "Authorization", "Content-Type", "Mcp-Method", "Mcp-Name", "Mcp-Protocol-Version"}, []byte(body))
	w.write("response", response.Status, response.Header, []string{"Allow", "Content-Type", "Www-Authenticate", "X-Request-Id"}, answer)
	if x.onReply != nil {
		var reply struct{ Result map[string]any }
		if err := json.Unmarshal(answer, &reply); err != nil || reply.Result == nil {
			w.t.Fatalf("no result: %s", answer)
		}
		x.onReply(reply.Result)
	}
}

func (w *wire) message(x exchange) string {
	params := x.params
	if w.revision == modern && !x.silent {
		meta := map[string]any{
			"io.modelcontextprotocol/protocolVersion":    modern,
			"io.modelcontextprotocol/clientCapabilities": or(x.client, map[string]any{}),
		}
		if own, ok := params["_meta"].(map[string]any); ok {
			for name, value := range own {
				meta[name] = value
			}
		}
		params = merged(params, map[string]any{"_meta": meta})
	}
	message := map[string]any{"jsonrpc": "2.0", "method": x.method}
	if !x.silent {
		message["id"] = w.calls
	}
	if params != nil {
		message["params"] = params
	}
	text, err := json.Marshal(message)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}

func (w *wire) setHeader(r *http.Request, x exchange) {
	h := r.Header
	h.Set("Accept", "application/json, text/event-stream")
	h.Set("X-Request-Id", fmt.Sprintf("trace-%d", w.calls))
	if token := or(x.token, w.token); token != "-" {
		h.Set("Authorization", "Bearer "+token)
	}
	if r.Method == http.MethodPost {
		h.Set("Content-Type", "application/json")
	}
	if x.method != "initialize" {
		h.Set("Mcp-Protocol-Version", w.revision)
	}
	if w.revision == modern && x.method != "" {
		h.Set("Mcp-Method", x.method)
		if name, ok := x.params["name"].(string); ok {
			h.Set("Mcp-Name", name)
		}
	}
	for name, value := range x.header {
		h.Set(name, value)
		if value == "" {
			h.Del(name)
		}
	}
}

var (
	uuidForm  = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	timeForm  = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	tokenForm = regexp.MustCompile(`eyJ[\w-]{40,}\.[\w-]+`)
	keyForm   = regexp.MustCompile(`Bearer (eyJ|sk_live_)[\w.-]+`)
)

// write records a request or an answer. It replaces ids, times and tokens, which differ
// from run to run, with fixed names.
func (w *wire) write(side, first string, h http.Header, shown []string, body []byte) {
	var b bytes.Buffer
	fmt.Fprintln(&b, first)
	for _, name := range shown {
		for _, value := range h[name] {
			fmt.Fprintf(&b, "%s: %s\n", name, value)
		}
	}
	if len(body) > 0 {
		b.WriteByte('\n')
		if json.Indent(&b, body, "", "  ") != nil {
			b.Write(body)
		}
		b.WriteByte('\n')
	}
	text := keyForm.ReplaceAllString(b.String(), "Bearer ($1...)")
	text = tokenForm.ReplaceAllString(text, "(token)")
	text = timeForm.ReplaceAllString(text, "(time)")
	text = uuidForm.ReplaceAllStringFunc(w.replace.Replace(text), w.idName)
	w.transcript.Files = append(w.transcript.Files, txtar.File{Name: fmt.Sprintf("%s %d", side, w.calls), Data: []byte(text)})
}

// idName returns a name for a UUID that does not differ between runs, such as "(id 1)".
// Equal ids get the same name.
func (w *wire) idName(id string) string {
	at := slices.Index(w.ids, id)
	if at < 0 {
		at = len(w.ids)
		w.ids = append(w.ids, id)
	}
	return fmt.Sprintf("(id %d)", at+1)
}

// compareTranscript compares the recorded requests and answers with the transcript file of
// the revision. kind and prose are its heading and introduction. With -update it writes the
// file.
func (w *wire) compareTranscript(kind, prose string) {
	w.t.Helper()
	w.transcript.Comment = []byte(fmt.Sprintf("Revision %s: %s.\n\n%s\n\n", w.revision, kind, prose))
	path := filepath.Join("testdata", w.revision, strings.ReplaceAll(kind, " ", "_")+".txtar")
	got := txtar.Format(&w.transcript)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			w.t.Fatal(err)
		}
		if err := goldentest.Write(path, got, 0o644); err != nil {
			w.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		w.t.Fatalf("%v; run the test with -update if the change is meant", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		w.t.Errorf("%s (-want +got); run the test with -update if the change is meant:\n%s", path, diff)
	}
}

func merged(a, b map[string]any) map[string]any {
	both := map[string]any{}
	for _, m := range []map[string]any{a, b} {
		for name, value := range m {
			both[name] = value
		}
	}
	return both
}

func or[T any](value, fallback T) T {
	if any(value) == any("") {
		return fallback
	}
	if m, ok := any(value).(map[string]any); ok && m == nil {
		return fallback
	}
	return value
}
