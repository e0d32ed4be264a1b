package rest_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
)

// TestReadIsWrittenBack sends the body that the GET of a contact returned to both PUT
// routes of the contact, more than once. Each PUT must succeed and change nothing but the
// update time.
func TestReadIsWrittenBack(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		const path = "/v1/contacts/read.back@example.com"
		a.do(t, "PUT", "/v1/contacts/by-external-id/read back", `{"email":"Read.Back@example.com","attributes":{"city":"Graz","orders":1},`+
			`"topic_preferences":{"offers":"OPT_IN"},"unsubscribe_all":true,"lists":["newsletter"]}`).want(201)
		a.do(t, "PUT", "/v1/contacts/plain@example.com", `{}`).want(201)
		read := func(path string) (string, map[string]any) {
			got := a.do(t, "GET", path, "").want(200)
			var contact map[string]any
			if err := json.Unmarshal(got.body, &contact); err != nil {
				t.Fatal(err)
			}
			delete(contact, "updated_at")
			return string(got.body), contact
		}
		for write, path := range map[string]string{
			path: path, "/v1/contacts/READ.back@example.com": path, "/v1/contacts/by-external-id/read back": path,
			"/v1/contacts/plain@example.com": "/v1/contacts/plain@example.com",
		} {
			body, before := read(path)
			a.do(t, "PUT", write, body).want(200)
			a.do(t, "PUT", write, body).want(200)
			if _, after := read(path); !cmp.Equal(before, after) {
				t.Errorf("PUT %s of what GET returned (-before +after):\n%s", write, cmp.Diff(before, after))
			}
		}
	})
}

// strangeID is an id that no contact has.
const strangeID = "00000000-0000-7000-8000-000000000000"

// readBackRules test members of a contact that reads return and that writes cannot change.
var readBackRules = []rule{
	{"a PUT refuses by name what it cannot change", []step{
		{call: "PUT " + byID + "$x", body: `{"email":"$a","lists":["newsletter"]}`, status: 201, keep: "lists.0.id"},
		{call: "PUT " + people + "/$A", body: `{"id":"` + strangeID + `"}`, status: 422, want: `{"code":"validation_failed","errors":[{"field":"id"}]}`},
		{call: "PUT " + people + "/$A", body: `{"external_id":"$y"}`, status: 422, want: `{"code":"validation_failed","errors":[{"field":"external_id"}]}`},
		{call: "PUT " + people + "/$A", body: `{"email":"$b"}`, status: 422, want: `{"code":"validation_failed","errors":[{"field":"email"}]}`},
		{call: "PUT " + people + "/$A", body: `{"created_at":"2020-01-01T00:00:00Z","status":"archived"}`, status: 422, want: `{"code":"validation_failed","errors":[{"field":"status"},{"field":"created_at"}]}`},
		{call: "PUT " + people + "/$A", body: `{"lists":[{"id":"$1","key":"newsletter","name":"Another"}]}`, status: 422, want: `{"code":"validation_failed","errors":[{"field":"lists.0.name"}]}`},
		{call: "PUT " + people + "/$A", body: `{"lists":[{"id":"$1","colour":"red"}]}`, status: 422, want: `{"code":"validation_failed","errors":[{"field":"lists.0.colour"}]}`},
		{call: "PUT " + people + "/$A", body: `{"lists":[{"key":"newsletter"}]}`, status: 422, want: `{"code":"validation_failed","errors":[{"field":"lists.0.id"}]}`},
		{call: "PUT " + people + "/$A", body: `{"visitor_id":"x"}`, status: 422, want: `{"code":"validation_failed","errors":[{"field":"visitor_id"}]}`},
		{call: "PUT " + byID + "$x", body: `{"id":"` + strangeID + `"}`, status: 422, want: `{"code":"validation_failed","errors":[{"field":"id"}]}`},
		{call: "PUT " + byID + "$x", body: `{"external_id":"$y"}`, status: 422, want: `{"code":"validation_failed","errors":[{"field":"external_id"}]}`},
		{call: "GET " + people + "/$A", status: 200, want: `{"external_id":"$x","status":"active","lists":[{"key":"newsletter"}]}`},
	}},
	{"a PUT that makes a contact takes no id, time or external id of another", []step{
		{call: "PUT " + people + "/$A", body: `{"id":"` + strangeID + `","created_at":"2020-01-01T00:00:00Z","external_id":"$x"}`, status: 422, want: `{"code":"validation_failed","errors":[{"field":"id"},{"field":"created_at"},{"field":"external_id"}]}`},
		{call: "GET " + people + "/$A", status: 404, code: core.CodeNotFound},
		{call: "PUT " + people + "/$A", body: `{"status":"active","external_id":null,"mailable":false,"lists":null}`, status: 201, want: `{"mailable":true}`},
	}},
	{"what is written back of an archived contact does not revive it", []step{
		{call: "PUT " + people + "/$A", body: `{}`, status: 201},
		{call: "DELETE " + people + "/$A", status: 204},
		{call: "PUT " + people + "/$A", body: `{"status":"archived"}`, status: 422, want: `{"code":"validation_failed","errors":[{"field":"status"}]}`},
		{call: "GET " + people + "/$A", status: 200, want: `{"status":"archived"}`},
	}},
	{"a contact says wherever it is shown whether it may be mailed", []step{
		{call: "POST /v1/lists", body: `{"name":"Mailable $x"}`, status: 201, keep: "id"},
		{call: "POST /v1/activities", body: `[{"name":"visit","email":"$a"}]`, status: 202},
		{call: "PATCH " + people + "/$A", body: `{"lists":{"add":["$1"]}}`, status: 200, want: `{"mailable":false}`},
		{call: "PUT " + people + "/$B", body: `{"lists":["$1"]}`, status: 201, want: `{"mailable":true}`},
		{call: "GET /v1/lists/$1/members", status: 200, want: `{"data":[{"email":"$b","mailable":true},{"email":"$a","mailable":false}]}`},
		{call: identify, body: `{"email":"$a"}`, status: 200, want: `{"mailable":false}`},
		{call: identify, body: `{"email":"$b"}`, status: 200, want: `{"mailable":true}`},
		{call: "PATCH " + people + "/$B", body: `{"unsubscribe_all":true}`, status: 200, want: `{"mailable":false}`},
		{call: "GET /v1/lists/$1/members", status: 200, want: `{"data":[{"email":"$b","mailable":false},{"email":"$a","mailable":false}]}`},
	}},
}
