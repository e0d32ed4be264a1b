package rest_test

import "github.com/mailhelm/mailhelm/core"

// membershipRules are about lists of a contact and contacts of a list.
var membershipRules = []rule{
	{"POST and PATCH take a directive that adds and removes, or sets", []step{
		{call: "POST " + people, body: `{"email":"$a","lists":{"add":["newsletter","tasting-club"]}}`, status: 201, want: `{"lists":[{"key":"newsletter"},{"key":"tasting-club"}]}`},
		{call: "PATCH " + people + "/$A", body: `{"lists":{"add":["app-testers"],"remove":["newsletter"]}}`, status: 200, want: `{"lists":[{"key":"app-testers"},{"key":"tasting-club"}]}`},
		{call: "PATCH " + people + "/$A", body: `{"lists":{"set":["newsletter"]}}`, status: 200, want: `{"lists":[{"key":"newsletter"}]}`},
		{call: "PATCH " + people + "/$A", body: `{"lists":{"set":[]}}`, status: 200, want: `{"lists":[]}`},
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
	}},
	{"archiving leaves every list", []step{
		{call: "POST " + people, body: `{"email":"$a","lists":{"add":["newsletter","tasting-club"]}}`, status: 201},
		{call: "DELETE " + people + "/$A", status: 204},
		{call: "GET /v1/lists/newsletter/members/$A", status: 200, want: `{"is_member":false}`},
		{call: "POST " + people, body: `{"email":"$a"}`, status: 201, want: `{"lists":[]}`},
	}},
}

// addressRules are about the spelling of addresses.
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

// identifyRules are about visitors of a website.
var identifyRules = []rule{
	{"identify makes the contact or finds it", []step{
		{call: identify, body: `{"email":"$a","external_id":"$x"}`, status: 200, want: `{"result":"created"}`},
		{call: identify, body: `{"email":"$a"}`, status: 200, want: `{"result":"existing"}`},
		{call: identify, body: `{"external_id":"$x"}`, status: 200, want: `{"result":"existing"}`},
		{call: "GET " + people + "/$A", status: 200, want: `{"external_id":"$x"}`, lacks: "visitor_id"},
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
		{call: identify, body: `{"email":""}`, status: 422, code: core.CodeValidationFailed},
	}},
}

// definitionRules are about lists, topics and the contact list.
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
		{call: "GET /v1/lists/p-$x/members", status: 200, want: `{"data":[{"email":"$b"},{"email":"$a"}],"pagination":{"has_more":false}}`},
		{call: "GET /v1/lists/p-$x/members?limit=1", status: 200, want: `{"data":[{"email":"$b"}],"pagination":{"has_more":true}}`},
		{call: "GET /v1/lists/p-$x", status: 200, want: `{"member_count":2}`},
		{call: "GET /v1/lists/nowhere/members", status: 404, code: core.CodeNotFound},
	}},
	{"the contact list has a name, counts and topics", []step{
		{call: "GET /v1/contact-list", status: 200, want: `{"name":"fernhill","topic_count":5}`},
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
	}},
}

// toolRules are the same rules where an agent meets them.
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
		{call: "tool contacts_upsert", body: `{"email":"$a","external_id":"$y"}`, want: `{"code":"contact_external_id_mismatch","incumbent_external_id":"$x"}`},
		{call: "tool contacts_upsert", body: `{"email":"$b"}`, want: `{"result":"created"}`},
		{call: "tool contacts_upsert", body: `{"email":"$b","external_id":"$x"}`, code: core.CodeContactEmailTaken},
		{call: "tool contacts_upsert", body: `{"email":"$a","attributes":{"nothing":1}}`, code: core.CodeAttributeValidationFailed},
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
