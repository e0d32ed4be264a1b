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

func TestAnUnknownCodeIsAnInternalError(t *testing.T) {
	t.Parallel()
	if p := core.ProblemOf(&core.Error{Code: "made_up", Message: "m"}, "", ""); p.Code != core.CodeInternalError || p.Status != 500 {
		t.Errorf("%+v", p)
	}
}
