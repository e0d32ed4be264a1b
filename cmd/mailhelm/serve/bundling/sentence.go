package bundling

import "strings"

// sentence returns a message as a sentence: with a capital letter, unless it begins with a name of the
// bundle, and with a full stop, unless it ends with a question.
func sentence(message string) string {
	if message == "" {
		return message
	}
	message = strings.ToUpper(message[:1]) + message[1:]
	if strings.HasSuffix(message, ".") || strings.HasSuffix(message, "?") {
		return message
	}
	return message + "."
}
