package frame

import (
	"net/url"
	"time"
)

// Parameters are the query parameters of a page's address by name. An address leaves out
// parameters whose value is "".
type Parameters map[string]string

// Values returns the parameters that have a value.
func (p Parameters) Values() url.Values {
	values := url.Values{}
	for name, value := range p {
		if value != "" {
			values.Set(name, value)
		}
	}
	return values
}

// Address returns the address of a page: its path with these parameters.
func Address(path string, p Parameters) string { return addressOf(path, p.Values()) }

// addressOf returns a path with a query.
func addressOf(path string, query url.Values) string {
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

// SetArguments returns the arguments of an operation that are set. It leaves out empty texts
// and zero times, which stand for a filter that the page's address does not state.
func SetArguments(all map[string]any) map[string]any {
	set := map[string]any{}
	for name, value := range all {
		if at, isTime := value.(time.Time); value != "" && (!isTime || !at.IsZero()) {
			set[name] = value
		}
	}
	return set
}
