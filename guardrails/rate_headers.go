package guardrails

import "strconv"

// ReplicaLagHeader is the response header with the number of seconds by which the data of the answer
// may be old, because a replica of the database answered.
const ReplicaLagHeader = "Mailhelm-Replica-Lag"

// Headers calls the function set with the name and value of [ReplicaLagHeader], if a replica
// answered.
func (r *Result) Headers(set func(name, value string)) {
	if r.FromReplica {
		set(ReplicaLagHeader, strconv.FormatFloat(r.ReplicaLag.Seconds(), 'f', 3, 64))
	}
}

// Headers calls the function set with the name and value of each rate limit header. It uses
// the names of draft-ietf-httpapi-ratelimit-headers-06 and the older X-RateLimit names. If
// r is nil, because the organization has no rate limit, it does nothing.
func (r *Rate) Headers(set func(name, value string)) {
	if r == nil {
		return
	}
	for _, header := range []struct {
		name  string
		value int
	}{
		{"RateLimit-Limit", r.Limit},
		{"RateLimit-Remaining", r.Remaining},
		{"RateLimit-Reset", int(r.Reset.Seconds())},
	} {
		value := strconv.Itoa(header.value)
		set(header.name, value)
		set("X-"+header.name, value)
	}
	set("RateLimit-Policy", strconv.Itoa(r.Limit)+";w=60")
}
