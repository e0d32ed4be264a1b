package simulator

import (
	"context"
	"database/sql"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core/sending"
)

// The limits and formats of the values in a simulated account.

const (
	maxTopics           = 50
	maxTopicDisplayName = 128
	maxTopicDescription = 500
	maxEmailLength      = 320
)

var (
	topicName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	accountID = regexp.MustCompile(`^[0-9]{12}$`)
)

// topicNames returns the set of topic names of the organization's contact list, read in a
// transaction. It fails with NotFound if there is no list.
func (s *Simulator) topicNames(ctx context.Context, tx *sql.Tx, orgID string) (map[string]bool, error) {
	if _, err := readList(ctx, tx.StmtContext(ctx, s.listInTx), orgID); err != nil {
		return nil, err
	}
	topics, err := readTopics(ctx, tx.StmtContext(ctx, s.topicsInTx), orgID)
	names := make(map[string]bool, len(topics))
	for _, t := range topics {
		names[t.Name] = true
	}
	return names, err
}

func checkContacts(contacts []sending.Contact, topics map[string]bool) error {
	for _, c := range contacts {
		if err := checkContact(c, topics); err != nil {
			return err
		}
	}
	return nil
}

func checkContact(c sending.Contact, topics map[string]bool) error {
	if !isAddress(c.Email) {
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

func checkTopics(all []sending.Topic) error {
	names := make(map[string]bool, len(all))
	for _, t := range all {
		if err := checkTopic(t); err != nil {
			return err
		}
		if names[t.Name] {
			return invalid("two topics of one name")
		}
		names[t.Name] = true
	}
	return nil
}

func checkTopic(t sending.Topic) error {
	switch {
	case !topicName.MatchString(t.Name):
		return invalid("a topic's name has other characters than A-Z, a-z, 0-9, _ and -, or more than 64")
	case utf8.RuneCountInString(t.DisplayName) > maxTopicDisplayName:
		return invalid("a topic's display name is too long")
	case utf8.RuneCountInString(t.Description) > maxTopicDescription:
		return invalid("a topic's description is too long")
	case !isChoice(t.Default):
		return invalid("a topic's default is neither OPT_IN nor OPT_OUT")
	}
	return nil
}

func isChoice(s sending.Subscription) bool { return s == sending.OptIn || s == sending.OptOut }

// isAddress reports whether email has the form of an address. It is about as strict as the
// check that SES makes of the addresses in a message.
func isAddress(email string) bool {
	at := strings.LastIndexByte(email, '@')
	return at > 0 && at < len(email)-1 && len(email) <= maxEmailLength && utf8.ValidString(email) &&
		!strings.ContainsFunc(email, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
}
