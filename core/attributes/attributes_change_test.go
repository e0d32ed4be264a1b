package attributes_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/contacts/contactstest"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// world is a test organization with contacts, and has helpers for its attributes.
type world struct{ *contactstest.World }

func newWorld(t *testing.T) world { return newWorldOn(t, storagetest.SQLite(t)) }

func newWorldOn(t *testing.T, db *storage.DB) world { return world{contactstest.New(t, db)} }

// attribute returns the id of the registered attribute with the name.
func (w world) attribute(t *testing.T, name string) string {
	t.Helper()
	for _, a := range w.Want(t, "attributes_list", `{}`)["data"].([]any) {
		if a := a.(map[string]any); a["name"] == name {
			return a["id"].(string)
		}
	}
	t.Fatalf("no attribute %s", name)
	return ""
}

// runPass runs the job that rewrites stored contacts after changes of attributes.
func (w world) runPass(t *testing.T) {
	t.Helper()
	if err := w.Attributes.PassWorker().Work(t.Context(), attributes.PassArgs{}); err != nil {
		t.Fatal(err)
	}
}

// holds checks the attribute values that contacts_lookup shows for a contact. want is JSON.
func (w world) holds(t *testing.T, email, want string) {
	t.Helper()
	got, err := json.Marshal(w.Want(t, "contacts_lookup", fmt.Sprintf(`{"email":%q}`, email))["attributes"])
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s holds %s, want %s", email, got, want)
	}
}

func TestAttributesAreRegistered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	created := w.Want(t, "attributes_create", `{"name":"tier","type":"enum","enum_values":["gold","silver"],"description":"Of the shop"}`)
	if diff := cmp.Diff(created, w.Want(t, "attributes_get", fmt.Sprintf(`{"id":%q}`, created["id"]))); diff != "" {
		t.Errorf("created and read (-created +read):\n%s", diff)
	}
	if created["origin"] != "managed" || created["created_at"] != created["updated_at"] {
		t.Errorf("created: %v", created)
	}
	w.Refuse(t, "attributes_get", `{"id":"tier"}`, core.CodeNotFound)
	w.Refuse(t, "attributes_create", `{"name":"tier","type":"number"}`, core.CodeConflict)
	w.Want(t, "contacts_create", `{"email":"a@x.test","attributes":{"tier":"gold"}}`)
	w.Refuse(t, "contacts_create", `{"email":"b@x.test","attributes":{"tier":"bronze"}}`, core.CodeAttributeValidationFailed)
}

func TestDefinitionsThatAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.attribute(t, "city")
	many := strings.TrimSuffix(strings.Repeat(`"v",`, 501), ",")
	for definition, field := range map[string]string{
		`"name":"","type":"string"`:                                                   "name",
		`"name":"1st","type":"string"`:                                                "name",
		`"name":"Plan","type":"string"`:                                               "name",
		`"name":"é","type":"string"`:                                                  "name",
		`"name":"a-b","type":"string"`:                                                "name",
		`"name":"` + strings.Repeat("a", 64) + `","type":"string"`:                    "name",
		`"name":"email","type":"string"`:                                              "name",
		`"name":"x"`:                                                                  "type",
		`"name":"x","type":"date"`:                                                    "type",
		`"name":"x","type":"enum"`:                                                    "enum_values",
		`"name":"x","type":"enum","enum_values":[]`:                                   "enum_values",
		`"name":"x","type":"string","enum_values":["a"]`:                              "enum_values",
		`"name":"x","type":"string","enum_values":[]`:                                 "enum_values",
		`"name":"x","type":"enum","enum_values":["a","a"]`:                            "enum_values.1",
		`"name":"x","type":"enum","enum_values":["a"," "]`:                            "enum_values.1",
		`"name":"x","type":"enum","enum_values":[1]`:                                  "enum_values.0",
		`"name":"x","type":"enum","enum_values":[` + many + `]`:                       "enum_values",
		`"name":"x","type":"enum","enum_values":["` + strings.Repeat("é", 128) + `"]`: "enum_values.0",
	} {
		for _, call := range []struct{ name, arguments string }{
			{"attributes_create", "{" + definition + "}"},
			{"attributes_update", fmt.Sprintf(`{"id":%q,%s}`, id, definition)},
			{"attributes_preview", fmt.Sprintf(`{"id":%q,%s}`, id, definition)},
		} {
			refused := w.Refusal(t, call.name, call.arguments, core.CodeValidationFailed)
			if len(refused.Fields) == 0 || refused.Fields[0].Field != field {
				t.Errorf("%s(%.80s): %v", call.name, call.arguments, refused.Fields)
			}
		}
	}
}

