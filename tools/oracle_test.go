package tools_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/tools/txtar"
)

// TestAnswersAreThoseOfTheSDK draws messages and sends each to two endpoints that are in the
// same state. One answers calls and lists itself, the other passes every message to the SDK.
// Both must answer with the same status, headers and bytes, except ids and times. With
// MAILHELM_TEST_FULL=1 it draws 2,000 messages at each protocol revision, otherwise 300.
func TestAnswersAreThoseOfTheSDK(t *testing.T) {
	t.Parallel()
	messages := 300
	if enginetest.Full() {
		messages = 2000
	}
	for _, revision := range allRevisions {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			direct, bySDK := newSide(t, false), newSide(t, true)
			seed := rand.Uint64()
			draw := &drawer{rand.New(rand.NewPCG(seed, 0)), revision}
			statuses := map[int]int{}
			for i := range messages {
				note, a := draw.note(), draw.ask(i)
				got, want := direct.answer(note, a), bySDK.answer(note, a)
				if diff := cmp.Diff(want, got, cmp.AllowUnexported(reply{})); diff != "" {
					t.Fatalf("seed %d, message %d: %+v, note %q: the SDK's answer and ours: %s", seed, i, a, note, diff)
				}
				statuses[want.status]++
			}
			if statuses[http.StatusOK] < messages/3 || len(statuses) < 2 {
				t.Errorf("seed %d: too few kinds of answers: %v", seed, statuses)
			}
		})
	}
}

// side is one of two endpoints that are compared.
type side struct {
	*world
	handler http.Handler
	// token is the last confirmation token that the endpoint sent; it is used instead of the
	// word TOKEN in a message.
	token string
}

func newSide(t *testing.T, bySDK bool) *side {
	w := newWorld(t)
	s := &side{world: w, handler: w.server.Handler()}
	if bySDK {
		var err error
		s.handler, err = w.server.BySDK()
		w.must(err)
	}
	return s
}

var (
	anyConfirmation = regexp.MustCompile(`"(?:confirmation_token|requestState)":"([^"]+)"`)
	anyID           = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
)

// answer sends the request and returns the answer, without what differs between the sides.
func (s *side) answer(note string, a ask) reply {
	s.ops.text.Store(note)
	s.pass(1e9) // stays below the rate limit
	r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(strings.ReplaceAll(a.body, "TOKEN", s.token)))
	r.Header = http.Header{
		"Authorization": {"Bearer " + valueOr(a.token, "live")}, "Content-Type": {"application/json"},
		"Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {a.revision}, "X-Request-Id": {"r"},
	}
	for name, value := range a.header {
		r.Header.Set(name, value)
	}
	answer := httptest.NewRecorder()
	s.handler.ServeHTTP(answer, r)
	body := answer.Body.String()
	if sent := anyConfirmation.FindStringSubmatch(body); sent != nil {
		s.token = sent[1]
		body = strings.ReplaceAll(body, s.token, "(token)")
	}
	for name, values := range answer.Header() {
		for i, v := range values {
			values[i] = strings.ReplaceAll(v, s.url, "(url)")
		}
		answer.Header()[name] = values
	}
	return reply{answer.Code, answer.Header(), anyID.ReplaceAllString(body, "(id)")}
}

// drawer draws messages of one protocol revision: mostly calls that succeed, and of every
// part of a message the shapes that clients get wrong.
type drawer struct {
	*rand.Rand
	revision string
}

func pick[T any](d *drawer, of ...T) T { return of[d.IntN(len(of))] }

// rarely returns one of the values in one of eight cases, otherwise usual.
func rarely[T any](d *drawer, usual T, of ...T) T {
	if d.IntN(8) > 0 {
		return usual
	}
	return pick(d, of...)
}

// note returns a text that the tool contacts_lookup answers with.
func (d *drawer) note() string {
	parts := []string{"plain", `"q"`, `\`, "<b>&amp;</b>", "é😀", "\u2028\u2029", "\u202e\u200b", "\x01\x7f\b\f\r\n\t", "\xff", "\U000E0041", strings.Repeat("word ", 9000)}
	var b strings.Builder
	for range d.IntN(4) {
		b.WriteString(rarely(d, pick(d, parts[:10]...), parts[10]))
	}
	return b.String()
}

func (d *drawer) ask(i int) ask {
	method := rarely(d, "tools/call", "tools/list", "tools/list", "ping", "server/discover", "resources/read", "nonsense", "initialize")
	tool := pick(d, "contacts_lookup", "contacts_lookup", "contacts_upsert", "contacts_archive", "broadcasts_send", "broadcasts_send", "audience_get_schema")
	tool = rarely(d, tool, "unlisted", "", "contacts_lookup\u2028")
	email := rarely(d, fmt.Sprintf("a%d@example.com", d.IntN(6)), "nobody@example.com", "no address", "<&>@example.com", "é@example.com")
	arguments := rarely(d, `{"email":`+quote(email)+`}`, `{}`, `null`, `[]`, `{"email":7}`, `{"email":"a@b.cc","extra":{"x":[1,2]}}`, `"x"`)
	if tool == "broadcasts_send" {
		arguments = pick(d, `{"broadcast_id":"b"}`, `{"broadcast_id":"b","confirmation_token":"TOKEN"}`, `{"broadcast_id":"c","confirmation_token":"TOKEN"}`, `{"confirmation_token":7}`)
	}
	var members []string
	if method == "tools/call" {
		members = append(members, `"name":`+quote(tool), `"arguments":`+arguments)
	}
	if method == "initialize" {
		members = append(members, `"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}`)
	}
	if answer := rarely(d, "", `{"confirm":{"action":"accept","content":{"confirm":true}}}`, `{"confirm":{"action":"decline"}}`, `{"confirm":7}`, `{"x":{"roots":[]}}`, `[]`); answer != "" || tool == "broadcasts_send" && d.IntN(2) == 0 {
		members = append(members, `"requestState":"TOKEN"`, `"inputResponses":`+valueOr(answer, `{"confirm":{"action":"accept","content":{"confirm":true}}}`))
	}
	if meta := d.meta(i); meta != "" {
		members = append(members, `"_meta":`+meta)
	}
	d.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	id := rarely(d, `1`, `"abc"`, `"\u00e4 \"<&>\u2028"`, `-0`, `-7`, `9007199254740991`, `""`, `1.5`, `null`, `"\ud800"`)
	a := ask{
		revision: d.revision, token: rarely(d, "live", "test", "reader", "unknown"), header: map[string]string{},
		body: `{"jsonrpc":"2.0","id":` + id + `,"method":` + quote(method) + `,"params":{` + strings.Join(members, ",") + `}}`,
	}
	if d.revision == modern {
		a.header["Mcp-Method"] = method
		if method == "tools/call" {
			a.header["Mcp-Name"] = tool
		}
	}
	return a
}

