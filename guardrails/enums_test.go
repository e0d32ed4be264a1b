package guardrails_test

import (
	"encoding/json"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/guardrails"
)

// TestCaseOfEnumerationsIsNotPartOfACall checks that a call with an enumerated value in
// another case is the same call: it is replayed under an explicit and a derived idempotency
// key, and a confirmation of one is valid for the other.
func TestCaseOfEnumerationsIsNotPartOfACall(t *testing.T) {
	t.Parallel()
	with := func(arguments string, edits ...func(*guardrails.Request)) func(*guardrails.Request) {
		return func(r *guardrails.Request) {
			r.Arguments = json.RawMessage(arguments)
			for _, edit := range edits {
				edit(r)
			}
		}
	}
	const first, again, other = `{"email":"ann@example.com","pace":"FAST"}`, `{"pace":"fast","email":"ann@example.com"}`, `{"email":"ann@example.com","pace":"SLOW"}`
	b := setup(t)
	for name, key := range map[string]func(*guardrails.Request){
		"derived": withKey(""), "explicit, agent": withKey("k-1"), "explicit, REST": withRESTKey("k-1"),
	} {
		made := mustCall(t, b, "op_write", with(first, key))
		if r := mustCall(t, b, "op_write", with(again, key)); !r.Replayed || idOf(r) != idOf(made) {
			t.Errorf("%s: the same call in another case is made again", name)
		}
	}
	_, err := b.call(t, "op_write", with(other, withKey("k-1")))
	wantCode(t, err, core.CodeConflict)

	asked := mustCall(t, b, "op_confirm", with(again))
	_, err = b.call(t, "op_confirm", with(other, confirming(asked.Confirm.Token)))
	wantCode(t, err, core.CodeConfirmationInvalid)
	if done := mustCall(t, b, "op_confirm", with(first, confirming(asked.Confirm.Token))); idOf(done) == "" {
		t.Error("a confirmation of the same call in another case is refused")
	}
}
