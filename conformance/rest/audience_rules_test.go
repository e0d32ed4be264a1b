package rest_test

import (
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// membershipRules are test cases for the static lists of a contact and the members of a
// list.
var membershipRules = []rule{
	{"POST and PATCH take a directive that adds and removes, or sets", []step{
		{call: "POST " + people, body: `{"email":"$a","lists":{"add":["newsletter","tasting-club"]}}`, status: 201, want: `{"lists":[{"key":"newsletter"},{"key":"tasting-club"}]}`},
		{call: "PATCH " + people + "/$A", body: `{"lists":{"add":["app-testers"],"remove":["newsletter"]}}`, status: 200, want: `{"lists":[{"key":"app-testers"},{"key":"tasting-club"}]}`},
		{call: "PATCH " + people + "/$A", body: `{"lists":{"set":["newsletter"]}}`, status: 200, want: `{"lists":[{"key":"newsletter"}]}`},
		{call: "PATCH " + people + "/$A", body: `{"lists":{"set":[]}}`, status: 200, want: `{"lists":[]}`},
	}},
	{"a list is named by its id or its key, and joined once", []step{
		{call: "GET /v1/lists/newsletter", status: 200, keep: "id"},
		{call: "POST " + people, body: `{"email":"$a","lists":{"add":["$1","newsletter"]}}`, status: 201, want: `{"lists":[{"id":"$1","key":"newsletter","name":"Newsletter"}]}`},
		{call: "PATCH " + people + "/$A", body: `{"lists":{"add":["newsletter"]}}`, status: 200, want: `{"lists":[{"key":"newsletter"}]}`},
		{call: "PATCH " + people + "/$A", body: `{"lists":{"add":["$1"],"remove":["newsletter"]}}`, status: 422, code: core.CodeValidationFailed},
		{call: "PUT " + people + "/$A", body: `{"lists":["$1","app-testers"]}`, status: 200, want: `{"lists":[{"key":"app-testers"},{"key":"newsletter"}]}`},
		{call: "PATCH " + people + "/$A", body: `{"lists":null}`, status: 200, want: `{"lists":[{"key":"app-testers"},{"key":"newsletter"}]}`},
		{call: "PATCH " + people + "/$A", body: `{"lists":{}}`, status: 200, want: `{"lists":[{"key":"app-testers"},{"key":"newsletter"}]}`},
	}},
	{"set excludes add and remove", []step{
		{call: "POST " + people, body: `{"email":"$a","lists":{"set":[],"add":["newsletter"]}}`, status: 422, code: core.CodeValidationFailed},
		{call: "POST " + people, body: `{"email":"$a","lists":{"set":["newsletter"],"remove":["newsletter"]}}`, status: 422, code: core.CodeValidationFailed},
	}},
	{"both PUT take the exact lists; empty clears, left out or null leaves", []step{
		{call: "PUT " + byID + "$x", body: `{"email":"$a","lists":["newsletter"]}`, status: 201, want: `{"lists":[{"key":"newsletter"}]}`},
		{call: "PUT " + byID + "$x", body: `{}`, status: 200, want: `{"lists":[{"key":"newsletter"}]}`},
		{call: "PUT " + byID + "$x", body: `{"lists":null}`, status: 200, want: `{"lists":[{"key":"newsletter"}]}`},
		{call: "PUT " + people + "/$A", body: `{"lists":null}`, status: 200, want: `{"lists":[{"key":"newsletter"}]}`},
		{call: "PUT " + people + "/$A", body: `{"lists":["tasting-club"]}`, status: 200, want: `{"lists":[{"key":"tasting-club"}]}`},
		{call: "PUT " + byID + "$x", body: `{"lists":[]}`, status: 200, want: `{"lists":[]}`},
	}},
	{"neither takes the other's shape", []step{
		{call: "POST " + people, body: `{"email":"$a","lists":["newsletter"]}`, status: 422, code: core.CodeValidationFailed},
		{call: "PUT " + people + "/$A", body: `{"lists":{"add":["newsletter"]}}`, status: 422, code: core.CodeValidationFailed},
		{call: "PUT " + byID + "$x", body: `{"email":"$a","lists":{"set":[]}}`, status: 422, code: core.CodeValidationFailed},
	}},
	{"lists are static lists of the organization", []step{
		{call: "POST " + people, body: `{"email":"$a","lists":{"add":["newsletter","nowhere"]}}`, status: 422, want: `{"code":"validation_failed","errors":[{"field":"lists.add.1"}]}`},
		{call: "PUT " + byID + "$x", body: `{"email":"$a","lists":["00000000-0000-7000-8000-000000000000"]}`, status: 422, code: core.CodeValidationFailed},
	}},
	{"a membership check says yes or no and misses only lists", []step{
		{call: "POST " + people, body: `{"email":"$a","lists":{"add":["newsletter"]}}`, status: 201},
		{call: "GET /v1/lists/newsletter/members/$A", status: 200, want: `{"is_member":true}`},
		{call: "GET /v1/lists/tasting-club/members/$A", status: 200, want: `{"is_member":false}`},
		{call: "GET /v1/lists/newsletter/members/$B", status: 200, want: `{"is_member":false}`},
		{call: "GET /v1/lists/newsletter/members/00000000-0000-7000-8000-000000000000", status: 200, want: `{"is_member":false}`},
		{call: "GET /v1/lists/nowhere/members/$A", status: 404, code: core.CodeNotFound},
		{call: "GET " + people + "/$A", status: 200, keep: "id"},
		{call: "GET /v1/lists/newsletter/members/$1", status: 200, want: `{"is_member":true}`},
		{call: "GET /v1/lists/newsletter/members/somebody", status: 422, code: core.CodeValidationFailed},
	}},
	{"archiving leaves every list", []step{
		{call: "POST " + people, body: `{"email":"$a","lists":{"add":["newsletter","tasting-club"]}}`, status: 201},
		{call: "DELETE " + people + "/$A", status: 204},
		{call: "GET /v1/lists/newsletter/members/$A", status: 200, want: `{"is_member":false}`},
		{call: "POST " + people, body: `{"email":"$a"}`, status: 201, want: `{"lists":[]}`},
	}},
}

// addressRules are test cases for the spelling of email addresses.
var addressRules = []rule{
	{"a plus sign in an address is a plus sign, encoded or not", []step{
		{call: "POST " + people, body: `{"email":"p+$x@example.com"}`, status: 201},
		{call: "GET " + people + "/p+$x@example.com", status: 200, want: `{"email":"p+$x@example.com"}`},
		{call: "GET " + people + "/p%2B$x%40example.com", status: 200, want: `{"email":"p+$x@example.com"}`},
		{call: "GET " + people + "/p%20$x%40example.com", status: 422, code: core.CodeValidationFailed},
	}},
	{"case makes no other contact, and the last spelling is kept", []step{
		{call: "POST " + people, body: `{"email":"Case.$x@Example.com"}`, status: 201},
		{call: "GET " + people + "/case.$x@EXAMPLE.COM", status: 200, want: `{"email":"Case.$x@Example.com"}`},
		{call: "PUT " + people + "/CASE.$x@example.com", body: `{}`, status: 200, want: `{"email":"CASE.$x@example.com"}`},
	}},
	{"an internationalized domain is kept in its ASCII form and found by either", []step{
		{call: "POST " + people, body: `{"email":"$x@Bücher.example"}`, status: 201, want: `{"email":"$x@xn--bcher-kva.example"}`},
		{call: "GET " + people + "/$x%40b%C3%BCcher.example", status: 200, want: `{"email":"$x@xn--bcher-kva.example"}`},
		{call: "GET " + people + "/$x@XN--bcher-kva.example", status: 200, want: `{"email":"$x@xn--bcher-kva.example"}`},
		{call: "POST " + people, body: `{"email":"$x@xn--bcher-kva.example"}`, status: 409, code: core.CodeConflict},
		{call: "DELETE " + people + "/$x@bücher.example", status: 204},
		{call: "GET " + people + "/$x@xn--bcher-kva.example", status: 200, want: `{"status":"archived"}`},
	}},
	{"a local part beyond ASCII, and a domain that is none, are refused by name", []step{
		{call: "POST " + people, body: `{"email":"bücher$x@example.com"}`, status: 422, want: `{"code":"validation_failed","errors":[{"field":"email"}]}`},
		{call: "POST " + people, body: `{"email":"$x@bü cher.example"}`, status: 422, code: core.CodeValidationFailed},
		{call: "POST " + people, body: `{"email":"$x@-bü.example"}`, status: 422, code: core.CodeValidationFailed},
	}},
}

const identify = "POST /v1/contacts/identify"

// identifyRules are test cases for POST /v1/contacts/identify, which gives visitors of a
// website an id.
var identifyRules = []rule{
	{"identify makes the contact or finds it", []step{
		{call: identify, body: `{"email":"$a","external_id":"$x"}`, status: 200, want: `{"result":"created"}`},
		{call: identify, body: `{"email":"$a"}`, status: 200, want: `{"result":"existing"}`},
		{call: identify, body: `{"external_id":"$x"}`, status: 200, want: `{"result":"existing"}`},
		{call: "GET " + people + "/$A", status: 200, want: `{"external_id":"$x"}`, lacks: "visitor_id"},
	}},
	{"a visitor has one id, and no other call shows it to a program", []step{
		{call: identify, body: `{"email":"$a"}`, status: 200, want: `{"visitor_id":"~^vis_[0-9a-hjkmnp-tv-z]{26}$","contact_id":"~^[0-9a-f-]{36}$","result":"created"}`, keep: "visitor_id"},
		{call: identify, body: `{"email":"$a"}`, status: 200, want: `{"visitor_id":"$1","result":"existing"}`},
		{call: identify, body: `{"email":"$a","external_id":"$x"}`, status: 200, want: `{"visitor_id":"$1","result":"existing"}`},
		{call: identify, body: `{"external_id":"$x"}`, status: 200, want: `{"visitor_id":"$1"}`},
		{call: identify, body: `{"email":"$b"}`, status: 200, want: `{"visitor_id":"!$1"}`},
		{call: "GET " + people + "/$A", status: 200, lacks: "visitor_id"},
		{call: "PATCH " + people + "/$A", body: `{}`, status: 200, lacks: "visitor_id"},
		{call: "tool contacts_lookup", body: `{"email":"$a"}`, want: `{"visitor_id":"$1"}`},
	}},
	{"the first visitor id of a contact is one activity", []step{
		{call: "POST " + people, body: `{"email":"$a"}`, status: 201, keep: "id"},
		{call: "GET " + people + "/$1/activities", status: 200, want: `{"data":[]}`},
		{call: identify, body: `{"email":"$a"}`, status: 200, want: `{"contact_id":"$1","result":"existing"}`},
		{call: identify, body: `{"email":"$a"}`, status: 200},
		{call: "GET " + people + "/$1/activities", status: 200, want: `{"data":[{"name":"site_identified","contact_id":"$1"}]}`},
	}},
	{"archiving revokes the visitor id, and whoever comes back gets another", []step{
		{call: identify, body: `{"email":"$a","external_id":"$x"}`, status: 200, keep: "visitor_id"},
		{call: "DELETE " + people + "/$A", status: 204},
		{call: "tool contacts_lookup", body: `{"email":"$a"}`, want: `{"contact":{"status":"archived"}}`, lacks: "visitor_id"},
		{call: "PUT " + people + "/$A", body: `{}`, status: 200},
		{call: "tool contacts_lookup", body: `{"email":"$a"}`, want: `{"contact":{"status":"active"}}`, lacks: "visitor_id"},
		{call: identify, body: `{"email":"$a"}`, status: 200, want: `{"visitor_id":"!$1","result":"existing"}`, keep: "visitor_id"},
		{call: "DELETE " + byID + "$x", status: 204},
		{call: identify, body: `{"external_id":"$x"}`, status: 409, want: `{"code":"conflict","next_step":"~PUT /v1/contacts/{email}"}`},
		{call: identify, body: `{"email":"$a","external_id":"$x"}`, status: 409, code: core.CodeConflict},
		{call: "GET " + people + "/$A", status: 200, want: `{"status":"archived"}`},
	}},
	{"an external id that nobody has is no visitor", []step{
		{call: identify, body: `{"external_id":"$x"}`, status: 422, code: core.CodeUnknownExternalID},
	}},
	{"an address bound to another external id is a conflict", []step{
		{call: identify, body: `{"email":"$a","external_id":"$x"}`, status: 200},
		{call: identify, body: `{"email":"$a","external_id":"$y"}`, status: 422, code: core.CodeExternalIDConflict},
		{call: identify, body: `{"email":"$b","external_id":"$x"}`, status: 422, code: core.CodeExternalIDConflict},
	}},
	{"nobody to identify is the one bad request", []step{
		{call: identify, body: `{}`, status: 400, code: core.CodeValidationFailed},
		{call: identify, body: `{"email":null,"external_id":null}`, status: 400, code: core.CodeValidationFailed},
		{call: identify, body: `{"email":""}`, status: 422, code: core.CodeValidationFailed},
		{call: identify, body: `{"email":"nobody"}`, status: 422, code: core.CodeValidationFailed},
		{call: identify, body: `{"external_id":""}`, status: 422, code: core.CodeValidationFailed},
		{call: identify, body: `{"emial":"$a"}`, status: 422, code: core.CodeValidationFailed},
	}},
}

// definitionRules are test cases for lists, topics and the contact list.
var definitionRules = []rule{
	{"a list's key is made from its name, and is one list's", []step{
		{call: "POST /v1/lists", body: `{"name":"My list $x!"}`, status: 201, want: `{"key":"my-list-$x","source":"api","origin":"managed","status":"active","member_count":0,"description":""}`, lacks: "source_path"},
		{call: "POST /v1/lists", body: `{"name":"My list $x?"}`, status: 409, code: core.CodeConflict},
		{call: "POST /v1/lists", body: `{"name":"Another","key":"my-list-$x"}`, status: 409, code: core.CodeConflict},
		{call: "POST /v1/lists", body: `{"key":"nameless-$x"}`, status: 422, code: core.CodeValidationFailed},
	}},
	{"a list is changed by id or key, and its key never", []step{
		{call: "POST /v1/lists", body: `{"name":"Old $x","key":"k-$x","description":"old"}`, status: 201},
		{call: "PUT /v1/lists/k-$x", body: `{"name":"New $x","key":"z-$x"}`, status: 200, want: `{"key":"k-$x","name":"New $x","description":"old"}`},
		{call: "GET /v1/lists/k-$x", status: 200, want: `{"name":"New $x"}`},
		{call: "GET /v1/lists/z-$x", status: 404, code: core.CodeNotFound},
		{call: "PUT /v1/lists/z-$x", body: `{"name":"New"}`, status: 404, code: core.CodeNotFound},
	}},
	{"a list is read, changed and deleted by its id too", []step{
		{call: "POST /v1/lists", body: `{"name":"Old $x","key":"i-$x"}`, status: 201, want: `{"id":"~^[0-9a-f-]{36}$","created_at":"~^20.*Z$","updated_at":"~^20.*Z$"}`, keep: "id"},
		{call: "GET /v1/lists/$1", status: 200, want: `{"id":"$1","key":"i-$x","name":"Old $x"}`},
		{call: "PUT /v1/lists/$1", body: `{"description":"new"}`, status: 200, want: `{"key":"i-$x","name":"Old $x","description":"new"}`},
		{call: "GET /v1/lists/$1/members", status: 200, want: `{"data":[]}`},
		{call: "DELETE /v1/lists/$1", status: 204},
		{call: "GET /v1/lists/i-$x", status: 404, code: core.CodeNotFound},
		{call: "POST /v1/lists", body: `{"name":"New $x","key":"i-$x"}`, status: 201, want: `{"id":"!$1"}`},
		{call: "POST /v1/lists", body: `{"name":"Other","key":"$1"}`, status: 422, code: core.CodeValidationFailed},
	}},
	{"lists come newest first, and say where they are from", []step{
		{call: "POST /v1/lists", body: `{"name":"One $x","key":"one-$x"}`, status: 201},
		{call: "POST /v1/lists", body: `{"name":"Two $x","key":"two-$x"}`, status: 201},
		{call: "GET /v1/lists?limit=2", status: 200, want: `{"data":[{"key":"two-$x","source":"api"},{"key":"one-$x"}],"pagination":{"has_more":true}}`},
		{call: "GET /v1/lists/newsletter", status: 200, want: `{"source":"ui","origin":"managed","status":"active","member_count":"~^[1-9]"}`, lacks: "source_path"},
		{call: "tool lists_list", body: `{"query":"TWO $x"}`, want: `{"items":[{"key":"two-$x","member_count":0}],"total":1,"truncated":false}`},
	}},
	{"a list has a name of 1 to 128 characters", []step{
		{call: "POST /v1/lists", body: `{"name":"` + strings.Repeat("é", 129) + `","key":"l-$x"}`, status: 422, code: core.CodeValidationFailed},
		{call: "POST /v1/lists", body: `{"name":" ","key":"l-$x"}`, status: 422, code: core.CodeValidationFailed},
		{call: "POST /v1/lists", body: `{"name":"` + strings.Repeat("é", 128) + `","key":"l-$x"}`, status: 201},
		{call: "PUT /v1/lists/l-$x", body: `{"name":""}`, status: 422, code: core.CodeValidationFailed},
	}},
	{"a deleted list is gone and its members are not", []step{
		{call: "POST /v1/lists", body: `{"name":"Gone $x","key":"g-$x"}`, status: 201},
		{call: "POST " + people, body: `{"email":"$a","lists":{"add":["g-$x"]}}`, status: 201},
		{call: "DELETE /v1/lists/g-$x", status: 204},
		{call: "DELETE /v1/lists/g-$x", status: 404, code: core.CodeNotFound},
		{call: "GET " + people + "/$A", status: 200, want: `{"status":"active","lists":[]}`},
	}},
	{"members of a list come in pages, those added last first", []step{
		{call: "POST /v1/lists", body: `{"name":"Pages $x","key":"p-$x"}`, status: 201},
		{call: "POST " + people, body: `{"email":"$a","lists":{"add":["p-$x"]}}`, status: 201},
		{call: "POST " + people, body: `{"email":"$b","lists":{"add":["p-$x"]}}`, status: 201},
		{call: "GET /v1/lists/p-$x/members", status: 200, want: `{"data":[{"email":"$b","contact_id":"~^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$","added_at":"~^20.*Z$"},{"email":"$a"}],"pagination":{"has_more":false}}`},
		{call: "GET /v1/lists/p-$x/members?limit=1", status: 200, want: `{"data":[{"email":"$b"}],"pagination":{"has_more":true}}`, keep: "pagination.next_cursor"},
		{call: "GET /v1/lists/p-$x/members?limit=1&cursor=$1", status: 200, want: `{"data":[{"email":"$a"}],"pagination":{"has_more":false,"next_cursor":null}}`},
		{call: "GET /v1/lists/newsletter/members?limit=1&cursor=$1", status: 422, code: core.CodeValidationFailed},
		{call: "GET /v1/lists/p-$x", status: 200, want: `{"member_count":2}`},
		{call: "GET /v1/lists/nowhere/members", status: 404, code: core.CodeNotFound},
	}},
	{"the contact list has a name, counts and topics", []step{
		{call: "GET /v1/contact-list", status: 200, want: `{"name":"fernhill","description":"~roastery","topic_count":5,"contact_count":"~^[0-9]{3,}$","last_synced_at":"~^20.*Z$","created_at":"~^20.*Z$","updated_at":"~^20.*Z$"}`},
	}},
	{"topics come whole, by name", []step{
		{call: "GET /v1/topics", status: 200, want: `{"data":[{"name":"brewing-tips"},{"name":"events"},{"name":"offers","display_name":"Offers","description":"~bags","default_subscription_status":"OPT_OUT","origin":"managed","status":"active","created_at":"~Z$","updated_at":"~Z$"},{"name":"order-updates"},{"name":"product-news"}]}`, lacks: "pagination"},
		{call: "GET /v1/topics?limit=1", status: 422, code: core.CodeValidationFailed},
	}},
	{"a topic is made, changed and deleted under its name", []step{
		{call: "POST /v1/topics", body: `{"name":"t-$x","default_subscription_status":"OPT_OUT"}`, status: 201, want: `{"name":"t-$x","display_name":"t-$x","description":"","default_subscription_status":"OPT_OUT","origin":"managed","status":"active"}`},
		{call: "POST /v1/topics", body: `{"name":"t-$x","default_subscription_status":"OPT_OUT"}`, status: 409, code: core.CodeConflict},
		{call: "PUT /v1/topics/t-$x", body: `{"display_name":"Tea","default_subscription_status":"OPT_IN"}`, status: 200, want: `{"display_name":"Tea","default_subscription_status":"OPT_IN"}`},
		{call: "POST " + people, body: `{"email":"$a","topic_preferences":{"t-$x":"OPT_OUT"}}`, status: 201},
		{call: "DELETE /v1/topics/t-$x", status: 204},
		{call: "DELETE /v1/topics/t-$x", status: 404, code: core.CodeNotFound},
		{call: "PUT /v1/topics/t-$x", body: `{"display_name":"Tea"}`, status: 404, code: core.CodeNotFound},
		{call: "GET " + people + "/$A", status: 200, want: `{"topic_preferences":[]}`},
		{call: "PATCH " + people + "/$A", body: `{"topic_preferences":{"t-$x":"OPT_IN"}}`, status: 422, code: core.CodeValidationFailed},
	}},
	{"a topic needs a name and a default", []step{
		{call: "POST /v1/topics", body: `{"default_subscription_status":"OPT_IN"}`, status: 422, code: core.CodeValidationFailed},
		{call: "POST /v1/topics", body: `{"name":"t-$x"}`, status: 422, code: core.CodeValidationFailed},
		{call: "POST /v1/topics", body: `{"name":"t $x","default_subscription_status":"OPT_IN"}`, status: 422, code: core.CodeValidationFailed},
		{call: "POST /v1/topics", body: `{"name":"t-$x","default_subscription_status":"MAYBE"}`, status: 422, code: core.CodeValidationFailed},
		{call: "POST /v1/topics", body: `{"name":"` + strings.Repeat("t", 65) + `","default_subscription_status":"OPT_IN"}`, status: 422, code: core.CodeValidationFailed},
		{call: "POST /v1/topics", body: `{"name":"t-$x","default_subscription_status":"OPT_IN","display_name":"` + strings.Repeat("é", 129) + `"}`, status: 422, code: core.CodeValidationFailed},
		{call: "POST /v1/topics", body: `{"name":"t-$x","default_subscription_status":"OPT_IN","description":"` + strings.Repeat("é", 501) + `"}`, status: 422, code: core.CodeValidationFailed},
	}},
	{"a topic's texts have their longest, and its name never changes", []step{
		{call: "POST /v1/topics", body: `{"name":"` + strings.Repeat("t", 64) + `","default_subscription_status":"OPT_IN","display_name":"` + strings.Repeat("é", 128) + `","description":"` + strings.Repeat("é", 500) + `"}`, status: 201},
		{call: "PUT /v1/topics/" + strings.Repeat("t", 64), body: `{"name":"t-$x"}`, status: 422, code: core.CodeValidationFailed},
		{call: "PUT /v1/topics/" + strings.Repeat("t", 64), body: `{"description":""}`, status: 200, want: `{"description":"","display_name":"` + strings.Repeat("é", 128) + `","default_subscription_status":"OPT_IN"}`},
		{call: "DELETE /v1/topics/" + strings.Repeat("t", 64), status: 204},
	}},
	{"who chose nothing follows the topic's default, also a new one", []step{
		{call: "POST /v1/topics", body: `{"name":"d-$x","default_subscription_status":"OPT_OUT"}`, status: 201},
		{call: "POST " + people, body: `{"email":"$a","attributes":{"city":"$x"}}`, status: 201},
		{call: "POST " + people, body: `{"email":"$b","attributes":{"city":"$x"},"topic_preferences":{"d-$x":"OPT_OUT"}}`, status: 201},
		{call: "GET " + people + "?topic=d-$x&subscription_status=OPT_IN&attribute_key=city&attribute_value=$x", status: 200, want: `{"data":[]}`},
		{call: "PUT /v1/topics/d-$x", body: `{"default_subscription_status":"OPT_IN"}`, status: 200},
		{call: "GET " + people + "?topic=d-$x&subscription_status=OPT_IN&attribute_key=city&attribute_value=$x", status: 200, want: `{"data":[{"email":"$a"}]}`},
		{call: "GET " + people + "/$A", status: 200, want: `{"topic_preferences":[]}`},
		{call: "DELETE /v1/topics/d-$x", status: 204},
	}},
}

// toolRules are test cases for the MCP tools about contacts.
var toolRules = []rule{
	{"an agent makes, changes and reads a contact by either name", []step{
		{call: "tool contacts_upsert", body: `{"email":"$a","external_id":"$x","attributes":{"city":"Graz","orders":1},"unsubscribe_all":true}`, want: `{"result":"created","contact":{"email":"$a"}}`, lacks: "visitor_id"},
		{call: "tool contacts_upsert", body: `{"external_id":"$x","attributes":{"orders":null}}`, want: `{"result":"updated","contact":{"attributes":{"city":"Graz","orders":null},"unsubscribe_all":true}}`},
		{call: "tool contacts_lookup", body: `{"external_id":"$x"}`, want: `{"contact":{"email":"$a","external_id":"$x"},"segments_count":0}`, lacks: "visitor_id"},
		{call: "GET " + people + "/$A", status: 200, want: `{"attributes":{"city":"Graz"},"unsubscribe_all":true}`},
	}},
	{"an agent is refused by the same names", []step{
		{call: "tool contacts_upsert", body: `{"external_id":"$x"}`, code: core.CodeUnknownExternalID},
		{call: "tool contacts_upsert", body: `{"email":"$a","external_id":"$x"}`, want: `{"result":"created"}`},
		{call: "tool contacts_upsert", body: `{"email":"$a","external_id":"$y"}`, want: `{"code":"contact_external_id_mismatch","incumbent_external_id":"$x","hint":"~^Leave .external_id. out"}`},
		{call: "PUT " + byID + "$y", body: `{"email":"$a"}`, status: 409, want: `{"code":"contact_external_id_mismatch","next_step":"~rebind_external_id: true"}`},
		{call: "tool contacts_upsert", body: `{"email":"$b"}`, want: `{"result":"created"}`},
		{call: "tool contacts_upsert", body: `{"email":"$b","external_id":"$x"}`, code: core.CodeContactEmailTaken},
		{call: "tool contacts_upsert", body: `{"email":"$a","attributes":{"nothing":1}}`, code: core.CodeAttributeValidationFailed},
	}},
	{"an agent chooses about topics, by name or as a list", []step{
		{call: "tool contacts_upsert", body: `{"email":"$a","topic_preferences":{"offers":"OPT_IN","events":"OPT_OUT"}}`, want: `{"contact":{"topic_preferences":[{"topic":"events","subscription_status":"OPT_OUT"},{"topic":"offers","subscription_status":"OPT_IN"}]},"mailable_note":"~^Mailable, except"}`},
		{call: "tool contacts_upsert", body: `{"email":"$a","topic_preferences":[{"topic":"events","subscription_status":"OPT_IN"}]}`, want: `{"contact":{"topic_preferences":[{"topic":"events","subscription_status":"OPT_IN"},{"topic":"offers"}]}}`},
		{call: "tool contacts_upsert", body: `{"email":"$a","topic_preferences":{"weather":"OPT_IN"}}`, code: core.CodeValidationFailed},
		{call: "tool contacts_upsert", body: `{"email":"$a","unsubscribe_all":null}`, want: `{"result":"updated","contact":{"unsubscribe_all":false}}`},
		{call: "tool contacts_upsert", body: `{"attributes":{}}`, code: core.CodeValidationFailed},
	}},
	{"an agent gives a contact a visitor id, which stays", []step{
		{call: "tool contacts_upsert", body: `{"email":"$a","issue_visitor_id":true}`, want: `{"result":"created","visitor_id":"~^vis_[0-9a-hjkmnp-tv-z]{26}$"}`, keep: "visitor_id"},
		{call: "tool contacts_upsert", body: `{"email":"$a","external_id":"$x","issue_visitor_id":true}`, want: `{"result":"updated","visitor_id":"$1"}`},
		{call: "tool contacts_upsert", body: `{"email":"$a","attributes":{"city":"Graz"}}`, want: `{"visitor_id":"$1"}`},
		{call: identify, body: `{"external_id":"$x"}`, status: 200, want: `{"visitor_id":"$1"}`},
		{call: "tool contacts_lookup", body: `{"email":"$a"}`, want: `{"visitor_id":"$1"}`, keep: "contact.id"},
		{call: "tool contacts_lookup", body: `{"contact_id":"$2"}`, want: `{"contact":{"email":"$a"}}`},
		{call: "tool contacts_lookup", body: `{"contact_id":"$2","email":"$a"}`, code: core.CodeValidationFailed},
		{call: "GET " + people + "/$2/activities", status: 200, want: `{"data":[{"name":"site_identified"}]}`},
	}},
	{"an agent finds what a contact may hold", []step{
		{call: "tool audience_get_schema", body: `{}`, want: `{"topics":[{"name":"brewing-tips"},{"name":"events"},{"name":"offers"},{"name":"order-updates"},{"name":"product-news"}],"git_connected":false}`},
	}},
	{"an agent archives by external id", []step{
		{call: "tool contacts_upsert", body: `{"email":"$a","external_id":"$x"}`, want: `{"result":"created"}`},
		{call: "tool contacts_set_list_membership", body: `{"contact":"$a","add":["newsletter"]}`, want: `{"lists":[{"key":"newsletter"}]}`},
		{call: "tool contacts_archive", body: `{"external_id":"$x"}`, want: `{"archived":true,"summary":"~left 1 list"}`},
		{call: "tool contacts_archive", body: `{"email":"$a"}`, want: `{"archived":false}`},
		{call: "GET /v1/lists/newsletter/members/$A", status: 200, want: `{"is_member":false}`},
		{call: "tool contacts_set_list_membership", body: `{"contact":"$a","add":["tasting-club"]}`, code: core.CodeConflict},
		{call: "tool contacts_upsert", body: `{"email":"$a","external_id":"$y"}`, want: `{"code":"contact_external_id_mismatch","incumbent_archived":true}`},
	}},
	{"an agent archives, and takes back into use", []step{
		{call: "tool contacts_upsert", body: `{"email":"$a"}`, want: `{"result":"created"}`},
		{call: "tool contacts_archive", body: `{"email":"$a"}`, want: `{"archived":true}`},
		{call: "tool contacts_archive", body: `{"email":"$b"}`, want: `{"archived":false}`},
		{call: "tool contacts_upsert", body: `{"email":"$a","attributes":{"city":"Graz"}}`, want: `{"result":"reactivated"}`},
	}},
	{"an agent puts contacts on lists and takes them off", []step{
		{call: "tool contacts_upsert", body: `{"email":"$a","external_id":"$x"}`, want: `{"result":"created"}`},
		{call: "tool contacts_set_list_membership", body: `{"contact":"$x","add":["newsletter","app-testers"]}`, want: `{"lists":[{"key":"app-testers"},{"key":"newsletter"}]}`},
		{call: "tool contacts_set_list_membership", body: `{"contact":"$a","remove":["newsletter"]}`, want: `{"lists":[{"key":"app-testers"}]}`},
		{call: "tool contacts_set_list_membership", body: `{"contact":"$b","remove":["newsletter"]}`, code: core.CodeNotFound},
		{call: "tool contacts_set_list_membership", body: `{"contact":"$a","add":["nowhere"]}`, code: core.CodeValidationFailed},
		{call: "GET " + people + "/$A", status: 200, want: `{"lists":[{"key":"app-testers"}]}`},
	}},
}
