package rest

import (
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/guardrails"
)

// rateHeaders are the names of the response headers about the rate limit; see
// guardrails.Rate.
var rateHeaders = []string{
	"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "RateLimit-Policy",
	"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset",
}

// sharedParameters returns the OpenAPI descriptions of the request headers that several
// routes accept.
func sharedParameters() object {
	return object{
		{"IdempotencyKey", object{
			{"name", "Idempotency-Key"},
			{"in", "header"},
			{"required", false},
			{"description", "Idempotency key: for at least 24 hours, a repetition with the same key and arguments gets the first answer again. It may be quoted as in RFC 8941 or bare; both are the same key."},
			{"schema", object{{"type", "string"}, {"minLength", 1}, {"maxLength", 257}}},
		}},
		{"RequestId", object{
			{"name", requestIDHeader},
			{"in", "header"},
			{"required", false},
			{"description", "Your own id of this request. The answer and the log repeat it."},
			{"schema", object{{"type", "string"}, {"pattern", "^[A-Za-z0-9._:-]{1,128}$"}}},
		}},
	}
}

// sharedHeaders returns the OpenAPI descriptions of all response headers.
func sharedHeaders() object {
	text := object{{"type", "string"}}
	number := object{{"type", "integer"}, {"minimum", 0}}
	header := func(description string, schema object) object {
		return object{{"description", description}, {"schema", schema}}
	}
	return object{
		{requestIDHeader, header("The id of this request; quote it to support.", text)},
		{"Cache-Control", header("How long the answer may be kept.", text)},
		{"Link", header("Address of the next page with `rel=\"next\"`; absent on the last page. Request it unchanged.", text)},
		{omittedHeader, header("Sections of the bundle that the credential may not read, separated by commas.", text)},
		{rulesVersionHeader, header("Version of the rules that mark addresses; `/v1/undeliverable/rules` returns the rules.", text)},
		{"Retry-After", header("Seconds to wait before the call is repeated.", number)},
		{"WWW-Authenticate", header("The missing credential or scope, and where to get a token (RFC 6750, RFC 9728).", text)},
		{"Idempotent-Replayed", header("Present if this is the answer to an earlier call with the same key.", object{{"type", "string"}, {"const", "true"}})},
		{guardrails.ReplicaLagHeader, header("Present if a replica of the database answered: seconds by which its data may be older than writes of other servers.", object{{"type", "number"}, {"minimum", 0}})},
		{"RateLimit-Limit", header("Calls a minute. Rate headers are absent while no limit is set.", number)},
		{"RateLimit-Remaining", header("Calls that are accepted now.", number)},
		{"RateLimit-Reset", header("Seconds until all calls are available again.", number)},
		{"RateLimit-Policy", header("The limit and its window in seconds: `600;w=60`.", text)},
		{"X-RateLimit-Limit", header("Equals `RateLimit-Limit`.", number)},
		{"X-RateLimit-Remaining", header("Equals `RateLimit-Remaining`.", number)},
		{"X-RateLimit-Reset", header("Equals `RateLimit-Reset`.", number)},
	}
}

// problemSchema returns the JSON schema of core.Problem. A test compares it with the Go
// type.
func problemSchema() object {
	codes := make([]core.Code, 0, len(core.Codes()))
	for _, info := range core.Codes() {
		codes = append(codes, info.Code)
	}
	text := func(description string) object { return object{{"type", "string"}, {"description", description}} }
	return object{
		{"type", "object"},
		{"description", "A problem document (RFC 7807). It may have further members."},
		{"required", []string{"type", "title", "status", "code"}},
		{"properties", object{
			{"type", object{{"type", "string"}, {"format", "uri"}, {"description", "Address of the page about this code."}}},
			{"title", text("The code in words.")},
			{"status", object{{"type", "integer"}, {"minimum", 400}, {"maximum", 599}}},
			{"code", object{{"type", "string"}, {"enum", codes}, {"description", "Stable code to branch on."}}},
			{"detail", text("What was wrong with this request.")},
			{"next_step", text("What to do now.")},
			{"request_id", text("Quote it to support.")},
			{"errors", object{{"type", "array"}, {"description", "Each invalid member of the request, with the reason."}, {"items", object{
				{"type", "object"},
				{"required", []string{"field", "reason"}},
				{"properties", object{{"field", text("Path of the member, with dots; empty for the whole body.")}, {"reason", text("What is wrong with it.")}}},
			}}}},
			{"resource", text("What was not found.")},
			{"retry_after", object{{"type", "integer"}, {"minimum", 1}, {"description", "Seconds to wait; equals the header `Retry-After`."}}},
			{"scope", text("The scope that is missing.")},
			{"retention_days", object{{"type", "integer"}, {"description", "Days that the plan keeps, on `plan_retention_exceeded`."}}},
		}},
	}
}
