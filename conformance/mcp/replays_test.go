package mcp_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
)

// replayScene has a caller's credentials for MCP and for REST, and a contact. The methods
// call and callREST replace EMAIL, EXT and ID in their arguments by the contact's address
// and ids.
type replayScene struct {
	*testing.T
	p          *product.Product
	tool, rest string // credentials of one caller for MCP and for REST
	email      string
	external   string
	id         string
}

func (s *replayScene) call(name, arguments, key string) reply {
	s.Helper()
	return post(s.T, s.p, s.tool, revision, tool(name, s.fill(arguments), key))
}

func (s *replayScene) fill(text string) string {
	return strings.NewReplacer("EMAIL", s.email, "EXT", s.external, "ID", s.id).Replace(text)
}

// bulkTimeout is how long a test waits for a bulk write. It allows for a busy machine.
const bulkTimeout = time.Minute

// callREST makes a REST call. For a bulk write it waits until the job has completed.
func (s *replayScene) callREST(bearer, call, body string) {
	s.Helper()
	method, path, _ := strings.Cut(s.fill(call), " ")
	answer := s.request(bearer, method, path, s.fill(body))
	var taken struct {
		JobID string `json:"job_id"`
	}
	if path != "/v1/contacts/bulk" {
		return
	}
	if err := json.Unmarshal([]byte(answer), &taken); err != nil {
		s.Fatal(err)
	}
	product.Await(s.T, bulkTimeout, func() error {
		if job := s.request(bearer, http.MethodGet, path+"/"+taken.JobID, ""); !strings.Contains(job, `"status":"completed"`) {
			return fmt.Errorf("the bulk write: %s", job)
		}
		return nil
	})
}

func (s *replayScene) request(bearer, method, path, body string) string {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), method, s.p.BaseURL+path, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	r.Header.Set("Authorization", bearer)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := s.p.HTTP.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode >= 300 {
		s.Fatalf("%s %s: %d %s %v", method, path, answer.StatusCode, text, err)
	}
	return string(text)
}

// TestADerivedReplayEndsWithTheNextWrite checks when a repeated call without an idempotency
// key gets the stored result of the first call. If the same caller has changed that contact
// between the two calls, over MCP or REST, the second call must be executed. It must still
// get the stored result after refused writes, and after writes by other callers or of other
// contacts.
func TestADerivedReplayEndsWithTheNextWrite(t *testing.T) {
	t.Parallel()
	const out, in = `{"email":"EMAIL","unsubscribe_all":true}`, `{"email":"EMAIL","unsubscribe_all":false}`
	product.Each(t, func(t *testing.T, p *product.Product) {
		p.Clock.Freeze(p.Clock.Now())
		own := replayScene{T: t, p: p, tool: "Bearer " + p.Token(t, p.MCPURL), rest: "Bearer " + p.Token(t, p.BaseURL)}
		others := "Bearer " + p.Live.APIKey
		for i, tc := range []struct {
			name     string
			between  func(s *replayScene)
			replayed bool
		}{
			{"nothing", func(*replayScene) {}, true},
			{"the other call", func(s *replayScene) { s.call("contacts_upsert", in, "") }, false},
			{"with a key", func(s *replayScene) { s.call("contacts_upsert", in, "k-"+s.email) }, false},
			{"by external id", func(s *replayScene) {
				s.call("contacts_upsert", `{"external_id":"EXT","unsubscribe_all":false}`, "")
			}, false},
			{"a list, by contact id", func(s *replayScene) {
				s.call("contacts_set_list_membership", `{"contact":"ID","add":["newsletter"]}`, "")
			}, false},
			{"PATCH", func(s *replayScene) { s.callREST(s.rest, "PATCH /v1/contacts/EMAIL", `{"unsubscribe_all":false}`) }, false},
			{"PUT by external id", func(s *replayScene) {
				s.callREST(s.rest, "PUT /v1/contacts/by-external-id/EXT", `{"unsubscribe_all":false}`)
			}, false},
			{"archive", func(s *replayScene) { s.call("contacts_archive", `{"external_id":"EXT"}`, "") }, false},
			{"DELETE", func(s *replayScene) { s.callREST(s.rest, "DELETE /v1/contacts/EMAIL", "") }, false},
			{"identify", func(s *replayScene) { s.callREST(s.rest, "POST /v1/contacts/identify", `{"external_id":"EXT"}`) }, false},
			{"bulk", func(s *replayScene) {
				s.callREST(s.rest, "POST /v1/contacts/bulk", `{"contacts":[{"email":"EMAIL","external_id":"EXT","unsubscribe_all":false}]}`)
			}, false},
			{"another caller", func(s *replayScene) { s.callREST(others, "PATCH /v1/contacts/EMAIL", `{"unsubscribe_all":false}`) }, true},
			{"another caller's bulk", func(s *replayScene) {
				s.callREST(others, "POST /v1/contacts/bulk", `{"contacts":[{"email":"EMAIL","external_id":"EXT","unsubscribe_all":false}]}`)
			}, true},
			{"another contact", func(s *replayScene) { s.call("contacts_upsert", `{"email":"x.EMAIL"}`, "") }, true},
			{"a read", func(s *replayScene) { s.call("contacts_lookup", `{"email":"EMAIL"}`, "") }, true},
			{"a refused write", func(s *replayScene) {
				s.call("contacts_upsert", `{"email":"EMAIL","attributes":{"no such":1}}`, "")
			}, true},
		} {
			s := own
			s.email, s.external = fmt.Sprintf("replay%d@example.com", i), fmt.Sprintf("replay-%d", i)
			made := s.call("contacts_upsert", `{"email":"EMAIL","external_id":"EXT"}`, "").structured(t)
			s.id = made["contact"].(map[string]any)["id"].(string)

			s.call("contacts_upsert", out, "")
			tc.between(&s)
			if got := s.call("contacts_upsert", out, ""); got.replayed() != tc.replayed || got.structured(t)["replayed"] == true != tc.replayed {
				t.Errorf("%s: %s", tc.name, got.body)
			}
			now := s.call("contacts_lookup", `{"email":"EMAIL"}`, "").structured(t)["contact"].(map[string]any)
			if holds := now["unsubscribe_all"] == true; !tc.replayed && !holds {
				t.Errorf("%s: the opt-out that was said last does not hold: %v", tc.name, now)
			}
		}
	})
}

