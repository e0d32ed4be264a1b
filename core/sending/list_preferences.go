package sending

import (
	"maps"
	"slices"
	"strings"
)

// A contact's preferences are stored as words separated by spaces, sorted by topic name:
// "+news -offers". A plus sign is an opt-in, a minus sign an opt-out. The same choices are
// always stored as the same text. Decoding copies no strings, so reading a contact is fast.
// Topic names have no spaces (see CheckTopic).

// EncodePreferences returns the stored form of topic choices. Equal choices have equal forms.
func EncodePreferences(preferences map[string]Subscription) string {
	if len(preferences) == 0 {
		return ""
	}
	var b strings.Builder
	for i, topic := range slices.Sorted(maps.Keys(preferences)) {
		if i > 0 {
			b.WriteByte(' ')
		}
		sign := byte('+')
		if preferences[topic] == OptOut {
			sign = '-'
		}
		b.WriteByte(sign)
		b.WriteString(topic)
	}
	return b.String()
}

// DecodePreferences returns the topic choices in a stored text, by topic name. It never
// returns nil.
func DecodePreferences(text string) map[string]Subscription {
	if text == "" {
		return map[string]Subscription{}
	}
	preferences := make(map[string]Subscription, strings.Count(text, " ")+1)
	for word := range strings.SplitSeq(text, " ") {
		if word == "" {
			continue
		}
		choice := OptIn
		if word[0] == '-' {
			choice = OptOut
		}
		preferences[word[1:]] = choice
	}
	return preferences
}