// TestMutationClasses checks the mutation class of each kind of change, both in the preview
// and in the change itself.
func TestMutationClasses(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ before, after, class string }{
		"nothing":                 {`"name":"x","type":"string"`, `"name":"x","type":"string"`, "free"},
		"description":             {`"name":"x","type":"number"`, `"name":"x","type":"number","description":"d"`, "free"},
		"enum widened":            {`"name":"x","type":"enum","enum_values":["a"]`, `"name":"x","type":"enum","enum_values":["b","a"]`, "free"},
		"string to enum":          {`"name":"x","type":"string"`, `"name":"x","type":"enum","enum_values":["a"]`, "free"},
		"enum to string":          {`"name":"x","type":"enum","enum_values":["a"]`, `"name":"x","type":"string"`, "free"},
		"enum value removed":      {`"name":"x","type":"enum","enum_values":["a","b"]`, `"name":"x","type":"enum","enum_values":["b","c"]`, "safe_but_stale"},
		"rename":                  {`"name":"x","type":"string"`, `"name":"y","type":"string"`, "disruptive"},
		"rename with less values": {`"name":"x","type":"enum","enum_values":["a","b"]`, `"name":"y","type":"enum","enum_values":["a"]`, "disruptive"},
		"string to number":        {`"name":"x","type":"string"`, `"name":"x","type":"number"`, "disruptive"},
		"enum to bool":            {`"name":"x","type":"enum","enum_values":["a"]`, `"name":"x","type":"bool"`, "disruptive"},
		"bool to number":          {`"name":"x","type":"bool"`, `"name":"x","type":"number"`, "disruptive"},
		"datetime to string":      {`"name":"x","type":"datetime"`, `"name":"x","type":"string"`, "disruptive"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			before := w.Want(t, "attributes_create", "{"+tc.before+"}")
			change := fmt.Sprintf(`{"id":%q,%s}`, before["id"], tc.after)
			preview := w.Want(t, "attributes_preview", change)
			if diff := cmp.Diff(before, w.Want(t, "attributes_get", fmt.Sprintf(`{"id":%q}`, before["id"]))); diff != "" {
				t.Errorf("a preview changed (-before +after):\n%s", diff)
			}
			updated := w.Want(t, "attributes_update", change)
			if preview["mutation_class"] != tc.class || updated["mutation_class"] != tc.class {
				t.Errorf("%v, then %v, want %s", preview["mutation_class"], updated["mutation_class"], tc.class)
			}
			if _, hasImpact := updated["impact"]; hasImpact != (tc.class == "disruptive") {
				t.Errorf("impact of %s: %v", tc.class, updated["impact"])
			}
			if _, hasImpact := preview["impact"]; !hasImpact {
				t.Error("no impact previewed")
			}
			if w.attribute(t, updated["name"].(string)) != before["id"] {
				t.Error("it is another attribute now")
			}
		})
	}
}

// seedText creates three contacts with the attribute city, a string, and one contact
// without it. Two of the three strings are numbers, such as "12".
func (w world) seedText(t *testing.T) {
	t.Helper()
	for email, attributes := range map[string]string{
		"one@x.test": `{"city":"12"}`, "two@x.test": `{"city":"1.50"}`, "three@x.test": `{"city":"Rome","age":3}`, "none@x.test": `{"age":4}`,
	} {
		w.Want(t, "contacts_create", fmt.Sprintf(`{"email":%q,"attributes":%s}`, email, attributes))
	}
}

