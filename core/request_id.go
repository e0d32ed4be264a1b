package core

const maxRequestID = 128

// RequestID returns the id of a request, given the values of its X-Request-Id header. It
// returns the caller's id if the header occurs once and has 1 to 128 characters of
// A-Za-z0-9._:-. These characters are safe in a header, a log and a shell. Otherwise it
// returns a new id.
func RequestID(given []string) string {
	if len(given) == 1 && isRequestID(given[0]) {
		return given[0]
	}
	return NewID()
}

func isRequestID(s string) bool {
	for i := range len(s) {
		if !isRequestIDByte(s[i]) {
			return false
		}
	}
	return len(s) > 0 && len(s) <= maxRequestID
}

func isRequestIDByte(c byte) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		return true
	}
	return c == '.' || c == '_' || c == ':' || c == '-'
}
