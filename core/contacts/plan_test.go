package contacts_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/goldentest"
)

var update = flag.Bool("update", false, "write the golden file of plans anew")

// TestGoldenPlans compares the [contacts.Plan] of six operations that write a contact with
// a golden file.
func TestGoldenPlans(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.SyncNow(t)
	var printed strings.Builder
	show := func(what, arguments string, plan contacts.Plan) {
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
		if b.Surface = core.REST; write[0] == "contacts_upsert" {
			b.Surface = core.Agent
		}
		call := &core.Call{Principal: core.Principal{Org: b.Org}, Surface: b.Surface, Now: b.Clock()}
		in, err := b.Operation(write[0]).Decode(b.Surface, []byte(write[1]))
		if err == nil {
			in, err = b.Operation(write[0]).Prepare(t.Context(), call, in)
		}
		if err != nil {
			t.Fatal(write, err)
		}
		show(write[0], write[1], contacts.PlanIn(in))
		if _, err := b.Operation(write[0]).Do(t.Context(), call, in); err != nil {
			t.Fatal(write, err)
		}
		call.Finish()
	}
	text := printed.String()
	for _, key := range []string{"beta", "customers"} {
		list, err := b.DB.Lists().List(t.Context(), b.Org.ID, key)
		if err != nil {
			t.Fatal(err)
		}
		text = strings.ReplaceAll(text, list.ID, "the id of "+key)
	}
	golden := filepath.Join("testdata", "plans.txt")
	if *update {
		if err := goldentest.Write(golden, []byte(text), 0o600); err != nil {
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

// TestStubOf checks the contact that StubOf creates for an activity.
func TestStubOf(t *testing.T) {
	t.Parallel()
	b := setup(t)
	stub, err := contacts.StubOf("id", contacts.Claim{Email: "new@x.example", ExternalID: "1"}, b.Clock())
	if err != nil {
		t.Fatal(err)
	}
	if !stub.Stub || stub.Shell || stub.Mailable || stub.Status != contacts.Active || stub.ID != "id" || *stub.ExternalID != "1" ||
		len(stub.TopicPreferences)+len(stub.Attributes) > 0 || !stub.CreatedAt.Equal(b.Clock()) || !stub.UpdatedAt.Equal(b.Clock()) {
		t.Errorf("%+v", stub)
	}
}
