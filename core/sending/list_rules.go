package sending

import (
	"errors"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The rules below are those of the contact lists that Mailhelm keeps itself: of simulated accounts
// and of SMTP servers.

// MaxTopics is the maximum number of topics of a contact list.
const MaxTopics = 50

// MaxPage is the maximum number of contacts in a page.
const MaxPage = 1000

const (
	maxTopicDisplayName = 128
	maxTopicDescription = 500
	maxEmailLength      = 320
)

var topicName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// The texts of the errors below appear only in the log. They must not contain email
// addresses.

// invalid returns a *Failure of kind Invalid.
func invalid(text string) error {
	return &Failure{Kind: Invalid, Err: errors.New("contact list: " + text)}
}

// TooManyTopics returns the *Failure of kind Full for more than MaxTopics topics.
func TooManyTopics() error {
	return &Failure{Kind: Full, Err: errors.New("contact list: more than 50 topics")}
}

// ContactKey returns the form of an address by which the contacts of a list are unique: in lower
// case.
func ContactKey(email string) string { return strings.ToLower(email) }

// CheckListed fails with Invalid for a malformed address, for a choice about a topic that is
// not in the set of topics, and for a choice that is neither OPT_IN nor OPT_OUT.
func CheckListed(c Contact, topics map[string]bool) error {
	if !IsAddress(c.Email) {
		return invalid("malformed address")
	}
	for topic, choice := range c.Preferences {
		if !topics[topic] {
			return invalid("a preference for a topic that the contact list does not have")
		}
		if !isChoice(choice) {
			return invalid("a preference that is neither OPT_IN nor OPT_OUT")
		}
	}
	return nil
}

// CheckTopics fails with Invalid for a topic that [CheckTopic] refuses, and for two topics with
// one name. It does not check the number of topics.
func CheckTopics(all []Topic) error {
	names := make(map[string]bool, len(all))
	for _, t := range all {
		if err := CheckTopic(t); err != nil {
			return err
		}
		if names[t.Name] {
			return invalid("two topics of one name")
		}
		names[t.Name] = true
	}
	return nil
}

// CheckTopic fails with Invalid for a name, a text or a default that a topic cannot have.
func CheckTopic(t Topic) error {
	switch {
	case !topicName.MatchString(t.Name):
		return invalid("a topic's name has other characters than A-Z, a-z, 0-9, _ and -, or more than 64")
	case utf8.RuneCountInString(t.DisplayName) > maxTopicDisplayName:
		return invalid("a topic's display name is too long")
	case utf8.RuneCountInString(t.Description) > maxTopicDescription:
		return invalid("a topic's description is too long")
	case !isText(t.DisplayName) || !isText(t.Description):
		return invalid("a topic's display name or description is not UTF-8 or has a NUL character")
	case !isChoice(t.Default):
		return invalid("a topic's default is neither OPT_IN nor OPT_OUT")
	}
	return nil
}

func isChoice(s Subscription) bool { return s == OptIn || s == OptOut }

// isText reports whether both databases can store the text.
func isText(text string) bool { return utf8.ValidString(text) && !strings.ContainsRune(text, 0) }

// IsAddress reports whether email has the form of an address. It is about as strict as the
// check that SES makes of the addresses in a message.
func IsAddress(email string) bool {
	at := strings.LastIndexByte(email, '@')
	return at > 0 && at < len(email)-1 && len(email) <= maxEmailLength && utf8.ValidString(email) &&
		!strings.ContainsFunc(email, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
}