func TestAnotherTypeConvertsWhatFits(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorldOn(t, db)
		w.seedText(t)
		w.Want(t, "contacts_archive", `{"email":"two@x.test"}`)
		id := w.attribute(t, "city")
		updated := w.Want(t, "attributes_update", fmt.Sprintf(`{"id":%q,"name":"city","type":"number"}`, id))
		if lost := updated["impact"].(map[string]any)["projected_dropout"]; lost != 1.0 {
			t.Errorf("drop-out %v, want the one that is no number", lost)
		}
		w.runPass(t)
		w.holds(t, "one@x.test", `{"city":12}`)
		w.holds(t, "two@x.test", `{"city":1.5}`) // archived contacts are converted too
		w.holds(t, "three@x.test", `{"age":3}`)  // "Rome" is no number: the value remains stored, and reads omit it
		w.Want(t, "contacts_update", `{"email":"three@x.test","attributes":{"age":5}}`)
		w.holds(t, "three@x.test", `{"age":5}`)
		// The preview counts the contacts whose values predicates find under the old name and
		// not under the new one. Predicates do not find "Rome", because the attribute's type
		// is number. So that contact is not counted.
		renamed := w.Want(t, "attributes_preview", fmt.Sprintf(`{"id":%q,"name":"town","type":"number"}`, id))
		if lost := renamed["impact"].(map[string]any)["projected_dropout"]; lost != 1.0 {
			t.Errorf("drop-out of a name that goes %v, want the one in use with a number", lost)
		}

		w.Want(t, "attributes_update", fmt.Sprintf(`{"id":%q,"name":"city","type":"string"}`, id))
		w.runPass(t)
		w.holds(t, "one@x.test", `{"city":"12"}`)
		w.holds(t, "three@x.test", `{"age":5,"city":"Rome"}`)
	})
}

func TestValuesFollowARename(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorldOn(t, db)
		w.seedText(t)
		id := w.attribute(t, "city")
		rename := func(to string) map[string]any {
			return w.Want(t, "attributes_update", fmt.Sprintf(`{"id":%q,"name":%q,"type":"string"}`, id, to))
		}
		if lost := rename("town")["impact"].(map[string]any)["projected_dropout"]; lost != 3.0 {
			t.Errorf("drop-out %v, want all three that have a value", lost)
		}
		// The job that rewrites stored contacts has not run yet. An edit must keep the value
		// under the new name, and null must clear the value.
		w.Want(t, "contacts_update", `{"email":"one@x.test","attributes":{"age":1}}`)
		w.holds(t, "one@x.test", `{"age":1,"town":"12"}`)
		w.Want(t, "contacts_update", `{"email":"two@x.test","attributes":{"town":null}}`)
		w.holds(t, "two@x.test", `{}`)
		w.Refuse(t, "contacts_update", `{"email":"one@x.test","attributes":{"city":"x"}}`, core.CodeAttributeValidationFailed)
		if refused := w.Refusal(t, "attributes_create", `{"name":"city","type":"bool"}`, core.CodeConflict); refused.RetryAfter == 0 {
			t.Error("it does not say that the name will be free")
		}
		rename("place")
		rename("town")
		w.runPass(t)
		w.holds(t, "one@x.test", `{"age":1,"town":"12"}`)
		w.holds(t, "two@x.test", `{}`)
		w.holds(t, "three@x.test", `{"age":3,"town":"Rome"}`)
		w.Want(t, "attributes_create", `{"name":"city","type":"bool"}`)
	})
}

