package bundling

import "strings"

// sentence returns a message as a sentence: with a capital letter, unless it begins with a name of the
// bundle, and with a full stop.
func sentence(message string) string {
	if message == "" {
		return message
	}
	return strings.ToUpper(message[:1]) + strings.TrimSuffix(message[1:], ".") + "."
}
