package rest_test

import (
	"fmt"
	"regexp"
	"strings"
)

// agrees reports whether the JSON scalar got is what want says. A text "~pattern" wants a
// match of the regular expression, "!text" wants any other value, and all else itself.
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