func TestADeletedAttributeKeepsItsValues(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seedText(t)
	id := w.attribute(t, "city")
	previewed, err := w.Attributes.PreviewDelete(t.Context(), w.Org.ID, id)
	if err != nil || previewed.MutationClass != attributes.Disruptive || previewed.Impact.ProjectedDropout != 3 {
		t.Errorf("previewed %+v %v", previewed, err)
	}
	if _, err := w.Attributes.PreviewDelete(t.Context(), core.NewID(), id); err == nil || core.AsError(err).Code != core.CodeNotFound {
		t.Errorf("previewed for another organization: %v", err)
	}
	deleted := w.Want(t, "attributes_delete", fmt.Sprintf(`{"id":%q}`, id))
	want := map[string]any{"mutation_class": "disruptive", "impact": map[string]any{"affected_segments": []any{}, "projected_dropout": 3.0}}
	if diff := cmp.Diff(want, deleted); diff != "" {
		t.Errorf("deleted (-want +got):\n%s", diff)
	}
	w.Refuse(t, "attributes_get", fmt.Sprintf(`{"id":%q}`, id), core.CodeNotFound)
	w.Refuse(t, "attributes_delete", fmt.Sprintf(`{"id":%q}`, id), core.CodeNotFound)
	w.runPass(t)
	w.holds(t, "one@x.test", `{}`)
	w.Refuse(t, "contacts_update", `{"email":"one@x.test","attributes":{"city":"x"}}`, core.CodeAttributeValidationFailed)

	// Another attribute cannot be renamed to city while contacts store values under the
	// deleted name city.
	age := fmt.Sprintf(`{"id":%q,"name":"city","type":"number"}`, w.attribute(t, "age"))
	w.Refuse(t, "attributes_update", age, core.CodeConflict)
	w.Want(t, "attributes_create", `{"name":"city","type":"number"}`)
	w.runPass(t)
	w.holds(t, "one@x.test", `{"city":12}`)
	w.holds(t, "three@x.test", `{"age":3}`) // "Rome" is no number
}

func TestDefinitionsFromARepositoryAreReadOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	git := attributes.Attribute{ID: core.NewID(), Name: "git", Type: attributes.String, Origin: core.GitOrigin}
	if err := w.DB.Attributes().InsertAttribute(t.Context(), w.Org.ID, git); err != nil {
		t.Fatal(err)
	}
	change := fmt.Sprintf(`{"id":%q,"name":"git","type":"number"}`, git.ID)
	w.Refuse(t, "attributes_update", change, core.CodeConflict)
	w.Refuse(t, "attributes_delete", fmt.Sprintf(`{"id":%q}`, git.ID), core.CodeConflict)
	if class := w.Want(t, "attributes_preview", change)["mutation_class"]; class != "disruptive" {
		t.Errorf("previewed as %v", class)
	}
}

