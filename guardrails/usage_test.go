package guardrails_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/usage"
	"github.com/mailhelm/mailhelm/guardrails"
)

// TestUsageIsCounted checks with which outcome calls of assistants are counted.
func TestUsageIsCounted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.principal.UserID = "ann"
	_, _ = b.call(t, "op_read", nil)
	_, _ = b.call(t, "op_read", func(r *guardrails.Request) { r.Surface = core.REST })
	_, _ = b.call(t, "op_read", func(r *guardrails.Request) { r.Arguments = json.RawMessage(`{"email":7}`) })
	b.failNext = errors.New("fault")
	_, _ = b.call(t, "op_read", nil)
	asked, _ := b.call(t, "op_confirm", nil)
	if asked.Confirm == nil {
		t.Fatalf("%+v", asked)
	}
	_, _ = b.call(t, "op_confirm", func(r *guardrails.Request) { r.Confirmation = asked.Confirm.Token })
	b.catalogue.CountRefusedUsage(b.principal, "op_read")
	b.catalogue.CountRefusedUsage(b.principal, "no such tool")
	b.catalogue.CountRefusedUsage(core.Principal{}, "op_read")
	want := []usage.Call{
		{Operation: "op_read", Outcome: usage.Done},
		{Operation: "op_read", Outcome: usage.Refused},
		{Operation: "op_read", Outcome: usage.Failed},
		{Operation: "op_confirm", Outcome: usage.Asked},
		{Operation: "op_confirm", Outcome: usage.Confirmed},
		{Operation: "op_read", Outcome: usage.Refused},
		{Outcome: usage.Refused},
	}
	for i := range want {
		want[i].OrgID, want[i].ClientID, want[i].UserID, want[i].At = b.principal.Org.ID, "oc_live_abcdefgh", "ann", b.clock.Now()
	}
	if diff := cmp.Diff(want, b.counted); diff != "" {
		t.Error(diff)
	}
}
