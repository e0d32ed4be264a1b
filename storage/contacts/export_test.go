package contacts

import "github.com/mailhelm/mailhelm/core/contacts"

// SearchSQL returns the SQL of a search, in the language of both engines, for external tests.
func SearchSQL(orgID string, f contacts.SearchFilter) (string, error) {
	q, _, err := searchOf(orgID, f, nil)
	if err != nil {
		return "", err
	}
	return `SELECT c.id FROM contacts AS c WHERE ` + q.condition(), nil
}
