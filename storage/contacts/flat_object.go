package contacts

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// decodeAttributes parses a JSON object of attribute values as [json.Unmarshal] does. Nearly all
// are flat and without escapes, so decodeAttributes reads these itself: the texts are then parts
// of stored, and a page of contacts allocates half as much.
func decodeAttributes(stored string) (map[string]any, error) {
	all := make(map[string]any, strings.Count(stored, `":`))
	if eachMember(stored, func(name, value string, isText bool) bool {
		if isText {
			all[name] = value
			return true
		}
		literal, known := literalOf(value)
		all[name] = literal
		return known
	}) {
		return all, nil
	}
	clear(all)
	return all, json.Unmarshal([]byte(stored), &all)
}

// eachMember calls member for each member of a JSON object that is flat and has neither escapes
// nor white space. value is the content of a text, and the JSON of other values. eachMember
// returns false if the object has another form, or if member returns false. It may have called
// member before that.
func eachMember(stored string, member func(name, value string, isText bool) bool) bool {
	rest, isObject := strings.CutPrefix(stored, "{")
	if !isObject || strings.IndexByte(stored, '\\') >= 0 || !utf8.ValidString(stored) {
		return false
	}
	if rest == "}" {
		return true
	}
	for {
		name, after, isText := cutText(rest)
		start, isNamed := strings.CutPrefix(after, ":")
		if !isText || !isNamed {
			return false
		}
		value, after, isText := cutText(start)
		if !isText {
			end := strings.IndexAny(start, ",}")
			if end < 0 {
				return false
			}
			value, after = start[:end], start[end:]
		}
		if !member(name, value, isText) {
			return false
		}
		if after == "}" {
			return true
		}
		var more bool
		if rest, more = strings.CutPrefix(after, ","); !more {
			return false
		}
	}
}

// cutText returns the content of the JSON string at the beginning of rest, and what follows it.
// The string has no escapes.
func cutText(rest string) (text, after string, isText bool) {
	if rest == "" || rest[0] != '"' {
		return "", "", false
	}
	text, after, isText = strings.Cut(rest[1:], `"`)
	for i := range len(text) {
		if text[i] < ' ' {
			return "", "", false // package json refuses control characters
		}
	}
	return text, after, isText
}

// literalOf returns the value of a JSON literal or of a number without exponent.
func literalOf(value string) (any, bool) {
	switch value {
	case "true":
		return true, true
	case "false":
		return false, true
	case "null":
		return nil, true
	}
	whole, fraction, hasFraction := strings.Cut(strings.TrimPrefix(value, "-"), ".")
	if !isDigits(whole) || len(whole) > 1 && whole[0] == '0' || hasFraction && !isDigits(fraction) {
		return nil, false
	}
	number, err := strconv.ParseFloat(value, 64)
	return number, err == nil
}

// isDigits reports whether text consists of digits, at least one.
func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}