// TestDerivedReplaysOfOtherTools checks that a repeated change of list membership is
// executed if the membership was changed between the two calls, or the list was deleted and
// created again. A repeated contacts_archive gets the stored result for five minutes, even
// if the contact was written between the two calls.
func TestDerivedReplaysOfOtherTools(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		p.Clock.Freeze(p.Clock.Now())
		s := &replayScene{T: t, p: p, tool: "Bearer " + p.Token(t, p.MCPURL), rest: "Bearer " + p.Token(t, p.BaseURL), email: "lists@example.com"}
		s.call("contacts_upsert", `{"email":"EMAIL"}`, "")
		s.callREST(s.rest, "POST /v1/lists", `{"name":"Short","key":"short"}`)
		const join, leave = `{"contact":"EMAIL","add":["short"]}`, `{"contact":"EMAIL","remove":["short"]}`
		for i, step := range []struct {
			tool, arguments string
			replayed        bool
			lists           int
		}{
			{"contacts_set_list_membership", join, false, 1},
			{"contacts_set_list_membership", join, true, 1},
			{"contacts_set_list_membership", leave, false, 0},
			{"contacts_set_list_membership", join, false, 1},
			{"contacts_set_list_membership", leave, false, 0},
		} {
			got := s.call(step.tool, step.arguments, "")
			if lists, _ := got.structured(t)["lists"].([]any); got.replayed() != step.replayed || len(lists) != step.lists {
				t.Errorf("step %d: %s", i, got.body)
			}
		}
		s.call("contacts_set_list_membership", join, "")
		var list struct {
			Data []struct{ ID, Key string } `json:"data"`
		}
		if err := json.Unmarshal([]byte(s.request(s.rest, http.MethodGet, "/v1/lists?limit=200", "")), &list); err != nil {
			t.Fatal(err)
		}
		for _, l := range list.Data {
			if l.Key == "short" {
				s.callREST(s.rest, "DELETE /v1/lists/"+l.ID, "")
			}
		}
		s.callREST(s.rest, "POST /v1/lists", `{"name":"Short","key":"short"}`)
		if got := s.call("contacts_set_list_membership", join, ""); got.replayed() || len(got.structured(t)["lists"].([]any)) != 1 {
			t.Errorf("a new list of an old name: %s", got.body)
		}

		s.call("contacts_archive", `{"email":"EMAIL"}`, "")
		s.call("contacts_upsert", `{"email":"EMAIL","unsubscribe_all":true}`, "")
		if got := s.call("contacts_archive", `{"email":"EMAIL"}`, ""); !got.replayed() {
			t.Errorf("contacts_archive within five minutes: %s", got.body)
		}
		p.Clock.Freeze(p.Clock.Now().Add(5*time.Minute + time.Second))
		if got := s.call("contacts_archive", `{"email":"EMAIL"}`, ""); got.replayed() {
			t.Errorf("contacts_archive after five minutes: %s", got.body)
		}
	})
}

// TestReplaysSaySo checks that the text, the structured content and _meta of a replayed
// result all mark it as replayed.
func TestReplaysSaySo(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	token := "Bearer " + p.Token(t, p.MCPURL)
	schemas := schemasOf(t, p, token)
	for name, arguments := range map[string]string{
		"contacts_upsert":              `{"email":"said@example.com"}`,
		"contacts_set_list_membership": `{"contact":"` + p.Contact + `","add":["newsletter"]}`,
		"contacts_archive":             `{"email":"said.not@example.com"}`,
		"activities_record":            `{"activities":[{"name":"seen","email":"` + p.Contact + `"}]}`,
	} {
		for i, key := range []string{"", "", "k", "k"} {
			got := post(t, p, token, revision, tool(name, arguments, key))
			content := got.Result["content"].([]any)
			note := content[len(content)-1].(map[string]any)["text"].(string)
			want := i%2 == 1
			value := got.structured(t)
			first := content[0].(map[string]any)["text"].(string)
			if got.replayed() != want || (value["replayed"] == true) != want || strings.HasPrefix(first, `{"replayed":true,`) != want || strings.HasPrefix(note, "Replayed: ") != want {
				t.Errorf("%s, call %d: %s", name, i, got.body)
			}
			if err := schemas[name].Validate(any(value)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			properties := listedProperties(t, p, token, name)
			if properties["replayed"] == nil {
				t.Errorf("%s does not declare `replayed`", name)
			}
		}
	}
}

// listedProperties returns the properties of a tool's output schema in tools/list.
func listedProperties(t *testing.T, p *product.Product, token, name string) map[string]any {
	t.Helper()
	listed := post(t, p, token, revision, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	for _, entry := range listed.Result["tools"].([]any) {
		described := entry.(map[string]any)
		if described["name"] == name {
			return described["outputSchema"].(map[string]any)["properties"].(map[string]any)
		}
	}
	t.Fatalf("%s is not listed", name)
	return nil
}
