package rest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
)

// hostileRows are malformed rows of a bulk write, with the error that each must have. Each
// row is sent between two valid rows.
var hostileRows = []struct{ name, row, outcome string }{
	{"a member named twice", `{"email":"b1@example.com","email":"b2@example.com"}`, "failed validation_failed email"},
	{"an attribute named twice", `{"email":"b3@example.com","attributes":{"city":"a","city":"b"}}`, "failed validation_failed attributes.city"},
	{"a NUL", `{"email":"b4@example.com","attributes":{"city":"a\u0000"}}`, "failed validation_failed attributes.city"},
	{"a number beyond a float64", `{"email":"b5@example.com","attributes":{"spent_eur":1e400}}`, "failed validation_failed attributes.spent_eur"},
	{"a number with too many digits", `{"email":"b6@example.com","attributes":{"spent_eur":12345678901234567891}}`, "failed validation_failed attributes.spent_eur"},
	{"half a character", `{"email":"b7@example.com","attributes":{"city":"\ud800"}}`, "failed validation_failed attributes.city"},
	{"a number within a float64 that predicates do not take", `{"email":"n1@example.com","attributes":{"spent_eur":1e101}}`, "failed attribute_validation_failed attributes.spent_eur"},
	{"a number beyond a float64, as a file brings it", `{"email":"n2@example.com","attributes":{"spent_eur":"1e400"}}`, "failed attribute_validation_failed attributes.spent_eur"},
	{"a number of 5,000 digits", `{"email":"n3@example.com","attributes":{"spent_eur":"` + strings.Repeat("9", 5000) + `"}}`, "failed attribute_validation_failed attributes.spent_eur"},
	{"no number", `{"email":"n4@example.com","attributes":{"spent_eur":"NaN"}}`, "failed attribute_validation_failed attributes.spent_eur"},
	{"a control character in an address", `{"email":"a\u0007b@example.com"}`, "failed validation_failed email"},
	{"a line end in an address", `{"email":"a@example.com\r\nBcc: b@example.com"}`, "failed validation_failed email"},
	{"a turned direction in an address", `{"email":"\u202emoc.elpmaxe@a@example.com"}`, "failed validation_failed email"},
	{"an address without width", `{"email":"a\u200b@example.com"}`, "failed validation_failed email"},
	{"an overlong address", `{"email":"` + strings.Repeat("a", 5000) + `@example.com"}`, "failed validation_failed email"},
	{"an overlong external id", `{"external_id":"` + strings.Repeat("é", 256) + `"}`, "failed validation_failed external_id"},
	{"an overlong value", `{"email":"v1@example.com","attributes":{"city":"` + strings.Repeat("é", 5000) + `"}}`, "failed attribute_validation_failed attributes.city"},
	{"an overlong name of an attribute", `{"email":"v2@example.com","attributes":{"` + strings.Repeat("a", 5000) + `":1}}`, "failed attribute_validation_failed attributes.aaa"},
	{"an attribute turned around", `{"email":"v3@example.com","attributes":{"\u202eytic\u0007":1}}`, "failed attribute_validation_failed attributes.ytic"},
	{"an unknown member turned around", `{"email":"v4@example.com","\u202e\u0007liame":1}`, "failed validation_failed liame"},
	{"a member in other letters", `{"EMAIL":"v5@example.com"}`, "failed validation_failed EMAIL"},
	{"a member in both letters", `{"email":"v5@example.com","Email":"v6@example.com"}`, "failed validation_failed Email"},
	{"a list with a direction", `{"email":"v6@example.com","lists":["\u202enewsletter"]}`, "failed validation_failed lists.0"},
	{"more lists than there may be", `{"email":"v7@example.com","lists":[` + strings.Repeat(`"a",`, 200) + `"a"]}`, "failed validation_failed lists"},
	{"a topic twice", `{"email":"v8@example.com","topic_preferences":[{"topic":"a","subscription_status":"OPT_IN"},{"topic":"a","subscription_status":"OPT_OUT"}]}`, "failed validation_failed topic_preferences.a"},
	{"choices that are a text", `{"email":"v8@example.com","topic_preferences":"offers"}`, "failed validation_failed topic_preferences"},
	{"a choice that is a number", `{"email":"v8@example.com","topic_preferences":[7]}`, "failed validation_failed topic_preferences"},
	{"a choice with more in it", `{"email":"v8@example.com","topic_preferences":[{"topic":"offers","subscription_status":"OPT_IN","since":1}]}`, "failed validation_failed topic_preferences.since"},
	{"a choice in other letters", `{"email":"v8@example.com","topic_preferences":[{"Topic":"offers","subscription_status":"OPT_IN"}]}`, "failed validation_failed topic_preferences.Topic"},
	{"deeper than anybody would nest", `{"email":"b11@example.com","attributes":{"city":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}}`, "failed validation_failed "},
	{"an object where a value is", `{"email":"v9@example.com","attributes":{"city":{"a":[{}]}}}`, "failed attribute_validation_failed attributes.city"},
	{"a quoted member", `{"email":"v4@example.com","a\"b":1}`, "failed validation_failed a\"b"},
	{"a prototype", `{"email":"v10@example.com","__proto__":{"a":1}}`, "failed validation_failed __proto__"},
	{"SQL", `{"email":"v11@example.com","external_id":"'; DROP TABLE contacts; --","attributes":{"city":"\"') || 1"}}`, "created "},
	{"the same person again", `{"external_id":"'; DROP TABLE contacts; --","attributes":{"city":null}}`, "updated "},
	{"what is hidden in a value stays the value", `{"email":"v12@example.com","attributes":{"city":"\u202eemoR\u0007\u2028"}}`, "created "},
}

