package catalogue_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/catalogue"
)

// FuzzArguments gives the same text to the argument decoder of every operation, for REST
// and for agents. Decoding must not panic. A refusal must have the code validation_failed,
// a limited size and no invisible characters in its message. An accepted text that is not
// empty must be an object with only members of the schema. Its canonical form must have the
// same meaning and no other canonical form.
func FuzzArguments(f *testing.F) {
	operations := catalogue.Operations(catalogue.Domains{})
	for _, seed := range []string{
		`{}`, `null`, `[]`, `"x"`, ``, `{"email":"ann@example.com"}`, `{"email":"a@b.cc","attributes":{"a":null,"b":1e308,"c":[{}]}}`,
		`{"email":"a@b.cc","topic_preferences":{"news":"OPT_IN"}}`, `{"status":"DELIVERY"}`, `{"email":"a@b.cc","topic_preferences":{"opt_in":"opt\u005fin"}}`, `{"email":"a@b.cc","topic_preferences":[{"topic":"t","subscription_status":"OPT_OUT"}]}`,
		`{"email":"a@b.cc","topic_preferences":[{"topic":"t","subscription_status":"OPT_OUT"},{"topic":"t","subscription_status":"OPT_IN"}]}`,
		`{"email":"a@b.cc","lists":{"add":["x"],"remove":[],"set":null}}`, `{"email":"a@b.cc","lists":["x",1]}`, `{"email":"a@b.cc","lists":null,"unsubscribe_all":null}`,
		`{"external_id":"\ud800"}`, `{"external_id":"\u0000"}`, "{\"external_id\":\"\xff\"}", `{"contact_id":"0190a0b0-0000-7000-8000-000000000000"}`,
		`{"limit":1.0}`, `{"limit":1e2}`, `{"limit":-0}`, `{"limit":99999999999999999999}`, `{"cursor":"` + strings.Repeat("A", 1025) + `"}`,
		`{"email":"a@b.cc","email":"c@d.ee"}`, `{"EMAIL":"a@b.cc"}`, `{"email":"a@b.cc"} {}`, `{"\u202e` + "`x`" + `":1}`,
		`{"attributes":` + strings.Repeat(`{"a":`, 70) + `1` + strings.Repeat(`}`, 70) + `}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, op := range operations {
			for _, surface := range []core.Surface{core.Agent, core.REST} {
				if _, err := op.Decode(surface, raw); err != nil {
					holdRefusal(t, op, raw, err)
				} else {
					checkAccepted(t, op, surface, raw)
				}
			}
		}
	})
}

func holdRefusal(t *testing.T, op core.Operation, raw []byte, err error) {
	t.Helper()
	e := core.AsError(err)
	if e.Code != core.CodeValidationFailed {
		t.Fatalf("%s: %.200q is refused with %s: %v", op.Info().Name, raw, e.Code, err)
	}
	text, err := json.Marshal(core.ProblemOf(e, "http://docs.test", "request"))
	if err != nil {
		t.Fatalf("%s: %.200q: the problem is no JSON: %v", op.Info().Name, raw, err)
	}
	if _, hidden := core.VisibleText(e.Message); hidden > 0 || len(text) > 32<<10 {
		t.Fatalf("%s: %.200q: a problem of %d bytes with %d hidden characters: %.300s", op.Info().Name, raw, len(text), hidden, text)
	}
}

func checkAccepted(t *testing.T, op core.Operation, surface core.Surface, raw []byte) {
	t.Helper()
	var object map[string]json.RawMessage
	if len(raw) > 0 && json.Unmarshal(raw, &object) != nil {
		t.Fatalf("%s takes %.200q, which is no object", op.Info().Name, raw)
	}
	known := map[string]bool{}
	for _, name := range op.Input(surface).Members() {
		known[name] = true
	}
	for name := range object {
		if !known[name] {
			t.Fatalf("%s takes the member %q, which its input does not have", op.Info().Name, name)
		}
	}
	checkCanonical(t, op, surface, raw)
}

func checkCanonical(t *testing.T, op core.Operation, surface core.Surface, raw []byte) {
	t.Helper()
	if len(raw) == 0 {
		return
	}
	input := op.Input(surface)
	form, err := input.Canonical(raw)
	if err != nil {
		t.Fatalf("%s takes %.200q, which has no canonical form: %v", op.Info().Name, raw, err)
	}
	in, _ := op.Decode(surface, raw)
	again, err := op.Decode(surface, form)
	if err != nil || input.AnyPaths() == nil && inputText(t, in) != inputText(t, again) {
		t.Fatalf("%s decodes %.200q to %+v, and its canonical form %.200q to %+v (%v)", op.Info().Name, raw, in, form, again, err)
	}
	if twice, err := input.Canonical(form); err != nil || string(twice) != string(form) {
		t.Fatalf("%s: %.200q has the canonical form %.200q, and that one %.200q (%v)", op.Info().Name, raw, form, twice, err)
	}
}

// inputText returns a decoded input as canonical JSON, because numbers in it keep the form
// in which they were sent.
func inputText(t *testing.T, in any) string {
	t.Helper()
	text, err := json.Marshal(in)
	if err == nil {
		text, err = core.CanonicalJSON(text)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
