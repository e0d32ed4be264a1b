package rest_test

import (
	"fmt"
	"regexp"
	"strings"
)

// agrees reports whether the JSON value got matches want. If want is "~x", got must match
// the regular expression x. If want is "!x", got may be any value but x and null. Otherwise
// got must equal want.
func agrees(want, got any) bool {
	text, _ := want.(string)
	if pattern, is := strings.CutPrefix(text, "~"); is {
		return got != nil && regexp.MustCompile(pattern).MatchString(fmt.Sprint(got))
	}
	if other, is := strings.CutPrefix(text, "!"); is {
		return got != nil && got != other
	}
	return want == got
}
