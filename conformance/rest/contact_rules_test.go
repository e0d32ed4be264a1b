package rest_test

import (
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

func allRules() []rule {
	return slices.Concat(contactRules, readBackRules, externalIDRules, membershipRules, addressRules, identifyRules, definitionRules, toolRules, attributeRules, activityRules, segmentRules, audienceToolRules)
}

const (
	people    = "/v1/contacts"
	byID      = "/v1/contacts/by-external-id/"
	misfits   = `{"code":"attribute_validation_failed","errors":[{"field":"attributes.nothing"},{"field":"attributes.orders"}]}`
	everybody = `{"email":"$a","attributes":{"city":"Graz","orders":1},"topic_preferences":{"offers":"OPT_IN"},"unsubscribe_all":true,"lists":{"add":["newsletter"]}}`
)

// contactRules are test cases for the routes that name contacts by their address.
var contactRules = []rule{
	{"POST makes a contact and answers 201 with all of it, lists included", []step{
		{call: "POST " + people, body: everybody, status: 201, want: `{"id":"~^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$","created_at":"~^20.*Z$","updated_at":"~^20.*Z$","email":"$a","status":"active","external_id":null,"unsubscribe_all":true,"attributes":{"city":"Graz","orders":1},"topic_preferences":[{"topic":"offers","subscription_status":"OPT_IN"}],"lists":[{"id":"~-","key":"newsletter","name":"Newsletter"}]}`},
	}},
	{"what POST leaves out takes its default", []step{
		{call: "POST " + people, body: `{"email":"$a"}`, status: 201, want: `{"attributes":{},"topic_preferences":[],"unsubscribe_all":false,"lists":[]}`},
	}},
	{"POST refuses an address that an active contact has, in whatever case", []step{
		{call: "POST " + people, body: `{"email":"$a"}`, status: 201},
		{call: "POST " + people, body: `{"email":"$a"}`, status: 409, code: core.CodeConflict},
		{call: "POST " + people, body: `{"email":"A.` + `RULE$x@example.com"}`, status: 201},
		{call: "POST " + people, body: `{"email":"a.rule$x@EXAMPLE.com"}`, status: 409, code: core.CodeConflict},
	}},
	{"POST takes an archived contact back into use with 201", []step{
		{call: "POST " + people, body: `{"email":"$a","attributes":{"city":"Graz"}}`, status: 201},
		{call: "DELETE " + people + "/$A", status: 204},
		{call: "POST " + people, body: `{"email":"$a","attributes":{"orders":2}}`, status: 201, want: `{"status":"active","attributes":{"orders":2}}`},
	}},
	{"PUT makes a contact with 201 and replaces one with 200", []step{
		{call: "PUT " + people + "/$A", body: `{}`, status: 201},
		{call: "PUT " + people + "/$A", body: `{"attributes":{"city":"Linz"}}`, status: 200, want: `{"attributes":{"city":"Linz"}}`},
	}},
	{"PUT without attributes wipes them all", []step{
		{call: "POST " + people, body: everybody, status: 201},
		{call: "PUT " + people + "/$A", body: `{"topic_preferences":{"offers":"OPT_IN"}}`, status: 200, want: `{"attributes":{}}`},
		{call: "GET " + people + "/$A", status: 200, want: `{"attributes":{}}`},
	}},
	{"PUT without topic choices takes every topic back to its default", []step{
		{call: "POST " + people, body: everybody, status: 201},
		{call: "PUT " + people + "/$A", body: `{"attributes":{"city":"Wien"}}`, status: 200, want: `{"topic_preferences":[]}`},
		{call: "GET " + people + "/$A", status: 200, want: `{"topic_preferences":[]}`},
	}},
	{"PATCH changes what it names and keeps the rest", []step{
		{call: "POST " + people, body: everybody, status: 201},
		{call: "PATCH " + people + "/$A", body: `{"attributes":{"orders":2},"topic_preferences":{"events":"OPT_IN"}}`, status: 200, want: `{"attributes":{"city":"Graz","orders":2},"topic_preferences":[{"topic":"events"},{"topic":"offers"}],"unsubscribe_all":true,"lists":[{"key":"newsletter"}]}`},
	}},
	{"a null in a PATCH clears that attribute and no other", []step{
		{call: "POST " + people, body: everybody, status: 201},
		{call: "PATCH " + people + "/$A", body: `{"attributes":{"city":null}}`, status: 200, want: `{"attributes":{"orders":1,"city":null}}`},
	}},
	{"PATCH does not make contacts", []step{
		{call: "PATCH " + people + "/$A", body: `{}`, status: 404, code: core.CodeNotFound},
		{call: "GET " + people + "/$A", status: 404, code: core.CodeNotFound, want: `{"code":"not_found","resource":"contact"}`},
	}},
	{"DELETE archives, and what it archived can still be read", []step{
		{call: "POST " + people, body: everybody, status: 201},
		{call: "DELETE " + people + "/$A", status: 204},
		{call: "GET " + people + "/$A", status: 200, want: `{"status":"archived","email":"$a","attributes":{"city":"Graz"},"lists":[],"unsubscribe_all":true}`},
	}},
	{"DELETE answers 204 also for somebody unknown or archived already", []step{
		{call: "DELETE " + people + "/$A", status: 204},
		{call: "POST " + people, body: `{"email":"$a"}`, status: 201},
		{call: "DELETE " + people + "/$A", status: 204},
		{call: "DELETE " + people + "/$A", status: 204},
	}},
	{"an archived contact keeps its external id", []step{
		{call: "PUT " + byID + "$x", body: `{"email":"$a"}`, status: 201},
		{call: "DELETE " + people + "/$A", status: 204},
		{call: "GET " + people + "/$A", status: 200, want: `{"status":"archived","external_id":"$x"}`},
	}},
	{"the global opt-out has three answers: true, false, and not said", []step{
		{call: "POST " + people, body: `{"email":"$a","unsubscribe_all":true}`, status: 201, want: `{"unsubscribe_all":true}`},
		{call: "PATCH " + people + "/$A", body: `{"unsubscribe_all":null}`, status: 200, want: `{"unsubscribe_all":true}`},
		{call: "PUT " + people + "/$A", body: `{}`, status: 200, want: `{"unsubscribe_all":true}`},
		{call: "PUT " + people + "/$A", body: `{"unsubscribe_all":null}`, status: 200, want: `{"unsubscribe_all":true}`},
		{call: "PATCH " + people + "/$A", body: `{"unsubscribe_all":false}`, status: 200, want: `{"unsubscribe_all":false}`},
	}},
	{"an archived contact that comes back is opted out as it was", []step{
		{call: "POST " + people, body: `{"email":"$a","unsubscribe_all":true}`, status: 201},
		{call: "DELETE " + people + "/$A", status: 204},
		{call: "POST " + people, body: `{"email":"$a"}`, status: 201, want: `{"unsubscribe_all":true}`},
	}},
	{"opt-outs of an archived contact hold when it comes back, unless the call states the choice again", []step{
		{call: "POST " + people, body: `{"email":"$a","external_id":null}`, status: 422, code: core.CodeValidationFailed},
		{call: "PUT " + byID + "$x", body: `{"email":"$a","unsubscribe_all":true,"topic_preferences":{"events":"OPT_OUT","offers":"OPT_IN"}}`, status: 201, keep: "id"},
		{call: "DELETE " + people + "/$A", status: 204},
		{call: "POST " + people, body: `{"email":"$a"}`, status: 201, want: `{"id":"$1","status":"active","unsubscribe_all":true,"mailable":false,"topic_preferences":[{"topic":"events","subscription_status":"OPT_OUT"}]}`},
		{call: "DELETE " + people + "/$A", status: 204},
		{call: "PUT " + people + "/$A", body: `{}`, status: 200, want: `{"unsubscribe_all":true,"topic_preferences":[{"topic":"events","subscription_status":"OPT_OUT"}]}`},
		{call: "DELETE " + people + "/$A", status: 204},
		{call: "PUT " + byID + "$x", body: `{"attributes":{"city":"Graz"}}`, status: 200, want: `{"status":"active","unsubscribe_all":true,"topic_preferences":[{"topic":"events","subscription_status":"OPT_OUT"}]}`},
		{call: "DELETE " + people + "/$A", status: 204},
		{call: "tool contacts_upsert", body: `{"email":"$a","attributes":{"city":"Linz"}}`, want: `{"result":"reactivated","contact":{"unsubscribe_all":true,"topic_preferences":[{"topic":"events","subscription_status":"OPT_OUT"}]},"mailable_note":"~^Not mailable"}`},
		{call: "GET " + people + "/$A", status: 200, want: `{"unsubscribe_all":true,"topic_preferences":[{"topic":"events","subscription_status":"OPT_OUT"}]}`},
		{call: "DELETE " + people + "/$A", status: 204},
		{call: "POST " + people, body: `{"email":"$a","unsubscribe_all":false,"topic_preferences":{"events":"OPT_IN"}}`, status: 201, want: `{"unsubscribe_all":false,"mailable":true,"topic_preferences":[{"topic":"events","subscription_status":"OPT_IN"}]}`},
		{call: "GET " + people + "/$A", status: 200, want: `{"unsubscribe_all":false,"topic_preferences":[{"topic":"events","subscription_status":"OPT_IN"}]}`},
	}},
	{"a contact that only activities have named is not mailable until somebody states consent", []step{
		{call: "POST /v1/activities", body: `{"name":"seen","email":"$a"}`, status: 202},
		{call: "GET " + people + "/$A", status: 200, want: `{"mailable":false,"unsubscribe_all":false}`},
		{call: "tool contacts_lookup", body: `{"email":"$a"}`, want: `{"contact":{"mailable":false},"mailable_note":"~^Not mailable: the address is known only"}`},
		{call: "PATCH " + people + "/$A", body: `{"attributes":{"city":"$x"},"lists":{"add":["newsletter"]}}`, status: 200, want: `{"mailable":false,"attributes":{"city":"$x"}}`},
		{call: "tool contacts_upsert", body: `{"email":"$a","attributes":{"orders":1}}`, want: `{"result":"updated","contact":{"mailable":false},"mailable_note":"~^Not mailable: the address is known only"}`},
		{call: "PUT " + byID + "$x", body: `{"email":"$a"}`, status: 200, want: `{"mailable":false}`},
		{call: identify, body: `{"external_id":"$x"}`, status: 200, want: `{"result":"existing"}`},
		{call: "GET " + people + "?attribute_key=city&attribute_value=$x", status: 200, want: `{"data":[{"email":"$a","mailable":false}]}`},
		{call: "GET " + people + "?attribute_key=city&attribute_value=$x&topic=product-news", status: 200, want: `{"data":[]}`},
		{call: "GET " + people + "?attribute_key=city&attribute_value=$x&topic=product-news&subscription_status=OPT_IN", status: 200, want: `{"data":[]}`},
		{call: "POST /v1/segments/preview", body: `{"source":"attr.city = \"$x\" and subscribed to \"product-news\""}`, status: 200, want: `{"count":0}`},
		{call: "POST /v1/segments/preview", body: `{"source":"attr.city = \"$x\""}`, status: 200, want: `{"count":1}`},
		{call: "PATCH " + people + "/$A", body: `{"topic_preferences":{"offers":"OPT_OUT"}}`, status: 200, want: `{"mailable":true}`},
		{call: "POST /v1/segments/preview", body: `{"source":"attr.city = \"$x\" and subscribed to \"product-news\""}`, status: 200, want: `{"count":1}`},
		{call: "GET " + people + "?attribute_key=city&attribute_value=$x&topic=product-news", status: 200, want: `{"data":[{"email":"$a","mailable":true}]}`},
	}},
	{"an activity attaches to an archived contact and does not bring it back", []step{
		{call: "PUT " + byID + "$x", body: `{"email":"$a","unsubscribe_all":true}`, status: 201, keep: "id"},
		{call: "DELETE " + people + "/$A", status: 204},
		{call: "POST /v1/activities", body: `{"name":"seen","external_id":"$x"}`, status: 202, want: `{"data":[{"status":"accepted","contact_id":"$1"}]}`},
		{call: "tool activities_record", body: `{"activities":[{"name":"seen","email":"$a"}]}`, want: `{"items":[{"status":"accepted","contact_id":"$1"}]}`},
		{call: identify, body: `{"email":"$a"}`, status: 409, want: `{"code":"conflict","next_step":"~PUT /v1/contacts/{email}"}`},
		{call: "GET " + people + "/$A", status: 200, want: `{"status":"archived","mailable":false,"unsubscribe_all":true}`},
	}},
	{"a topic lists those subscribed by choice or default, and a status never more of them", []step{
		{call: "POST " + people, body: `{"email":"$a","attributes":{"city":"$x"}}`, status: 201},
		{call: "POST " + people, body: `{"email":"$b","attributes":{"city":"$x"},"topic_preferences":{"offers":"OPT_IN","product-news":"OPT_OUT"}}`, status: 201},
		{call: "GET " + people + "?attribute_key=city&attribute_value=$x&topic=product-news", status: 200, want: `{"data":[{"email":"$a"}]}`},
		{call: "GET " + people + "?attribute_key=city&attribute_value=$x&topic=product-news&subscription_status=OPT_IN", status: 200, want: `{"data":[{"email":"$a"}]}`},
		{call: "GET " + people + "?attribute_key=city&attribute_value=$x&topic=product-news&subscription_status=OPT_OUT", status: 200, want: `{"data":[{"email":"$b"}]}`},
		{call: "GET " + people + "?attribute_key=city&attribute_value=$x&topic=offers", status: 200, want: `{"data":[{"email":"$b"}]}`},
		{call: "GET " + people + "?attribute_key=city&attribute_value=$x&topic=offers&subscription_status=OPT_IN", status: 200, want: `{"data":[{"email":"$b"}]}`},
	}},
	{"archived contacts are listed when they are asked for, page by page", []step{
		{call: "POST " + people, body: `{"email":"$a","attributes":{"city":"$x"}}`, status: 201},
		{call: "POST " + people, body: `{"email":"$b","attributes":{"city":"$x"}}`, status: 201},
		{call: "DELETE " + people + "/$A", status: 204},
		{call: "DELETE " + people + "/$B", status: 204},
		{call: "GET " + people + "?status=active&attribute_key=city&attribute_value=$x", status: 200, want: `{"data":[]}`},
		{call: "GET " + people + "?status=archived&attribute_key=city&attribute_value=$x&limit=1", status: 200, want: `{"data":[{"email":"$b","status":"archived","mailable":false}],"pagination":{"has_more":true}}`, keep: "pagination.next_cursor"},
		{call: "GET " + people + "?status=archived&attribute_key=city&attribute_value=$x&limit=1&cursor=$1", status: 200, want: `{"data":[{"email":"$a"}],"pagination":{"has_more":false}}`},
		{call: "GET " + people + "?attribute_key=city&attribute_value=$x&limit=1&cursor=$1", status: 422, code: core.CodeValidationFailed},
		{call: "GET " + people + "?status=deleted", status: 422, want: `{"code":"validation_failed","errors":[{"field":"status"}]}`},
	}},
	{"every attribute that does not fit is named", []step{
		{call: "POST " + people, body: `{"email":"$a","attributes":{"nothing":1,"orders":"many","subscription":"weekly","city":"Graz"}}`, status: 422, want: `{"code":"attribute_validation_failed","errors":[{"field":"attributes.nothing"},{"field":"attributes.orders"},{"field":"attributes.subscription"}]}`},
		{call: "GET " + people + "/$A", status: 404, code: core.CodeNotFound},
	}},
	{"values are brought to the registered type", []step{
		{call: "POST " + people, body: `{"email":"$a","attributes":{"orders":"12","wholesale":"true","last_order_at":"2026-02-03"}}`, status: 201, want: `{"attributes":{"orders":12,"wholesale":true,"last_order_at":"2026-02-03T00:00:00Z"}}`},
	}},
	{"choices about topics are a list or an object, about topics there are", []step{
		{call: "POST " + people, body: `{"email":"$a","topic_preferences":[{"topic":"events","subscription_status":"OPT_IN"}]}`, status: 201, want: `{"topic_preferences":[{"topic":"events","subscription_status":"OPT_IN"}]}`},
		{call: "PATCH " + people + "/$A", body: `{"topic_preferences":{"weather":"OPT_IN"}}`, status: 422, code: core.CodeValidationFailed},
		{call: "PATCH " + people + "/$A", body: `{"topic_preferences":{"events":"MAYBE"}}`, status: 422, code: core.CodeValidationFailed},
	}},
	{"only explicit choices are shown", []step{
		{call: "POST " + people, body: `{"email":"$a","topic_preferences":{"offers":"OPT_OUT"}}`, status: 201},
		{call: "GET " + people + "/$A", status: 200, want: `{"topic_preferences":[{"topic":"offers","subscription_status":"OPT_OUT"}]}`},
	}},
	{"subscription_status filters about a topic only", []step{
		{call: "GET " + people + "?subscription_status=OPT_IN", status: 422, code: core.CodeValidationFailed},
		{call: "GET " + people + "?topic=offers&subscription_status=MAYBE", status: 422, code: core.CodeValidationFailed},
	}},
	{"an attribute and its value filter together or not at all", []step{
		{call: "GET " + people + "?attribute_key=city", status: 422, code: core.CodeValidationFailed},
		{call: "GET " + people + "?attribute_value=Graz", status: 422, code: core.CodeValidationFailed},
	}},
	{"filters must all match", []step{
		{call: "POST " + people, body: `{"email":"$a","attributes":{"city":"$x"},"topic_preferences":{"offers":"OPT_IN"}}`, status: 201},
		{call: "POST " + people, body: `{"email":"$b","attributes":{"city":"$x"},"unsubscribe_all":true}`, status: 201},
		{call: "GET " + people + "?attribute_key=city&attribute_value=$x", status: 200, want: `{"data":[{"email":"$b"},{"email":"$a"}],"pagination":{"has_more":false,"next_cursor":null}}`},
		{call: "GET " + people + "?attribute_key=city&attribute_value=$x&unsubscribe_all=true", status: 200, want: `{"data":[{"email":"$b"}]}`},
		{call: "GET " + people + "?attribute_key=city&attribute_value=$x&topic=offers&subscription_status=OPT_IN", status: 200, want: `{"data":[{"email":"$a"}]}`},
		{call: "GET " + people + "?attribute_key=city&attribute_value=$x&topic=offers&subscription_status=OPT_OUT", status: 200, want: `{"data":[{"email":"$b"}]}`},
		{call: "GET " + people + "?attribute_key=city&attribute_value=$x&topic=offers", status: 200, want: `{"data":[{"email":"$a"}]}`},
		{call: "GET " + people + "?attribute_key=city&attribute_value=$x&unsubscribe_all=true&topic=offers", status: 200, want: `{"data":[]}`},
		{call: "GET " + people + "?attribute_key=city&attribute_value=$X", status: 200, want: `{"data":[]}`},
	}},
	{"every write names every attribute that does not fit", []step{
		{call: "POST " + people, body: `{"email":"$a"}`, status: 201},
		{call: "PUT " + people + "/$A", body: `{"attributes":{"nothing":1,"orders":"many"}}`, status: 422, want: misfits},
		{call: "PATCH " + people + "/$A", body: `{"attributes":{"nothing":1,"orders":"many"}}`, status: 422, want: misfits},
		{call: "PUT " + byID + "$x", body: `{"email":"$a","attributes":{"nothing":1,"orders":"many"}}`, status: 422, want: misfits},
		{call: "tool contacts_upsert", body: `{"email":"$a","attributes":{"nothing":1,"orders":"many"}}`, want: misfits},
		{call: "GET " + people + "/$A", status: 200, want: `{"attributes":{},"external_id":null}`},
	}},
	{"writes by address take no external id", []step{
		{call: "POST " + people, body: `{"email":"$a","external_id":"$x"}`, status: 422, want: `{"code":"validation_failed","errors":[{"field":"external_id"}]}`},
		{call: "PUT " + people + "/$A", body: `{"external_id":"$x"}`, status: 422, want: `{"code":"validation_failed","errors":[{"field":"external_id"}]}`},
		{call: "PATCH " + people + "/$A", body: `{"rebind_external_id":true}`, status: 422, want: `{"code":"validation_failed","errors":[{"field":"rebind_external_id"}]}`},
		{call: "GET " + people + "/$A", status: 404, code: core.CodeNotFound},
	}},
	{"PUT takes an archived contact back into use with 200, and PATCH does not", []step{
		{call: "POST " + people, body: everybody, status: 201, keep: "id"},
		{call: "DELETE " + people + "/$A", status: 204},
		{call: "PATCH " + people + "/$A", body: `{"attributes":{"orders":2}}`, status: 409, code: core.CodeConflict},
		{call: "PUT " + people + "/$A", body: `{"attributes":{"orders":2}}`, status: 200, want: `{"id":"$1","status":"active","attributes":{"orders":2},"lists":[]}`},
	}},
	{"whoever is archived or opted out gets no mail", []step{
		{call: "POST " + people, body: `{"email":"$a"}`, status: 201, want: `{"mailable":true}`},
		{call: "tool contacts_lookup", body: `{"email":"$a"}`, want: `{"mailable_note":"Mailable."}`},
		{call: "PATCH " + people + "/$A", body: `{"topic_preferences":{"offers":"OPT_OUT"}}`, status: 200},
		{call: "tool contacts_lookup", body: `{"email":"$a"}`, want: `{"mailable_note":"~^Mailable, except"}`},
		{call: "PATCH " + people + "/$A", body: `{"unsubscribe_all":true}`, status: 200},
		{call: "tool contacts_lookup", body: `{"email":"$a"}`, want: `{"mailable_note":"~^Not mailable: .*opted out"}`},
		{call: "DELETE " + people + "/$A", status: 204},
		{call: "tool contacts_lookup", body: `{"email":"$a"}`, want: `{"contact":{"status":"archived"},"mailable_note":"~^Not mailable: .*archived"}`},
	}},
	{"an attribute filters by its value as text, whatever its type, and a topic that nobody chose about finds nobody", []step{
		{call: "POST " + people, body: `{"email":"$a","attributes":{"city":"$x","orders":987654,"wholesale":true}}`, status: 201},
		{call: "GET " + people + "?attribute_key=orders&attribute_value=987654", status: 200, want: `{"data":[{"email":"$a"}]}`},
		{call: "GET " + people + "?attribute_key=orders&attribute_value=98765", status: 200, want: `{"data":[]}`},
		{call: "GET " + people + "?attribute_key=city&attribute_value=$x&unsubscribe_all=false", status: 200, want: `{"data":[{"email":"$a"}]}`},
		{call: "GET " + people + "?attribute_key=city&attribute_value=$x&topic=offers", status: 200, want: `{"data":[]}`},
		{call: "GET " + people + "?topic=weather", status: 200, want: `{"data":[]}`},
	}},
	{"a page is continued by its cursor, with the same filters only", []step{
		{call: "POST " + people, body: `{"email":"$a","attributes":{"city":"$x"}}`, status: 201},
		{call: "POST " + people, body: `{"email":"$b","attributes":{"city":"$x"}}`, status: 201},
		{call: "GET " + people + "?attribute_key=city&attribute_value=$x&limit=1", status: 200, want: `{"data":[{"email":"$b"}],"pagination":{"has_more":true}}`, keep: "pagination.next_cursor"},
		{call: "GET " + people + "?attribute_key=city&attribute_value=$x&limit=1&cursor=$1", status: 200, want: `{"data":[{"email":"$a"}],"pagination":{"has_more":false,"next_cursor":null}}`},
		{call: "GET " + people + "?attribute_key=city&attribute_value=Graz&limit=1&cursor=$1", status: 422, code: core.CodeValidationFailed},
	}},
	{"a contact in a page is whole, but for its lists", []step{
		{call: "POST " + people, body: `{"email":"$a","attributes":{"city":"$x"},"lists":{"add":["newsletter"]}}`, status: 201, keep: "id"},
		{call: "GET " + people + "?attribute_key=city&attribute_value=$x", status: 200, want: `{"data":[{"id":"$1","email":"$a","external_id":null,"status":"active","attributes":{"city":"$x"},"topic_preferences":[],"unsubscribe_all":false,"lists":null,"created_at":"~Z$","updated_at":"~Z$"}]}`},
		{call: "GET " + people + "/$A", status: 200, want: `{"id":"$1","lists":[{"key":"newsletter"}]}`},
	}},
	{"archived contacts are in no page", []step{
		{call: "POST " + people, body: `{"email":"$a","attributes":{"city":"$x"}}`, status: 201},
		{call: "DELETE " + people + "/$A", status: 204},
		{call: "GET " + people + "?attribute_key=city&attribute_value=$x", status: 200, want: `{"data":[]}`},
	}},
}

// externalIDRules are test cases for the routes that name contacts by external id.
var externalIDRules = []rule{
	{"PUT by external id answers 201 for a new contact and 200 for one there is", []step{
		{call: "PUT " + byID + "$x", body: `{"email":"$a"}`, status: 201, want: `{"external_id":"$x","email":"$a"}`},
		{call: "PUT " + byID + "$x", body: `{"email":"$a","attributes":{"city":"Graz"}}`, status: 200, want: `{"external_id":"$x","attributes":{"city":"Graz"}}`},
	}},
	{"to make a contact the address is required", []step{
		{call: "PUT " + byID + "$x", body: `{"attributes":{"city":"Graz"}}`, status: 422, code: core.CodeUnknownExternalID},
	}},
	{"an address that is left out stays", []step{
		{call: "PUT " + byID + "$x", body: `{"email":"$a"}`, status: 201},
		{call: "PUT " + byID + "$x", body: `{"unsubscribe_all":true}`, status: 200, want: `{"email":"$a","unsubscribe_all":true}`},
	}},
	{"a new address moves the contact, and the old one is free again", []step{
		{call: "PUT " + byID + "$x", body: `{"email":"$a","attributes":{"city":"Graz"},"unsubscribe_all":true}`, status: 201},
		{call: "PUT " + byID + "$x", body: `{"email":"$b"}`, status: 200, want: `{"email":"$b","external_id":"$x","attributes":{"city":"Graz"},"unsubscribe_all":true}`},
		{call: "GET " + people + "/$A", status: 404, code: core.CodeNotFound},
		{call: "POST " + people, body: `{"email":"$a"}`, status: 201, want: `{"unsubscribe_all":false}`},
	}},
	{"what is left out of an upsert stays, and null clears an attribute", []step{
		{call: "PUT " + byID + "$x", body: `{"email":"$a","attributes":{"city":"Graz","orders":1},"topic_preferences":{"offers":"OPT_IN"}}`, status: 201},
		{call: "PUT " + byID + "$x", body: `{"attributes":{"orders":null}}`, status: 200, want: `{"attributes":{"city":"Graz","orders":null},"topic_preferences":[{"topic":"offers"}]}`},
	}},
	{"an address under another external id is a mismatch that names the incumbent", []step{
		{call: "PUT " + byID + "$x", body: `{"email":"$a"}`, status: 201},
		{call: "PUT " + byID + "$y", body: `{"email":"$a"}`, status: 409, want: `{"code":"contact_external_id_mismatch","incumbent_external_id":"$x","incumbent_archived":false}`},
	}},
	{"an archived incumbent says so, and rebinding takes it over", []step{
		{call: "PUT " + byID + "$x", body: `{"email":"$a"}`, status: 201},
		{call: "DELETE " + byID + "$x", status: 204},
		{call: "PUT " + byID + "$y", body: `{"email":"$a"}`, status: 409, want: `{"code":"contact_external_id_mismatch","incumbent_archived":true}`},
		{call: "PUT " + byID + "$y", body: `{"email":"$a","rebind_external_id":true}`, status: 200, want: `{"external_id":"$y","status":"active"}`},
		{call: "PUT " + byID + "$x", body: `{}`, status: 422, code: core.CodeUnknownExternalID},
	}},
	{"rebinding takes an address from a contact in use, whose old id is nobody's then", []step{
		{call: "PUT " + byID + "$x", body: `{"email":"$a","attributes":{"city":"Graz"}}`, status: 201, keep: "id"},
		{call: "PUT " + byID + "$y", body: `{"email":"$a","rebind_external_id":false}`, status: 409, code: core.CodeContactExternalIDMismatch},
		{call: "PUT " + byID + "$y", body: `{"email":"$a","rebind_external_id":true}`, status: 200, want: `{"id":"$1","external_id":"$y","attributes":{"city":"Graz"}}`},
		{call: "PUT " + byID + "$x", body: `{"email":"$b"}`, status: 201, want: `{"id":"!$1","external_id":"$x"}`},
	}},
	{"an address of another contact is taken, and rebinding does not help", []step{
		{call: "PUT " + byID + "$x", body: `{"email":"$a"}`, status: 201},
		{call: "POST " + people, body: `{"email":"$b"}`, status: 201},
		{call: "PUT " + byID + "$x", body: `{"email":"$b"}`, status: 409, code: core.CodeContactEmailTaken},
		{call: "PUT " + byID + "$x", body: `{"email":"$b","rebind_external_id":true}`, status: 409, code: core.CodeContactEmailTaken},
	}},
	{"a contact without an external id gets the one it is upserted by", []step{
		{call: "POST " + people, body: `{"email":"$a","attributes":{"city":"Graz"}}`, status: 201},
		{call: "PUT " + byID + "$x", body: `{"email":"$a"}`, status: 200, want: `{"external_id":"$x","attributes":{"city":"Graz"}}`},
	}},
	{"an upsert takes an archived contact back into use", []step{
		{call: "PUT " + byID + "$x", body: `{"email":"$a"}`, status: 201},
		{call: "DELETE " + byID + "$x", status: 204},
		{call: "GET " + people + "/$A", status: 200, want: `{"status":"archived"}`},
		{call: "PUT " + byID + "$x", body: `{}`, status: 200, want: `{"status":"active","email":"$a"}`},
	}},
	{"DELETE by external id always answers 204", []step{
		{call: "DELETE " + byID + "$x", status: 204},
		{call: "PUT " + byID + "$x", body: `{"email":"$a","lists":["newsletter"]}`, status: 201},
		{call: "DELETE " + byID + "$x", status: 204},
		{call: "DELETE " + byID + "$x", status: 204},
		{call: "GET /v1/lists/newsletter/members/$A", status: 200, want: `{"is_member":false}`},
	}},
	{"an external id is any text of at most 255 characters, percent-encoded", []step{
		{call: "PUT " + byID + "crm%2F%E7%94%A8%E6%88%B7%20+%25$x", body: `{"email":"$a"}`, status: 201, want: `{"external_id":"crm/用户 +%$x"}`},
		{call: "tool contacts_lookup", body: `{"external_id":"crm/用户 +%$x"}`, want: `{"contact":{"email":"$a"}}`},
		{call: "PUT " + byID + "CRM%2F%E7%94%A8%E6%88%B7%20+%25$x", body: `{}`, status: 422, code: core.CodeUnknownExternalID},
		{call: "DELETE " + byID + "crm%2F%E7%94%A8%E6%88%B7%20+%25$x", status: 204},
		{call: "GET " + people + "/$A", status: 200, want: `{"status":"archived"}`},
	}},
	{"an external id has 255 characters at most, not bytes", []step{
		{call: "PUT " + byID + strings.Repeat("%C3%A9", 255), body: `{"email":"$a"}`, status: 201, want: `{"email":"$a"}`},
		{call: "PUT " + byID + strings.Repeat("%C3%A9", 256), body: `{"email":"$b"}`, status: 422, want: `{"code":"validation_failed","errors":[{"field":"external_id"}]}`},
	}},
	{"the external id of the body is that of the path", []step{
		{call: "PUT " + byID + "$x", body: `{"email":"$a","external_id":"$y"}`, status: 422, code: core.CodeValidationFailed},
		{call: "PUT " + byID + "$x", body: `{"email":"$a","external_id":"$x"}`, status: 201, want: `{"external_id":"$x"}`},
	}},
	{"a NUL is in no external id", []step{
		{call: "PUT " + byID + "a%00b", body: `{"email":"$a"}`, status: 422, code: core.CodeValidationFailed},
		{call: "DELETE " + byID + "a%00b", status: 422, code: core.CodeValidationFailed},
	}},
}
