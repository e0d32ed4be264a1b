package rest_test

import (
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

const registry = "/v1/attributes"

// attributeRules are the rules for defining attributes of contacts, and for the effects of
// changing or deleting such a definition.
var attributeRules = []rule{
	{"an attribute has a name, a type, a description and times; the values are an enum's", []step{
		{
			call: "POST " + registry, body: `{"name":"$n","type":"string","description":"Said"}`, status: 201, keep: "id", lacks: "enum_values source_path mutation_class",
			want: `{"name":"$n","type":"string","description":"Said","origin":"managed"}`,
		},
		{call: "GET " + registry + "/$1", status: 200, want: `{"id":"$1","name":"$n"}`, lacks: "enum_values"},
		{call: "POST " + registry, body: `{"name":"$n_e","type":"enum","enum_values":["a","b"]}`, status: 201, want: `{"type":"enum","enum_values":["a","b"]}`},
		{call: "POST " + registry, body: `{"name":"$n","type":"number"}`, status: 409, code: core.CodeConflict},
		{call: "GET " + registry + "/00000000-0000-7000-8000-000000000000", status: 404, code: core.CodeNotFound},
	}},
	{"each type is one, and no other", []step{
		{call: "POST " + registry, body: `{"name":"$n_1","type":"number"}`, status: 201},
		{call: "POST " + registry, body: `{"name":"$n_2","type":"bool"}`, status: 201},
		{call: "POST " + registry, body: `{"name":"$n_3","type":"datetime"}`, status: 201},
		{call: "POST " + registry, body: `{"name":"$n_4","type":"date"}`, status: 422, code: core.CodeValidationFailed},
		{call: "POST " + registry, body: `{"name":"$n_4"}`, status: 422, code: core.CodeValidationFailed},
		{call: "POST " + registry, body: `{"type":"bool"}`, status: 422, code: core.CodeValidationFailed},
	}},
	{"values are required for an enum and refused for everything else", []step{
		{call: "POST " + registry, body: `{"name":"$n","type":"enum"}`, status: 422, want: `{"code":"validation_failed","errors":[{"field":"enum_values"}]}`},
		{call: "POST " + registry, body: `{"name":"$n","type":"enum","enum_values":[]}`, status: 422, code: core.CodeValidationFailed},
		{call: "POST " + registry, body: `{"name":"$n","type":"string","enum_values":["a"]}`, status: 422, want: `{"code":"validation_failed","errors":[{"field":"enum_values"}]}`},
	}},
	{"a name is a lower-case identifier of 63 characters", []step{
		{call: "POST " + registry, body: `{"name":"N","type":"bool"}`, status: 422, code: core.CodeValidationFailed},
		{call: "POST " + registry, body: `{"name":"1n","type":"bool"}`, status: 422, code: core.CodeValidationFailed},
		{call: "POST " + registry, body: `{"name":"a-b","type":"bool"}`, status: 422, code: core.CodeValidationFailed},
		{call: "POST " + registry, body: `{"name":"_n","type":"bool"}`, status: 422, code: core.CodeValidationFailed},
		{call: "POST " + registry, body: `{"name":"` + strings.Repeat("n", 64) + `","type":"bool"}`, status: 422, code: core.CodeValidationFailed},
		{call: "POST " + registry, body: `{"name":"` + strings.Repeat("n", 63) + `","type":"bool"}`, status: 201},
	}},
	{"a description, a wider enum, and a string that becomes an enum or the reverse, are free", []step{
		{call: "POST " + registry, body: `{"name":"$n","type":"string"}`, status: 201, keep: "id"},
		{call: "PUT " + registry + "/$1", body: `{"name":"$n","type":"string","description":"d"}`, status: 200, want: `{"id":"$1","name":"$n","description":"d","mutation_class":"free"}`, lacks: "impact"},
		{call: "PUT " + registry + "/$1", body: `{"name":"$n","type":"enum","enum_values":["a"]}`, status: 200, want: `{"type":"enum","mutation_class":"free"}`, lacks: "impact"},
		{call: "PUT " + registry + "/$1", body: `{"name":"$n","type":"enum","enum_values":["a","b"]}`, status: 200, want: `{"enum_values":["a","b"],"mutation_class":"free"}`, lacks: "impact"},
		{call: "PUT " + registry + "/$1", body: `{"name":"$n","type":"string"}`, status: 200, want: `{"type":"string","mutation_class":"free"}`, lacks: "impact enum_values"},
	}},
	{"a value that an enum loses is safe, and makes stale", []step{
		{call: "POST " + registry, body: `{"name":"$n","type":"enum","enum_values":["a","b"]}`, status: 201, keep: "id"},
		{call: "PUT " + registry + "/$1", body: `{"name":"$n","type":"enum","enum_values":["b","c"]}`, status: 200, want: `{"enum_values":["b","c"],"mutation_class":"safe_but_stale"}`, lacks: "impact"},
	}},
	{"another name, another class of type and the end are disruptive, and say who drops out", []step{
		{call: "POST " + registry, body: `{"name":"$n","type":"string"}`, status: 201, keep: "id"},
		{call: "POST " + people, body: `{"email":"$a","attributes":{"$n":"5"}}`, status: 201},
		{call: "POST " + people, body: `{"email":"$b","attributes":{"$n":"five"}}`, status: 201},
		{call: "POST " + registry + "/$1/preview", body: `{"name":"$n","type":"number"}`, status: 200, want: `{"mutation_class":"disruptive","impact":{"affected_segments":[],"projected_dropout":1}}`},
		{call: "POST " + registry + "/$1/preview", body: `{"name":"$n_o","type":"string"}`, status: 200, want: `{"mutation_class":"disruptive","impact":{"projected_dropout":2}}`},
		{call: "GET " + registry + "/$1", status: 200, want: `{"name":"$n","type":"string"}`},
		{call: "PUT " + registry + "/$1", body: `{"name":"$n_o","type":"string"}`, status: 200, want: `{"id":"$1","name":"$n_o","mutation_class":"disruptive","impact":{"affected_segments":[],"projected_dropout":2}}`},
		{call: "PUT " + registry + "/$1", body: `{"name":"$n_o","type":"number"}`, status: 200, want: `{"type":"number","mutation_class":"disruptive","impact":{"projected_dropout":1}}`},
		{call: "DELETE " + registry + "/$1", status: 200, want: `{"mutation_class":"disruptive","impact":{"affected_segments":[]}}`},
		{call: "DELETE " + registry + "/$1", status: 404, code: core.CodeNotFound},
	}},
	{"values of a deleted attribute are in no answer, and what was read can be written back", []step{
		{call: "POST " + registry, body: `{"name":"$n","type":"string"}`, status: 201, keep: "id"},
		{call: "PUT " + byID + "$x", body: `{"email":"$a","attributes":{"$n":"five","city":"$x"}}`, status: 201},
		{call: "DELETE " + registry + "/$1", status: 200},
		{call: "GET " + people + "/$A", status: 200, want: `{"attributes":{"$n":null,"city":"$x"}}`},
		{call: "GET " + people + "?attribute_key=city&attribute_value=$x", status: 200, want: `{"data":[{"email":"$a","attributes":{"$n":null}}]}`},
		{call: "GET " + people + "?attribute_key=$n&attribute_value=five", status: 200, want: `{"data":[]}`},
		{call: "tool contacts_lookup", body: `{"email":"$a"}`, want: `{"contact":{"attributes":{"$n":null,"city":"$x"}}}`},
		{call: "PATCH " + people + "/$A", body: `{"attributes":{"orders":1}}`, status: 200, want: `{"attributes":{"$n":null,"orders":1}}`},
		{call: "tool contacts_upsert", body: `{"email":"$a","attributes":{"orders":2}}`, want: `{"contact":{"attributes":{"$n":null,"orders":2}}}`},
		{call: "POST " + registry, body: `{"name":"$n","type":"number"}`, status: 201, keep: "id"},
		{call: "GET " + people + "/$A", status: 200, want: `{"attributes":{"$n":null,"city":"$x"}}`},
		{call: "PUT " + people + "/$A", body: `{"attributes":{"city":"$x","orders":2}}`, status: 200, want: `{"attributes":{"$n":null,"city":"$x","orders":2}}`},
		{call: "PATCH " + people + "/$A", body: `{"attributes":{"$n":7}}`, status: 200, want: `{"attributes":{"$n":7}}`},
		{call: "DELETE " + registry + "/$2", status: 200},
		{call: "PATCH " + people + "/$A", body: `{"attributes":{"$n":null,"never_$n":null}}`, status: 200, want: `{"attributes":{"$n":null}}`},
		{call: "tool contacts_upsert", body: `{"email":"$a","attributes":{"$n":null}}`, want: `{"result":"updated"}`},
		{call: "PUT " + byID + "$x", body: `{"attributes":{"$n":8}}`, status: 422, code: core.CodeAttributeValidationFailed},
		{call: "POST " + registry, body: `{"name":"$n","type":"number"}`, status: 201},
		{call: "GET " + people + "/$A", status: 200, want: `{"attributes":{"$n":null}}`},
	}},
	{"a preview tells of every class, and counts nobody unless the change is disruptive", []step{
		{call: "POST " + registry, body: `{"name":"$n","type":"enum","enum_values":["a","b"]}`, status: 201, keep: "id"},
		{call: "POST " + people, body: `{"email":"$a","attributes":{"$n":"a"}}`, status: 201},
		{call: "POST " + registry + "/$1/preview", body: `{"name":"$n","type":"enum","enum_values":["a","b","c"]}`, status: 200, want: `{"mutation_class":"free","impact":{"affected_segments":[],"projected_dropout":0}}`},
		{call: "POST " + registry + "/$1/preview", body: `{"name":"$n","type":"enum","enum_values":["b"]}`, status: 200, want: `{"mutation_class":"safe_but_stale","impact":{"affected_segments":[],"projected_dropout":0}}`},
		{call: "POST " + registry + "/$1/preview", body: `{"name":"$n","type":"enum"}`, status: 422, code: core.CodeValidationFailed},
		{call: "GET " + registry + "/$1", status: 200, want: `{"enum_values":["a","b"]}`},
	}},
	{"a number has the same bounds as text as it has bare", []step{
		{call: "POST " + registry, body: `{"name":"$n","type":"number"}`, status: 201},
		{call: "POST " + people, body: `{"email":"$a","attributes":{"$n":12345678901234567891}}`, status: 422, code: core.CodeValidationFailed},
		{call: "POST " + people, body: `{"email":"$a","attributes":{"$n":"12345678901234567891"}}`, status: 422, want: `{"code":"attribute_validation_failed","errors":[{"field":"attributes.$n"}]}`},
		{call: "POST " + people, body: `{"email":"$a","attributes":{"$n":"0.1000000000000000055511151231257827"}}`, status: 422, want: `{"code":"attribute_validation_failed"}`},
		{call: "POST " + people, body: `{"email":"$a","attributes":{"$n":"1e-400"}}`, status: 422, want: `{"code":"attribute_validation_failed"}`},
		{call: "tool contacts_upsert", body: `{"email":"$a","attributes":{"$n":"9007199254740993"}}`, want: `{"code":"attribute_validation_failed","errors":[{"field":"attributes.$n"}]}`},
		{call: "POST " + people, body: `{"email":"$a","attributes":{"$n":"9007199254740992"}}`, status: 201, want: `{"attributes":{"$n":9007199254740992}}`},
	}},
	{"a contact is held to the registry, one reason for each attribute, on both surfaces", []step{
		{call: "POST " + registry, body: `{"name":"$n","type":"enum","enum_values":["a"]}`, status: 201},
		{call: "POST " + people, body: `{"email":"$a","attributes":{"$n":"b","orders":"many","$nn":1}}`, status: 422, want: `{"code":"attribute_validation_failed"}`},
		{call: "tool contacts_upsert", body: `{"email":"$a","attributes":{"$n":"b"}}`, want: `{"code":"attribute_validation_failed","errors":[{"field":"attributes.$n"}]}`},
		{call: "tool contacts_upsert", body: `{"email":"$a","attributes":{"$n":"a","orders":"5"}}`, want: `{"result":"created","contact":{"attributes":{"$n":"a","orders":5}}}`},
	}},
}
