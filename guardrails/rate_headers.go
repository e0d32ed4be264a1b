package guardrails

import "strconv"

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
