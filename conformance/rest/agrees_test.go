package rest_test

import (
	"fmt"
	"regexp"
	"strings"
)

// agrees reports whether the JSON scalar got matches want. A want of "~x" is a regular
// expression that got must match, and "!x" means any value but x and null. Any other want
// must equal got.
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
