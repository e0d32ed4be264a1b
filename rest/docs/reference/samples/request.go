package samples

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// Request is an example of a request to the API.
type Request struct {
	Method string
	// URL is the whole address, with path parameters and query.
	URL string
	// Body is indented JSON, or "" for none.
	Body string
	// Key is the idempotency key, or "" for a read.
	Key string
}

// Route is the method and the path of a route, with its parameters in braces. TakesBody is
// true if the arguments are in the body of the request, except those in the path. Items is
// the argument whose value is the whole body, or "".
type Route struct {
	Method, Path, Items string
	TakesBody           bool
}

// argument is a member of the example of an operation, with its value as JSON.
type argument struct {
	name  string
	value json.RawMessage
}

// Of returns the request of an operation at a route with the arguments of the operation's
// example. It fails if the example is not an object, or lacks a path parameter or the
// argument whose value is the body.
func Of(info core.OperationInfo, route Route, baseURL string) (Request, error) {
	arguments, err := argumentsOf(info.Example)
	if err != nil {
		return Request{}, fmt.Errorf("example of %s: %w", info.Name, err)
	}
	r := Request{Method: route.Method, URL: baseURL + route.Path}
	if info.Effect != core.Reads {
		r.Key = "example-" + strings.ReplaceAll(info.Name, "_", "-")
	}
	arguments = slices.DeleteFunc(arguments, func(a argument) bool {
		in := "{" + a.name + "}"
		if !strings.Contains(r.URL, in) {
			return false
		}
		escaped := strings.ReplaceAll(url.PathEscape(a.text()), "@", "%40")
		r.URL = strings.ReplaceAll(r.URL, in, escaped)
		return true
	})
	if strings.Contains(r.URL, "{") {
		return Request{}, fmt.Errorf("example of %s: no value for a parameter in %s", info.Name, r.URL)
	}
	if !route.TakesBody {
		r.URL += query(arguments)
		return r, nil
	}
	if r.Body, err = body(arguments, route.Items); err != nil {
		return Request{}, fmt.Errorf("example of %s: %w", info.Name, err)
	}
	return r, nil
}

// argumentsOf returns the members of an object in their order.
func argumentsOf(example string) ([]argument, error) {
	if example == "" {
		return nil, nil
	}
	decoder := json.NewDecoder(strings.NewReader(example))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return nil, fmt.Errorf("not an object: %w", err)
	}
	var arguments []argument
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, err
		}
		arguments = append(arguments, argument{fmt.Sprint(name), value})
	}
	return arguments, nil
}

// text returns the value of a path or query parameter: a string without quotes, any other
// value as JSON.
func (a argument) text() string {
	var s string
	if json.Unmarshal(a.value, &s) == nil {
		return s
	}
	return string(a.value)
}

// query returns the arguments as a query, with the question mark, or "" for none.
func query(arguments []argument) string {
	parts := make([]string, 0, len(arguments))
	for _, a := range arguments {
		parts = append(parts, a.name+"="+url.QueryEscape(a.text()))
	}
	if len(parts) == 0 {
		return ""
	}
	return "?" + strings.Join(parts, "&")
}

// body returns the arguments as an object, or the value of the argument items if items is
// not "". It fails if there is no argument with this name.
func body(arguments []argument, items string) (string, error) {
	var b bytes.Buffer
	if items != "" {
		at := slices.IndexFunc(arguments, func(a argument) bool { return a.name == items })
		if at < 0 {
			return "", fmt.Errorf("no value for %s, which is the body", items)
		}
		err := json.Indent(&b, arguments[at].value, "", "  ")
		return b.String(), err
	}
	var object bytes.Buffer
	object.WriteByte('{')
	for i, a := range arguments {
		if i > 0 {
			object.WriteByte(',')
		}
		fmt.Fprintf(&object, "%q:%s", a.name, a.value)
	}
	object.WriteByte('}')
	err := json.Indent(&b, object.Bytes(), "", "  ")
	return b.String(), err
}
