package audience_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/audience"
)

var update = flag.Bool("update", false, "write the golden file of plans anew")

// TestGoldenPlans prints the plan of each way of writing a contact.
func TestGoldenPlans(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.synced(t)
	var printed strings.Builder
	show := func(what, arguments string, plan audience.Plan) {
		text, err := json.MarshalIndent(plan, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		printed.WriteString(what + " " + arguments + "\n" + string(text) + "\n\n")
	}
	for _, write := range [][2]string{
		{"contacts_create", `{"email":"Ada@example.com","attributes":{"age":"36"},"topic_preferences":{"news":"OPT_OUT"},"lists":{"add":["beta"]}}`},
		{"contacts_replace", `{"email":"ada@example.com","lists":["beta"],"unsubscribe_all":false,"mailable":true}`},
		{"contacts_update", `{"email":"ada@example.com","attributes":{"age":null},"lists":{"add":["beta"],"remove":["customers"]}}`},
		{"contacts_upsert", `{"email":"eve@example.com","external_id":"2","topic_preferences":[{"topic":"offers","subscription_status":"OPT_IN"}]}`},
		{"contacts_upsert_by_external_id", `{"external_id":"1","email":"ada@new.example","rebind_external_id":true,"unsubscribe_all":true,"lists":[]}`},
		{"contacts_identify", `{"email":"ada@new.example","external_id":"1"}`},
	} {
		if b.surface = core.REST; write[0] == "contacts_upsert" {
			b.surface = core.Agent
		}
		call := &core.Call{Principal: core.Principal{Org: b.org}, Surface: b.surface, Now: b.clock()}
		in, err := b.ops[write[0]].Decode(b.surface, []byte(write[1]))
		if err == nil {
			in, err = b.ops[write[0]].Prepare(t.Context(), call, in)
		}
		if err != nil {
			t.Fatal(write, err)
		}
		show(write[0], write[1], audience.PlanIn(in))
		if _, err := b.ops[write[0]].Do(t.Context(), call, in); err != nil {
			t.Fatal(write, err)
		}
		call.Finish()
	}
	const row = `{"external_id":"1","email":"ada@example.com","attributes":{"age":"37"},"lists":["beta"],"unsubscribe_all":null}`
	plan, err := b.audience.PlanOfRow(t.Context(), b.org.ID, row)
	if err != nil {
		t.Fatal(err)
	}
	show("a row of contacts_bulk or of an import", row, plan)
	text := printed.String()
	for _, key := range []string{"beta", "customers"} {
		list, err := b.db.Lists().List(t.Context(), b.org.ID, key)
		if err != nil {
			t.Fatal(err)
		}
		text = strings.ReplaceAll(text, list.ID, "the id of "+key)
	}
	golden := filepath.Join("testdata", "plans.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("plans (-golden +now):\n%s", diff)
	}
}

// TestStubOf checks the contact that an activity makes.
func TestStubOf(t *testing.T) {
	t.Parallel()
	b := setup(t)
	stub, err := audience.StubOf("id", audience.Claim{Email: "new@x.example", ExternalID: "1"}, b.clock())
	if err != nil {
		t.Fatal(err)
	}
	if !stub.Stub || stub.Shell || stub.Mailable || stub.Status != audience.Active || stub.ID != "id" || *stub.ExternalID != "1" ||
		len(stub.TopicPreferences)+len(stub.Attributes) > 0 || !stub.CreatedAt.Equal(b.clock()) || !stub.UpdatedAt.Equal(b.clock()) {
		t.Errorf("%+v", stub)
	}
}