// TestHostileRowsOfBulk checks the outcome of each row in hostileRows. Most of them must
// fail, without affecting the valid rows between them. Error messages must contain no
// invisible or control characters from the rows.
func TestHostileRowsOfBulk(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		var rows []string
		for i, hostile := range hostileRows {
			rows = append(rows, fmt.Sprintf(`{"email":"good%d@example.com"}`, i), hostile.row)
		}
		job := a.postBulk(t, `{"contacts":[`+strings.Join(rows, ",")+`]}`)
		items, _ := a.follow(t, job, 7)
		for i, hostile := range hostileRows {
			if good := items[2*i]; good.Status != "created" {
				t.Errorf("before %s: %+v", hostile.name, good)
			}
			item := items[2*i+1]
			got := item.Status + " " + item.Reason
			for _, e := range item.Errors {
				got += " " + e.Field
			}
			if !strings.HasPrefix(got, hostile.outcome) || item.Status != "failed" && got != hostile.outcome {
				t.Errorf("%s: %.200s, want %s", hostile.name, got, hostile.outcome)
			}
			for _, e := range item.Errors {
				if text := e.Field + e.Reason; len(text) > 1000 || strings.ContainsFunc(text, func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl) }) {
					t.Errorf("%s: %.200q", hostile.name, text)
				}
			}
		}
		c := a.do(t, "GET", "/v1/contacts/v12%40example.com", "").want(200).contact()
		if c.Attributes["city"] != "\u202eemoR\u0007\u2028" {
			t.Errorf("what is hidden in a value: %q", c.Attributes["city"])
		}
	})
}

// TestBrokenJSONOfBulk checks that a bulk request with JSON that cannot be split into rows
// is refused as a whole. The refusal must name the position of the fault, and no row may be
// written.
func TestBrokenJSONOfBulk(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		for name, broken := range map[string]struct{ row, field string }{
			"bytes that are no UTF-8":      {"{\"email\":\"b8@example.com\",\"attributes\":{\"city\":\"\xff\"}}", "contacts.1.attributes.city"},
			"a control character as it is": {"{\"email\":\"b9@example.com\",\"attributes\":{\"city\":\"\x07\"}}", "contacts.1.attributes.city"},
			"an object that is left open":  {`{"email":"b10@example.com"`, "contacts"},
		} {
			refusal := a.do(t, "POST", bulkPath, `{"contacts":[{"email":"first@example.com"},`+broken.row+`]}`).refused(422, core.CodeValidationFailed)
			fields := make([]string, len(refusal.Errors))
			for i, e := range refusal.Errors {
				fields[i] = e.Field
			}
			if !slices.Equal(fields, []string{broken.field}) {
				t.Errorf("%s: %q, want %q", name, fields, broken.field)
			}
		}
		a.do(t, "GET", "/v1/contacts/first%40example.com", "").refused(404, core.CodeNotFound)
	})
}
