package simulator

import (
	"maps"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core/sending"
)

// Preferences are stored as words separated by spaces, each a sign and a topic's name,
// sorted by name: "+news -offers". Equal choices give equal texts. Decoding copies no
// strings, which keeps reading a contact fast. A topic's name cannot contain a space
// (see checkTopic).

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

// decodePreferences returns an empty map, never nil, for a contact without choices.
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
