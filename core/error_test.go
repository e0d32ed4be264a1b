package core_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

func TestEveryCodeIsExplained(t *testing.T) {
	t.Parallel()
	seen := map[core.Code]bool{}
	for _, info := range core.Codes() {
		if seen[info.Code] {
			t.Errorf("%s stands twice", info.Code)
		}
		seen[info.Code] = true
		if http.StatusText(info.Status) == "" || info.Status < 400 {
			t.Errorf("%s: status %d", info.Code, info.Status)
		}
		if info.Title == "" || !strings.HasSuffix(info.Meaning, ".") || !strings.HasSuffix(info.Remedy, ".") {
			t.Errorf("%s lacks a title, a meaning or a remedy in whole sentences", info.Code)
		}
		if got := info.Code.TypeURI("http://x/docs"); got != "http://x/docs/api/errors/"+string(info.Code) {
			t.Errorf("type = %s", got)
		}
	}
}

// TestAMessageNamesTheFaults checks that the message of validation_failed names the first
// faults. An agent that reads only the message can then correct several faults at once.
func TestAMessageNamesTheFaults(t *testing.T) {
	t.Parallel()
	fault := func(field string) core.FieldError { return core.FieldError{Field: field, Reason: "is required"} }
	for want, fields := range map[string][]core.FieldError{
		"The request is not valid.":                                          nil,
		"`a` is required.":                                                   {fault("a")},
		"`a` is required. `b` is required.":                                  {fault("a"), fault("b")},
		"The request is required. `b` is required.":                          {fault(""), fault("b")},
		"`a` is required. `b` is required. `c` is required. More faults: 2.": {fault("a"), fault("b"), fault("c"), fault("d"), fault("e")},
	} {
		if e := core.InvalidFields(core.FieldError{Field: "a", Reason: "is unknown; did you mean b?"}); e.Message != "`a` is unknown; did you mean b?" {
			t.Error(e.Message)
		}
		if e := core.InvalidFields(fields...); e.Message != want || len(e.Fields) != len(fields) {
			t.Errorf("%v: %q", fields, e.Message)
		}
	}
	asked := core.Invalid("plna", "is no member; did you mean plan?")
	if want := "`plna` is no member; did you mean plan?"; asked.Message != want {
		t.Errorf("%q, want %q", asked.Message, want)
	}
}

func TestACauseIsNotInTheResponse(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		errors.New("pq: password authentication failed"),
		fmt.Errorf("opening: %w", core.Internal(errors.New("pq: password authentication failed"))),
	} {
		p := core.ProblemOf(err, "http://x/docs", "r1")
		b, _ := json.Marshal(p)
		if p.Code != core.CodeInternalError || p.Status != 500 || strings.Contains(string(b), "pq") {
			t.Errorf("%s", b)
		}
		if !strings.Contains(core.AsError(err).Error(), "pq") {
			t.Error("the log needs the cause")
		}
	}
}

func TestProblemMembers(t *testing.T) {
	t.Parallel()
	e := &core.Error{
		Code: core.CodeUpstreamUnavailable, Status: 504, Message: "m", RetryAfter: 1500 * time.Millisecond,
		Extra: map[string]any{"incumbent_archived": true},
	}
	b, err := json.Marshal(core.ProblemOf(fmt.Errorf("wrapped: %w", e), "http://x/docs", "r1"))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	for member, want := range map[string]any{
		"status": 504.0, "code": "upstream_unavailable", "detail": "m", "retry_after": 2.0, "request_id": "r1", "incumbent_archived": true,
		"type": "http://x/docs/api/errors/upstream_unavailable", "next_step": core.CodeUpstreamUnavailable.Info().Remedy,
	} {
		if got[member] != want {
			t.Errorf("%s = %v, want %v", member, got[member], want)
		}
	}
	for _, absent := range []string{"errors", "resource", "scope", "Extra"} {
		if _, there := got[absent]; there {
			t.Errorf("%s has no business here", absent)
		}
	}
}

// TestProblemsAreEncodedAsByTheLibrary compares the JSON of problems with that of encoding/json, for
// texts that it escapes.
func TestProblemsAreEncodedAsByTheLibrary(t *testing.T) {
	t.Parallel()
	type plain core.Problem
	texts := []string{"", "plain", `a "b" \c\`, "<b>&", "Gr\u00fc\u00dfe \u2028", "\x00\t\n\x7f", "\xff\xfe", "\U0001F600"}
	for i, text := range texts {
		next := texts[(i+1)%len(texts)]
		for _, p := range []core.Problem{
			{},
			{Type: text, Title: next, Status: 429, Code: core.CodeRateLimited, Detail: text, NextStep: next, RequestID: text, RetryAfter: i},
			{Resource: text, Scope: core.Scope(next), Errors: []core.FieldError{{Field: text, Reason: next}}, Status: -1, RetryAfter: -i},
		} {
			want, err := json.Marshal(plain(p))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := p.AppendJSON([]byte("before")); err != nil || string(got) != "before"+string(want) {
				t.Errorf("%q, %v, want %q", got, err, want)
			}
			p.Extra = map[string]any{"z": text, "a": 1}
			more, _ := json.Marshal(p.Extra)
			if got, err := json.Marshal(p); err != nil || string(got) != string(want[:len(want)-1])+","+string(more[1:]) {
				t.Errorf("%q, %v, want the members of %s after %s", got, err, more, want)
			}
		}
	}
	if _, err := (core.Problem{Extra: map[string]any{"f": func() {}}}).AppendJSON(nil); err == nil {
		t.Error("a function was encoded")
	}
}

func TestAnUnknownCodeIsAnInternalError(t *testing.T) {
	t.Parallel()
	if p := core.ProblemOf(&core.Error{Code: "made_up", Message: "m"}, "", ""); p.Code != core.CodeInternalError || p.Status != 500 {
		t.Errorf("%+v", p)
	}
}