// meta returns the member _meta of a message, or "" to leave it out.
func (d *drawer) meta(i int) string {
	var members []string
	if d.revision == modern {
		members = append(members, `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`, `"io.modelcontextprotocol/clientCapabilities":`+
			pick(d, `{}`, `{"elicitation":{}}`, `{"elicitation":{"form":{}}}`, rarely(d, `{"elicitation":{"url":{}},"roots":{"listChanged":true},"sampling":{}}`,
				`7`, `null`, `{"elicitation":7}`, `{"roots":true}`, `{"experimental":{"a":1}}`, `{"sampling":{"tools":{}}}`, `{"extensions":[]}`, `{"elicitation":{"form":7}}`)))
		if info := pick(d, "", `{"name":"c","version":"1"}`, rarely(d, `{"name":"c","version":"1","title":"t","icons":[{"src":"x"}],"other":1}`, `7`, `null`, `{"name":7}`, `{}`, `{"icons":{}}`)); info != "" {
			members = append(members, `"io.modelcontextprotocol/clientInfo":`+info)
		}
	}
	if d.IntN(3) == 0 {
		members = append(members, `"dev.service/idempotencyKey":`+rarely(d, fmt.Sprintf(`"key %d"`, i/3), `7`, `""`, `null`))
	}
	if d.IntN(6) == 0 {
		members = append(members, `"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"`, `"x":{"y":[null]}`)
	}
	return rarely(d, `{`+strings.Join(members, ",")+`}`, "")
}

func quote(s string) string {
	encoded, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(encoded)
}

// TestRecordedAnswersAreThoseOfTheSDK decodes the result of every tool call in the golden
// transcripts in the SDK's type, and encodes it again. No member may change, nor their
// order.
func TestRecordedAnswersAreThoseOfTheSDK(t *testing.T) {
	t.Parallel()
	results := 0
	for _, revision := range allRevisions {
		for _, body := range goldenAnswers(t, filepath.Join("..", "conformance", "mcp", "testdata", revision)) {
			var whole struct{ Result json.RawMessage }
			var parts struct {
				Content, StructuredContent json.RawMessage
				InputRequests              map[string]struct {
					Params struct{ RequestedSchema json.RawMessage }
				}
			}
			if json.Unmarshal(body, &whole) != nil || json.Unmarshal(whole.Result, &parts) != nil || parts.Content == nil {
				continue // a document, an error or the result of another method
			}
			var result sdk.CallToolResult
			if err := json.Unmarshal(whole.Result, &result); err != nil {
				t.Fatalf("%v: %s", err, body)
			}
			if parts.StructuredContent != nil {
				result.StructuredContent = parts.StructuredContent // a map would lose the order of its members
			}
			for name, request := range result.InputRequests {
				request.(*sdk.ElicitParams).RequestedSchema = parts.InputRequests[name].Params.RequestedSchema
			}
			encoded, err := json.Marshal(&result)
			if err != nil {
				t.Fatal(err)
			}
			var want, got bytes.Buffer
			if err := json.Compact(&want, encoded); err != nil {
				t.Fatal(err)
			}
			if err := json.Compact(&got, whole.Result); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.String(), got.String()); diff != "" {
				t.Errorf("%s: %s", revision, diff)
			}
			results++
		}
	}
	if results < 20 {
		t.Errorf("%d results", results)
	}
}

// goldenAnswers returns the bodies of the JSON answers in the transcripts of a folder.
func goldenAnswers(t *testing.T, folder string) [][]byte {
	var bodies [][]byte
	err := fs.WalkDir(os.DirFS(folder), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".txtar" {
			return err
		}
		archive, err := txtar.ParseFile(filepath.Join(folder, path))
		if err != nil {
			return err
		}
		for _, f := range archive.Files {
			if _, body, found := bytes.Cut(f.Data, []byte("\n\n")); found && strings.HasPrefix(f.Name, "response") {
				bodies = append(bodies, body)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return bodies
}