// TestPassProgress checks the progress of the job that converts stored contacts: before a
// change, before each step of the job, and after it.
func TestPassProgress(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorldOn(t, db)
		w.seedText(t)
		passes, want := db.AttributePasses(), []attributes.Progress{{}, {Due: true, Contacts: 4}, {Due: true, Converted: 3, Contacts: 4}, {Due: true, Converted: 4, Contacts: 4}, {}}
		for i, step := range want {
			if got, err := w.Attributes.PassProgress(t.Context(), w.Org.ID); err != nil || got != step {
				t.Errorf("step %d: %+v %v, want %+v", i, got, err, step)
			}
			if i == 0 {
				w.runPass(t)
				w.Want(t, "attributes_update", fmt.Sprintf(`{"id":%q,"name":"town","type":"string"}`, w.attribute(t, "city")))
			} else if _, err := passes.Pass(t.Context(), w.Org.ID, 3); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestSegmentsAreAsked checks which changes are passed to AffectedSegments, and that an
// error of AffectedSegments prevents the change.
func TestSegmentsAreAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var asked []attributes.Change
	var refusal error
	w.Attributes.AffectedSegments = func(_ context.Context, orgID string, change attributes.Change) ([]attributes.AffectedSegment, error) {
		if orgID != w.Org.ID {
			t.Errorf("asked for organization %s", orgID)
		}
		asked = append(asked, change)
		return []attributes.AffectedSegment{{ID: core.NewID(), Name: "Locals", Warning: "attr.city is gone"}}, refusal
	}
	id := w.attribute(t, "city")
	change := fmt.Sprintf(`{"id":%q,"name":"town","type":"string"}`, id)
	for _, result := range []map[string]any{w.Want(t, "attributes_preview", change), w.Want(t, "attributes_update", change), w.Want(t, "attributes_delete", fmt.Sprintf(`{"id":%q}`, id))} {
		affected := result["impact"].(map[string]any)["affected_segments"].([]any)
		if len(affected) != 1 || affected[0].(map[string]any)["typecheck_ok"] != false {
			t.Errorf("affected: %v", affected)
		}
	}
	if len(asked) != 3 || !asked[0].Preview || asked[1].Preview || asked[1].Before.Name != "city" || asked[1].After.Name != "town" || asked[2].After != nil {
		t.Errorf("asked %+v", asked)
	}
	// AffectedSegments is called if an enum value is removed, and not if one is added.
	plan := w.attribute(t, "plan")
	free := fmt.Sprintf(`{"id":%q,"name":"plan","type":"enum","enum_values":["free","pro","team"]}`, plan)
	narrow := fmt.Sprintf(`{"id":%q,"name":"plan","type":"enum","enum_values":["free","team"]}`, plan)
	asked = nil
	w.Want(t, "attributes_update", free)
	if updated := w.Want(t, "attributes_update", narrow); len(asked) != 1 || asked[0].Class != attributes.SafeButStale || asked[0].Preview || updated["impact"] != nil {
		t.Errorf("asked %+v, and told %v", asked, updated)
	}
	refusal = errors.New("cannot say")
	w.Refuse(t, "attributes_update", fmt.Sprintf(`{"id":%q,"name":"plan","type":"enum","enum_values":["free"]}`, plan), core.CodeInternalError)
	w.Refuse(t, "attributes_delete", fmt.Sprintf(`{"id":%q}`, w.attribute(t, "age")), core.CodeInternalError)
	w.attribute(t, "age")
}

func TestTheRegistryIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 497 {
		w.Want(t, "attributes_create", fmt.Sprintf(`{"name":"a%d","type":"bool"}`, i))
	}
	w.Refuse(t, "attributes_create", `{"name":"one_more","type":"bool"}`, core.CodeValidationFailed)
}

