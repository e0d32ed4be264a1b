package contacts

import "strings"

// nameParts has the names of attributes that usually hold a person's name: those of the
// whole name, else those of its parts, in their order.
var nameParts = [][]string{{"name", "full_name"}, {"first_name", "given_name"}, {"last_name", "family_name"}}

// Name returns the contact's name from its attributes name or full_name, else from
// first_name or given_name and last_name or family_name. It returns "" if none of them is a
// text.
func (c Contact) Name() string {
	if whole := c.firstText(nameParts[0]); whole != "" {
		return whole
	}
	return strings.TrimSpace(c.firstText(nameParts[1]) + " " + c.firstText(nameParts[2]))
}

// firstText returns the first value of the named attributes that is a text with more than
// white space, or "".
func (c Contact) firstText(names []string) string {
	for _, name := range names {
		if text, ok := c.Attributes[name].(string); ok && strings.TrimSpace(text) != "" {
			return strings.TrimSpace(text)
		}
	}
	return ""
}
