package guardrails

import "strconv"

// Headers calls set for each rate header, under the names of the IETF draft
// (draft-ietf-httpapi-ratelimit-headers-06) and under the older X-RateLimit names. A nil
// Rate, of an organization without a limit, sets no header.
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
