package report

import "bytes"

// namespaces resolves prefixes of elements ("Namespaces in XML 1.0").
type namespaces struct {
	bindings []binding
	// pending are the bindings of the start tag that open has read.
	pending []binding
	// own is the namespace of the root element.
	own string
	// foreign is true inside of an element that declares a foreign namespace for names without a
	// prefix.
	foreign bool
}

// binding gives a prefix, or "" for none, a namespace inside of the element at a depth.
type binding struct {
	depth       int
	prefix, uri string
}

// open reads the declarations of a start tag with a prefix, and reports whether its element is in a
// namespace that is neither that of the root element nor one of the format. A prefix that is not
// declared is its own namespace.
func (s *namespaces) open(prefix, attributes []byte, w *words) (foreign bool) {
	s.pending = s.pending[:0]
	if len(attributes) > 0 {
		s.declare(attributes, w)
	}
	if len(prefix) == 0 && len(s.pending) == 0 {
		return s.foreign
	}
	return s.isForeign(prefix, w)
}

func (s *namespaces) isForeign(prefix []byte, w *words) bool {
	uri := s.find(prefix, w)
	return uri != s.own && !knownNamespace(uri)
}

// find returns the namespace of a prefix.
func (s *namespaces) find(prefix []byte, w *words) string {
	for _, all := range [][]binding{s.pending, s.bindings} {
		for i := len(all) - 1; i >= 0; i-- {
			if all[i].prefix == string(prefix) {
				return all[i].uri
			}
		}
	}
	if len(prefix) == 0 {
		return ""
	}
	return w.of(prefix)
}

// root makes the namespace of the root element that of the report.
func (s *namespaces) root(prefix []byte, w *words) string {
	s.own = s.find(prefix, w)
	return s.own
}

// bind lets the declarations that open has read apply inside of the element at a depth.
func (s *namespaces) bind(depth int) {
	if len(s.pending) == 0 {
		return
	}
	for _, b := range s.pending {
		b.depth = depth
		s.bindings = append(s.bindings, b)
	}
	s.pending = s.pending[:0]
	s.foreign = s.isForeign(nil, nil)
}

// close ends the declarations of the element at a depth.
func (s *namespaces) close(depth int) {
	n := len(s.bindings)
	for n > 0 && s.bindings[n-1].depth >= depth {
		n--
	}
	if n < len(s.bindings) {
		s.bindings = s.bindings[:n]
		s.foreign = s.isForeign(nil, nil)
	}
}

// declare reads the attributes that declare namespaces.
func (s *namespaces) declare(attributes []byte, w *words) {
	for {
		key, rest, found := bytes.Cut(attributes, []byte("="))
		rest = bytes.TrimLeft(rest, space)
		if !found || len(rest) == 0 || rest[0] != '"' && rest[0] != '\'' {
			return
		}
		end := bytes.IndexByte(rest[1:], rest[0])
		if end < 0 {
			return
		}
		value := rest[1 : 1+end]
		attributes = rest[end+2:]
		key = bytes.TrimSpace(key)
		if prefix, ok := bytes.CutPrefix(key, []byte("xmlns:")); ok {
			s.pending = append(s.pending, binding{prefix: w.of(prefix), uri: w.of(value)})
		} else if string(key) == "xmlns" {
			s.pending = append(s.pending, binding{uri: w.of(value)})
		}
	}
}
