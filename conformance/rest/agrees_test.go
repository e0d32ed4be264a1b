package rest_test

import (
	"fmt"
	"regexp"
	"strings"
)

// agrees compares two values that hold no others.
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
