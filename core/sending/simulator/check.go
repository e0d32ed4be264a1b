package simulator

import (
	"context"
	"database/sql"
	"regexp"

	"github.com/mailhelm/mailhelm/core/sending"
)

// accountID matches the ids of simulated accounts.
var accountID = regexp.MustCompile(`^[0-9]{12}$`)

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
		if err := sending.CheckListed(c, topics); err != nil {
			return err
		}
	}
	return nil
}
