package simulator

import (
	"maps"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core/sending"
)

// A contact's preferences are stored as words separated by spaces, sorted by topic name:
// "+news -offers". A plus sign is an opt-in, a minus sign an opt-out. The same choices are
// always stored as the same text. Decoding copies no strings, so reading a contact is fast.
// Topic names have no spaces (see checkTopic).

func encodePreferences(preferences map[string]sending.Subscription) string {
	if len(preferences) == 0 {
		return ""
	}
	var b strings.Builder
	for i, topic := range slices.Sorted(maps.Keys(preferences)) {
		if i > 0 {
			b.WriteByte(' ')
		}
		sign := byte('+')
		if preferences[topic] == sending.OptOut {
			sign = '-'
		}
		b.WriteByte(sign)
		b.WriteString(topic)
	}
	return b.String()
}

// decodePreferences returns the topic choices in a stored text, by topic name. It never
// returns nil.
func decodePreferences(text string) map[string]sending.Subscription {
	if text == "" {
		return map[string]sending.Subscription{}
	}
	preferences := make(map[string]sending.Subscription, strings.Count(text, " ")+1)
	for word := range strings.SplitSeq(text, " ") {
		if word == "" {
			continue
		}
		choice := sending.OptIn
		if word[0] == '-' {
			choice = sending.OptOut
		}
		preferences[word[1:]] = choice
	}
	return preferences
}
