package handlebars

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// dataNames has the names after "@".
var dataNames = map[string]source{"root": fromRoot, "index": fromIndex, "first": fromFirst, "last": fromLast, "key": fromKey}

// path converts a token to a path, or records a fault.
func (t *tag) path(from token) (path, bool) {
	if from.kind != tokenPath || isLiteral(from.text) {
		t.fail(from.at, CodeUnsupported, "%s is a literal, which templates cannot use; expected a name, in brackets if it has other characters than a name",
			quote(t.source[from.at:from.end]))
		return path{}, false
	}
	r := pathReader{rest: strings.TrimPrefix(from.text, "@"), path: path{at: from.at}}
	if message := r.read(); message != "" {
		t.fail(from.at, CodeSyntax, "the path %s is malformed: %s", quote(from.text), message)
		return path{}, false
	}
	if len(r.path.segments) > MaxSegments {
		t.fail(from.at, CodeTooLong, "a path has at most %d names", MaxSegments)
		return path{}, false
	}
	if strings.HasPrefix(from.text, "@") {
		return r.path, t.data(from, &r.path)
	}
	return r.path, true
}

// data turns the first name of a path after "@" into its source.
func (t *tag) data(from token, p *path) bool {
	name := ""
	if len(p.segments) > 0 {
		name = p.segments[0].name
	}
	begin, known := dataNames[name]
	if !known {
		message := "there is no %s; expected @index, @first, @last, @key or @root"
		if near := core.NearestWord(name, []string{"first", "index", "key", "last", "root"}); near != "" {
			message += "; did you mean @" + near + "?"
		}
		t.fail(from.at, CodeUnsupported, message, quote(from.text))
		return false
	}
	p.from, p.segments = begin, p.segments[1:]
	if begin != fromRoot && len(p.segments) > 0 {
		t.fail(from.at, CodeSyntax, "%s has no members", quote("@"+name))
		return false
	}
	return true
}

// isLiteral reports whether handlebars.js reads the word as a literal.
func isLiteral(word string) bool {
	if slices.Contains([]string{"true", "false", "null", "undefined"}, word) {
		return true
	}
	digits := strings.TrimPrefix(word, "-")
	return digits != "" && strings.Trim(digits, "0123456789.") == "" && digits[0] != '.'
}

// pathReader splits the text of a path.
type pathReader struct {
	rest string
	path path
}

// read reads the whole path. It returns what is wrong, or "".
func (r *pathReader) read() string {
	for {
		if message := r.segment(); message != "" {
			return message
		}
		if r.rest == "" {
			return ""
		}
		if r.rest[0] != '.' && r.rest[0] != '/' {
			return "expected . or / between names"
		}
		r.rest = r.rest[1:]
	}
}

// segment reads one name, "this", "." or "..".
func (r *pathReader) segment() string {
	if strings.HasPrefix(r.rest, "[") {
		return r.bracketed()
	}
	word := r.rest[:nameLength(r.rest)]
	switch {
	case strings.HasPrefix(r.rest, ".."):
		word = ".."
	case r.rest == "." || strings.HasPrefix(r.rest, "./"):
		word = "."
	}
	r.rest = r.rest[len(word):]
	switch {
	case word == "":
		return "expected a name"
	case word != "this" && word != "." && word != "..":
		r.add(word)
	case len(r.path.segments) > 0:
		return "this, . and .. can only be at the beginning; a field of this name is written in brackets"
	case word == "..":
		r.path.up++
	}
	return ""
}

func (r *pathReader) bracketed() string {
	length := bracketLength(r.rest)
	if length == 0 {
		return "expected ]"
	}
	r.add(unescapeBracket(r.rest[1 : length-1]))
	r.rest = r.rest[length:]
	return ""
}

// unescapeBracket drops the backslash of \] and \\.
func unescapeBracket(name string) string {
	if !strings.Contains(name, `\`) {
		return name
	}
	return strings.NewReplacer(`\\`, `\`, `\]`, `]`).Replace(name)
}

func (r *pathReader) add(name string) {
	r.path.segments = append(r.path.segments, segment{name: name, index: indexOf(name)})
}

// indexOf returns the index of an array that a name means, or -1. Only the decimal form
// without leading zeros is an index, as in JavaScript.
func indexOf(name string) int {
	const longest = 9
	if name == "" || len(name) > longest || len(name) > 1 && name[0] == '0' {
		return -1
	}
	i, err := strconv.ParseUint(name, 10, 32)
	if err != nil {
		return -1
	}
	return int(i)
}

// written returns the path as it is written in a template, from its first name on.
func (p path) written() string {
	names := make([]string, 0, len(p.segments))
	for _, s := range p.segments {
		name := s.name
		if name == "" || nameLength(name) < len(name) || s.index >= 0 || slices.Contains([]string{"this"}, name) {
			name = "[" + strings.ReplaceAll(name, "]", `\]`) + "]"
		}
		names = append(names, name)
	}
	return strings.Join(names, ".")
}
