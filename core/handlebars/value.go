package handlebars

import (
	"encoding/json"
	"math"
	"strconv"
)

// number returns the value of a number. It is false for other values.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case json.Number:
		f, err := strconv.ParseFloat(string(v), 64)
		return f, err == nil || math.IsInf(f, 0)
	}
	return 0, false
}

// isTrue reports whether {{#if}} renders its first arm.
func isTrue(v any) bool {
	if f, is := number(v); is {
		return f != 0 && !math.IsNaN(f)
	}
	switch v := v.(type) {
	case bool:
		return v
	case string:
		return v != ""
	case []any:
		return len(v) > 0
	case map[string]any:
		return true
	}
	return false
}

// isSomething reports whether {{#with}} renders its first arm. As in handlebars.js, 0 is a
// value like other numbers there.
func isSomething(v any) bool {
	if f, is := number(v); is {
		return !math.IsNaN(f)
	}
	return isTrue(v)
}

// appendNumber appends a number as String(f) of JavaScript prints it (ECMA-262,
// Number::toString).
func appendNumber(dst []byte, f float64) []byte {
	const tooLarge, tooSmall = 1e21, 1e-6
	switch size := math.Abs(f); {
	case f == 0: // also -0
		return append(dst, '0')
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 0):
		if f < 0 {
			dst = append(dst, '-')
		}
		return append(dst, "Infinity"...)
	case size >= tooSmall && size < tooLarge:
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	// JavaScript writes 1e-7, Go 1e-07.
	if end := len(dst); dst[end-2] == '0' && (dst[end-3] == '-' || dst[end-3] == '+') {
		dst[end-2] = dst[end-1]
		dst = dst[:end-1]
	}
	return dst
}

// member returns the member of a value, or nil. Arrays have their items and length, texts
// their length in UTF-16 units.
func member(v any, s *segment) any {
	switch v := v.(type) {
	case map[string]any:
		return v[s.name]
	case []any:
		if s.index >= 0 && s.index < len(v) {
			return v[s.index]
		}
		if s.name == "length" {
			return float64(len(v))
		}
	case string:
		if s.name == "length" {
			return float64(lengthUTF16(v))
		}
	}
	return nil
}

func lengthUTF16(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}