// TestDeletedAttributesAreGoneFromReads checks that no read shows a value of a deleted
// attribute, that shown values can be written back, and that null clears stored values. A
// new attribute of the same name shows the stored values that fit its type.
func TestDeletedAttributesAreGoneFromReads(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorldOn(t, db)
		const ada, bob = "ada@x.example", "bob@x.example"
		shows := func(step, email, want string) {
			t.Helper()
			w.showsAndTakesBack(t, step, email, want)
		}
		for email, city := range map[string]string{ada: "5", bob: "five"} {
			w.Want(t, "contacts_create", `{"email":"`+email+`","attributes":{"city":"`+city+`","plan":"pro"}}`)
		}
		for _, passes := range []bool{false, true} {
			step := fmt.Sprintf("passed %v, ", passes)
			pass := func() {
				if passes {
					w.runPass(t)
				}
			}
			w.Want(t, "attributes_delete", `{"id":"`+w.attribute(t, "city")+`"}`)
			pass()
			shows(step+"deleted", ada, `{"plan":"pro"}`)
			shows(step+"deleted", bob, `{"plan":"pro"}`)
			for _, value := range []string{"5", "five"} {
				if found := contactstest.Emails(w.Want(t, "contacts_list", `{"attribute_key":"city","attribute_value":"`+value+`"}`)); found != nil {
					t.Errorf("%sa filter finds %v", step, found)
				}
			}
			w.Refuse(t, "contacts_update", `{"email":"`+ada+`","attributes":{"city":"Oslo"}}`, core.CodeAttributeValidationFailed)
			w.Want(t, "attributes_create", `{"name":"city","type":"number"}`)
			pass()
			shows(step+"a number now", ada, `{"city":5,"plan":"pro"}`)
			shows(step+"a number now", bob, `{"plan":"pro"}`)
			if found := contactstest.Emails(w.Want(t, "contacts_list", `{"attribute_key":"city","attribute_value":"five"}`)); found != nil {
				t.Errorf("%sa filter finds %v", step, found)
			}
			w.Want(t, "attributes_update", `{"id":"`+w.attribute(t, "city")+`","name":"city","type":"string"}`)
			pass()
			shows(step+"a string again", ada, `{"city":"5","plan":"pro"}`)
			shows(step+"a string again", bob, `{"city":"five","plan":"pro"}`)
			w.Want(t, "attributes_update", `{"id":"`+w.attribute(t, "city")+`","name":"town","type":"string"}`)
			shows(step+"renamed", bob, `{"plan":"pro","town":"five"}`)
			w.runPass(t) // moves the stored values from the name city to the name town, so that city is free again
			w.Want(t, "attributes_update", `{"id":"`+w.attribute(t, "town")+`","name":"city","type":"string"}`)
			w.runPass(t)
		}
		// null also clears stored values that no read shows, and is accepted for names that
		// were never registered.
		w.Want(t, "attributes_delete", `{"id":"`+w.attribute(t, "city")+`"}`)
		w.Want(t, "contacts_update", `{"email":"`+ada+`","attributes":{"city":null,"never":null}}`)
		w.Surface = core.Agent
		w.Want(t, "contacts_upsert", `{"email":"`+ada+`","attributes":{"never":null}}`)
		w.Surface = core.REST
		w.Want(t, "contacts_replace", `{"email":"`+bob+`","attributes":{"plan":"pro","city":null}}`)
		w.Want(t, "attributes_create", `{"name":"city","type":"string"}`)
		shows("cleared", ada, `{"plan":"pro"}`)
		shows("replaced", bob, `{"plan":"pro"}`)
		// A value that was removed from the enum stays visible in contacts that have it. A
		// write of such a contact may repeat the value. Creating a contact with the value
		// must fail.
		w.Want(t, "attributes_update", `{"id":"`+w.attribute(t, "plan")+`","name":"plan","type":"enum","enum_values":["free"]}`)
		shows("an enum that lost the value", ada, `{"plan":"pro"}`)
		w.Want(t, "contacts_replace", `{"email":"`+ada+`","attributes":{"plan":"pro"}}`)
		w.Refuse(t, "contacts_create", `{"email":"new@x.example","attributes":{"plan":"pro"}}`, core.CodeAttributeValidationFailed)
	})
}

// showsAndTakesBack checks that the results of reads and of a write contain the wanted
// attributes of a contact. It then writes these attributes back with three operations,
// which must accept them.
func (w world) showsAndTakesBack(t *testing.T, step, email, want string) {
	t.Helper()
	c := w.Want(t, "contacts_lookup", `{"email":"`+email+`"}`)
	listed := map[string]any{}
	for _, row := range w.Want(t, "contacts_list", `{}`)["data"].([]any) {
		if row := row.(map[string]any); row["email"] == email {
			listed = row
		}
	}
	written := w.Want(t, "contacts_update", `{"email":"`+email+`"}`)
	for from, got := range map[string]any{"one": c["attributes"], "page": listed["attributes"], "write": written["attributes"]} {
		if text, _ := json.Marshal(got); string(text) != want {
			t.Errorf("%s: the %s shows %s of %s, want %s", step, from, text, email, want)
		}
	}
	text, _ := json.Marshal(map[string]any{"email": email, "attributes": c["attributes"]})
	w.Want(t, "contacts_update", string(text))
	w.Want(t, "contacts_upsert_by_external_id", `{"external_id":"`+email+`",`+string(text[1:]))
	if items := w.FinishRows(t, w.AcceptRows(t, string(text))); items[0]["status"] != "updated" {
		t.Errorf("%s: as a row: %v", step, items[0])
	}
}
