package languageserver

import (
	"strings"

	"github.com/mailhelm/mailhelm/core/predicate"
)

// tokensOf returns the tokens of a text, without the end.
func tokensOf(text string) []predicate.Token {
	var all []predicate.Token
	for at := 0; ; {
		t := predicate.TokenAt(text, at)
		if t.Kind == predicate.EndToken {
			return all
		}
		all = append(all, t)
		at = t.End
	}
}

// named is a kind of name that a string can have.
type named int

const (
	notNamed named = iota
	namedTemplate
	namedTopic
	namedList
	namedSegment
)

// nameAfter returns the kind of name that a string after the given tokens has.
func nameAfter(before []predicate.Token) named {
	last, previous := lastOf(before, 1), lastOf(before, 2)
	switch {
	case last.Is("send"):
		return namedTemplate
	case last.Is("topic"), last.Is("to") && previous.Is("subscribed"), last.Is("of") && previous.Is("out"):
		return namedTopic
	case last.Is("list"):
		return namedList
	case last.Is("segment"):
		return namedSegment
	}
	return notNamed
}

// lastOf returns the token that is n from the end, a token of no kind if there is none.
func lastOf(tokens []predicate.Token, n int) predicate.Token {
	if n > len(tokens) {
		return predicate.Token{}
	}
	return tokens[len(tokens)-n]
}

// startsStatement reports whether a statement can begin at an offset: at the beginning of a
// line, or after a brace or colon.
func startsStatement(text string, offset int) bool {
	before := strings.TrimRight(text[:offset], " \t\r")
	return before == "" || strings.ContainsRune("\n{}:", rune(before[len(before)-1]))
}
