package monitoring

import "strings"

// routes finds the template of a path, such as /v1/contacts/{email}. In a template a segment
// {name} stands for one segment of a path, and a last segment {name...} for all that follow.
// A template that ends in a slash stands for all paths below it, as in [http.ServeMux].
type routes struct{ root routeNode }

// routeNode is a segment of templates.
type routeNode struct {
	// template is the template that ends here, and tail the one for all paths below; "" if
	// there is none.
	template, tail string
	next           map[string]*routeNode
	// parameter is the node after a segment {name}.
	parameter *routeNode
}

// newRoutes returns the routes with these templates.
func newRoutes(templates []string) *routes {
	r := &routes{}
	for _, template := range templates {
		r.add(template)
	}
	return r
}

func (r *routes) add(template string) {
	at := &r.root
	segments := strings.Split(strings.TrimPrefix(template, "/"), "/")
	for i, segment := range segments {
		last := i == len(segments)-1
		switch {
		case last && strings.HasSuffix(segment, "...}"), last && segment == "" && i > 0:
			at.tail = template
			return
		case segment == "{$}":
			at = at.child("")
		case strings.HasPrefix(segment, "{"):
			if at.parameter == nil {
				at.parameter = &routeNode{}
			}
			at = at.parameter
		default:
			at = at.child(segment)
		}
	}
	at.template = template
}

func (n *routeNode) child(segment string) *routeNode {
	if n.next == nil {
		n.next = map[string]*routeNode{}
	}
	if n.next[segment] == nil {
		n.next[segment] = &routeNode{}
	}
	return n.next[segment]
}

// find returns the template of an escaped path, or "" if there is none. If several match, it
// returns the one whose first differing segment is literal.
func (r *routes) find(path string) string {
	return r.root.find(strings.TrimPrefix(path, "/"), true)
}

// find returns the template of the rest of a path below the node. more is false after the last
// segment.
func (n *routeNode) find(rest string, more bool) string {
	if !more {
		return n.template
	}
	segment, after, more := strings.Cut(rest, "/")
	if next := n.next[segment]; next != nil {
		if found := next.find(after, more); found != "" {
			return found
		}
	}
	if n.parameter != nil && segment != "" {
		if found := n.parameter.find(after, more); found != "" {
			return found
		}
	}
	return n.tail
}
