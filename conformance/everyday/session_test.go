package everyday

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/sentmail"
)

type object = map[string]any

// session is the work on one task: the calls of an assistant and what they answered.
type session struct {
	*testing.T
	p     *product.Product
	token string // of the agent endpoint
	// kept passes values from the preparation to the steps and from these to the check.
	kept  object
	calls []exchange
}

// exchange is one call of a tool.
type exchange struct{ tool, arguments, answer string }

func newSession(t *testing.T, p *product.Product) *session {
	t.Helper()
	return &session{T: t, p: p, token: p.Token(t, p.MCPURL), kept: object{}}
}

// longestAnswer is the number of bytes to which the description of a call cuts its answer.
const longestAnswer = 3000

func (e exchange) String() string {
	return fmt.Sprintf("%s %s\n  answers %.*s", e.tool, e.arguments, longestAnswer, e.answer)
}

// usedTools returns the names of the called tools, sorted.
func (s *session) usedTools() []string {
	used := map[string]bool{}
	for _, e := range s.calls {
		used[e.tool] = true
	}
	return slices.Sorted(maps.Keys(used))
}

// result is the answer of a tool.
type result struct {
	Content object `json:"structuredContent"`
	IsError bool   `json:"isError"`
}

// send calls a tool with an access token.
func (s *session) send(token, tool string, arguments object) (product.Answer, result) {
	s.Helper()
	text, err := json.Marshal(arguments)
	if err != nil {
		s.Fatal(err)
	}
	message := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, text)
	got := s.p.Send(s, s.p.ToAgent(token, message))
	s.calls = append(s.calls, exchange{tool, string(text), got.Body})
	var answer struct{ Result result }
	if err := json.Unmarshal([]byte(got.Body), &answer); err != nil {
		s.Fatalf("%s: %d, and no JSON: %v", tool, got.Status, err)
	}
	return got, answer.Result
}

// call calls a tool, which must not refuse, and returns its structured content.
func (s *session) call(tool string, arguments object) object {
	s.Helper()
	got, answer := s.send(s.token, tool, arguments)
	if got.Status != http.StatusOK || answer.IsError || answer.Content == nil {
		s.Fatalf("%s fails with status %d", tool, got.Status)
	}
	return answer.Content
}

// refused calls a tool, which must refuse with the code, and returns the refusal.
func (s *session) refused(tool string, arguments object, code string) object {
	s.Helper()
	_, answer := s.send(s.token, tool, arguments)
	if !answer.IsError || answer.Content["code"] != code {
		s.Fatalf("%s answers %v, want a refusal with the code %s", tool, answer.Content["code"], code)
	}
	return answer.Content
}

// confirmed calls a tool that asks for a confirmation, keeps the preview as "preview", and
// confirms it.
func (s *session) confirmed(tool string, arguments object) object {
	s.Helper()
	asked := s.call(tool, arguments)
	if asked["confirmation_required"] != true {
		s.Fatalf("%s asks for no confirmation", tool)
	}
	s.kept["preview"] = asked["preview"]
	again := maps.Clone(arguments)
	again["confirmation_token"] = asked["confirmation_token"]
	return s.call(tool, again)
}

// rest calls the REST API with an API key, which must answer with a status from 200 to 299.
func (s *session) rest(method, path string, body any) object {
	s.Helper()
	request := product.Request{Method: method, URL: s.p.BaseURL + path, Bearer: s.p.Live.APIKey}
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			s.Fatal(err)
		}
		request.Body = string(text)
	}
	got := s.p.Send(s, request)
	var answer object
	if got.Status >= http.StatusMultipleChoices || got.Body != "" && json.Unmarshal([]byte(got.Body), &answer) != nil {
		s.Fatalf("%s %s: %d %s", method, path, got.Status, got.Body)
	}
	return answer
}

// get reads a path of the REST API.
func (s *session) get(path string) object {
	s.Helper()
	return s.rest(http.MethodGet, path, nil)
}

// contact reads a contact by the REST API.
func (s *session) contact(email string) object {
	s.Helper()
	return s.get("/v1/contacts/" + url.PathEscape(email))
}

