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

// Headers sets the rate limit headers in h, an http.Header. It uses the names of
// draft-ietf-httpapi-ratelimit-headers-06 and the older X-RateLimit names. If r is nil, because
// the organization has no rate limit, it does nothing.
func (r *Rate) Headers(h map[string][]string) {
	if r == nil {
		return
	}
	limit := strconv.Itoa(r.Limit)
	values := [...]string{limit, strconv.Itoa(r.Remaining), strconv.Itoa(int(r.Reset.Seconds())), limit + ";w=60"}
	// The names are in the canonical form of http.Header, and their values share one array.
	for i, name := range [...]string{"Ratelimit-Limit", "Ratelimit-Remaining", "Ratelimit-Reset", "Ratelimit-Policy"} {
		h[name] = values[i : i+1 : i+1]
	}
	for i, name := range [...]string{"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset"} {
		h[name] = values[i : i+1 : i+1]
	}
}
