package frame_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
)

// TestOperationsOfPages checks that a page calls an operation with the visitor's
// permissions, gets the members that it declares, and the question of an operation that
// must be confirmed.
func TestOperationsOfPages(t *testing.T) {
	t.Parallel()
	asked := &guardrails.ConfirmationRequired{Message: "Archives ada@example.com.", Token: "T"}
	operations := &frametest.Operations{
		T:       t,
		Results: map[string]string{"lists_list": `{"data":[],"pagination":{"has_more":false,"next_cursor":null}}`, "contacts_archive": `{"archived":true,"summary":"x"}`},
		Confirm: map[string]*guardrails.ConfirmationRequired{"contacts_archive": asked},
	}
	f := frame.New(frame.Config{Operations: operations})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	if err != nil {
		t.Fatal(err)
	}
	owner := people.Visitor{Member: members.Member{Role: members.Owner}}
	var shown struct {
		Data []struct{ Name string } `json:"data"`
	}
	if err := f.Read(r, owner, "lists_list", map[string]any{"limit": 2}, &shown); err != nil {
		t.Error(err)
	}
	if err := f.Read(r, people.Visitor{}, "lists_list", nil, &shown); err == nil || core.AsError(err).Code != core.CodeInvalidScope {
		t.Errorf("without permission: %v", err)
	}
	if err := f.Read(r, owner, "lists_list", map[string]any{"limit": 1e6}, &shown); err == nil || core.AsError(err).Code != core.CodeValidationFailed {
		t.Errorf("invalid argument: %v", err)
	}
	archive := frame.OperationCall{Operation: "contacts_archive", Arguments: map[string]any{"email": "ada@example.com"}, Once: "1"}
	if question, err := f.Do(r, owner, archive, nil); err != nil || question != asked {
		t.Errorf("question %v %v", question, err)
	}
	archive.Confirmation = "T"
	if question, err := f.Do(r, owner, archive, nil); err != nil || question != nil {
		t.Errorf("confirmed: %v %v", question, err)
	}
	want := []frametest.CalledOperation{
		{Name: "lists_list", Arguments: `{"limit":2}`},
		{Name: "contacts_archive", Arguments: `{"email":"ada@example.com"}`, Once: "1"},
		{Name: "contacts_archive", Arguments: `{"email":"ada@example.com"}`, Once: "1", Confirmation: "T"},
	}
	if diff := cmp.Diff(want, operations.Calls()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}