// addContact creates a contact by the REST API and returns its id. more has further members.
func (s *session) addContact(email string, more object) string {
	s.Helper()
	body := object{"email": email}
	maps.Copy(body, more)
	return text(s.rest(http.MethodPost, "/v1/contacts", body), "id")
}

// addList creates a list with contacts and returns its key.
func (s *session) addList(name string, emails ...string) string {
	s.Helper()
	made := s.rest(http.MethodPost, "/v1/lists", object{"name": name})
	for _, email := range emails {
		s.addContact(email, object{"lists": object{"add": []any{made["id"]}}})
	}
	return text(made, "key")
}

// members returns the sorted addresses of the members of a list, read by the REST API.
func (s *session) members(list string) []string {
	s.Helper()
	emails := []string{}
	for _, m := range items(s.get("/v1/lists/"+list+"/members?limit=100"), "data") {
		emails = append(emails, text(m, "email"))
	}
	slices.Sort(emails)
	return emails
}

// mails returns the mails in the simulated account whose recipient or subject has the text,
// newest first.
func (s *session) mails(search string) []sentmail.Mail {
	s.Helper()
	page, _, err := s.p.Simulator.Mails(s.Context(), s.p.OrgID, sentmail.Query{Search: search})
	if err != nil {
		s.Fatal(err)
	}
	var all []sentmail.Mail
	for _, m := range page {
		mail, err := s.p.Simulator.Mail(s.Context(), s.p.OrgID, m.ID)
		if err != nil {
			s.Fatal(err)
		}
		all = append(all, mail)
	}
	return all
}

// await waits until ready returns nil. Of the calls of tools by ready, it keeps those of the
// last time.
func (s *session) await(ready func() error) {
	s.Helper()
	before := len(s.calls)
	product.Await(s, time.Minute, func() error {
		s.calls = s.calls[:before]
		return ready()
	})
}

// want fails the task unless the value is the wanted one. It compares their texts, because
// numbers of JSON have another type.
func (s *session) want(what string, got, want any) {
	s.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		s.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// wantIn fails the task unless the text of the value contains every part.
func (s *session) wantIn(what string, got any, parts ...string) {
	s.Helper()
	for _, part := range parts {
		if !strings.Contains(fmt.Sprint(got), part) {
			s.Errorf("%s does not contain %q: %v", what, part, got)
		}
	}
}

// keep returns a value that was kept under the name, as a text.
func (s *session) keep(name string) string { return fmt.Sprint(s.kept[name]) }

// at returns the value at a path of members in an answer, or nil.
func at(of any, path ...string) any {
	for _, name := range path {
		members, _ := of.(object)
		of = members[name]
	}
	return of
}

// text returns the text at a path of members, or "".
func text(of any, path ...string) string {
	value, _ := at(of, path...).(string)
	return value
}

// items returns the objects of the array at a path of members.
func items(of any, path ...string) []object {
	all, _ := at(of, path...).([]any)
	var objects []object
	for _, one := range all {
		if o, ok := one.(object); ok {
			objects = append(objects, o)
		}
	}
	return objects
}

// find returns the first object whose member has the value, or nil.
func find(all []object, member string, value any) object {
	for _, o := range all {
		if fmt.Sprint(o[member]) == fmt.Sprint(value) {
			return o
		}
	}
	return nil
}

// audited returns the number of lines in the audit log about an operation on a subject.
func (s *session) audited(operation, subject string) int {
	s.Helper()
	events, err := s.p.DB.Audit().FindAudit(s.Context(), s.p.OrgID, access.AuditFilter{Limit: 1000})
	if err != nil {
		s.Fatal(err)
	}
	n := 0
	for _, e := range events {
		if e.Action == operation && e.SubjectID == subject {
			n++
		}
	}
	return n
}

// consent returns an error unless the simulated account has this opt-out and these choices of
// a contact.
func (s *session) consent(email string, out bool, choices map[string]string) error {
	found, err := s.p.Simulator.Contact(s.Context(), s.p.OrgID, email)
	if err != nil {
		return err
	}
	if found.UnsubscribeAll != out {
		return fmt.Errorf("the opt-out from all mail is %v", found.UnsubscribeAll)
	}
	for topic, choice := range choices {
		if string(found.Preferences[topic]) != choice {
			return fmt.Errorf("the choices are %v", found.Preferences)
		}
	}
	return nil
}
