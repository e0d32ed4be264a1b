package placement_test

import (
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	"github.com/mailhelm/mailhelm/storage/storagetest/placement"
)

// TestPlaces checks which shapes of statements have one place.
func TestPlaces(t *testing.T) {
	t.Parallel()
	db := storagetest.Open(t, storage.Config{URL: enginetest.PostgresURL(t)})
	conn, err := db.Writer().Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }() // the database is dropped
	c, err := placement.Open(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range shapes {
		faults, err := c.Faults(t.Context(), text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if got := strings.Join(faults, "; "); got != want {
			t.Errorf("%s\n got %q\nwant %q", text, got, want)
		}
	}
	if _, err := c.Faults(t.Context(), "SELECT nothing FROM contacts"); err == nil {
		t.Error("no error for a statement that PostgreSQL refuses")
	}
}

const (
	contacts = "org_id of contacts is not equal to a parameter"
	members  = "org_id of list_members is not equal to a parameter"
)

// shapes has statements and their faults.
var shapes = map[string]string{
	`SELECT id FROM contacts WHERE org_id = $1 AND id = $2`:           "",
	`SELECT id FROM contacts WHERE $1 = org_id AND (id = $2 OR TRUE)`: "",
	`SELECT id FROM contacts WHERE id = $1`:                           contacts,
	`SELECT id FROM contacts WHERE org_id = $1 OR id = $2`:            contacts,
	`SELECT id FROM contacts WHERE NOT org_id = $1`:                   contacts,
	`SELECT id FROM contacts WHERE org_id >= $1`:                      contacts,
	`SELECT id FROM contacts WHERE org_id || '' = $1`:                 contacts,
	`SELECT id FROM contacts WHERE org_id = org_id AND id = $1`:       contacts,
	`SELECT id FROM contacts WHERE org_id = 'acme' AND id = $1`:       contacts,
	`SELECT $1 || 'org_id = $1' FROM contacts`:                        contacts,

	`SELECT 1 FROM contacts AS c JOIN list_members AS m ON m.org_id = c.org_id WHERE c.org_id = $1`:                    "",
	`SELECT 1 FROM contacts AS c JOIN list_members AS m ON m.org_id = c.org_id WHERE m.org_id = $1`:                    "",
	`SELECT 1 FROM contacts AS c JOIN list_members AS m ON m.contact_id = c.id WHERE c.org_id = $1`:                    members,
	`SELECT 1 FROM contacts AS c JOIN list_members AS m USING (org_id) WHERE org_id = $1`:                              "",
	`SELECT 1 FROM contacts AS c, list_members AS m WHERE c.org_id = $1 AND m.org_id = $2`:                             "several organizations: $1, $2",
	`SELECT 1 FROM contacts AS c LEFT JOIN list_members AS m ON m.org_id = c.org_id WHERE c.org_id = $1`:               "",
	`SELECT 1 FROM contacts AS c LEFT JOIN list_members AS m ON m.org_id = $1 AND c.org_id = $1`:                       contacts,
	`SELECT 1 FROM contacts AS c RIGHT JOIN list_members AS m ON m.org_id = $1 AND c.org_id = $1`:                      members,
	`SELECT 1 FROM contacts AS c FULL JOIN list_members AS m ON m.org_id = c.org_id`:                                   contacts + "; " + members,
	`SELECT (SELECT count(*) FROM list_members AS m WHERE m.org_id = c.org_id) FROM contacts AS c WHERE c.org_id = $1`: "",
	`SELECT (SELECT count(*) FROM list_members AS m WHERE m.contact_id = c.id) FROM contacts AS c WHERE c.org_id = $1`: members,
	`SELECT 1 FROM contacts WHERE org_id = $1 ORDER BY (SELECT count(*) FROM list_members)`:                            members,
	`SELECT id FROM contacts WHERE (org_id, id) IN (SELECT org_id, contact_id FROM list_members WHERE org_id = $1)`:    "",
	`SELECT id FROM contacts WHERE id IN (SELECT contact_id FROM list_members WHERE org_id = $1)`:                      contacts,
	`SELECT id FROM contacts WHERE org_id NOT IN (SELECT org_id FROM list_members WHERE org_id = $1)`:                  contacts,

	`WITH m AS (SELECT org_id FROM list_members WHERE org_id = $1) SELECT 1 FROM contacts AS c JOIN m ON m.org_id = c.org_id`:              "",
	`WITH m AS (SELECT org_id FROM list_members) SELECT 1 FROM contacts AS c JOIN m ON m.org_id = c.org_id WHERE c.org_id = $1`:            members,
	`SELECT 1 FROM contacts AS c JOIN (SELECT org_id FROM list_members WHERE org_id = $1 UNION ALL SELECT $1) AS m ON m.org_id = c.org_id`: "",
	`SELECT 1 FROM contacts AS c JOIN (SELECT org_id FROM list_members WHERE org_id = $1 UNION ALL SELECT $2) AS m ON m.org_id = c.org_id`: contacts,
	`WITH RECURSIVE r AS (SELECT org_id FROM list_members WHERE org_id = $1 UNION SELECT c.org_id FROM contacts AS c JOIN r ON r.org_id = c.org_id)
		SELECT * FROM r`: "",

	`INSERT INTO list_members (org_id, list_id, contact_id) VALUES ($1, $2, $3) ON CONFLICT (org_id, list_id, contact_id) DO UPDATE SET contact_id = excluded.contact_id`: "",
	`INSERT INTO list_members (org_id, list_id, contact_id) VALUES ($1, $2, $3), ($1, $4, $5)`:                                                                            "",
	`INSERT INTO list_members (org_id, list_id, contact_id) VALUES ($1, $2, $3), ($4, $5, $6)`:                                                                            members,
	`INSERT INTO list_members (org_id, list_id, contact_id) SELECT CAST($1 AS text), $2, id FROM contacts WHERE org_id = $1`:                                              "",
	`INSERT INTO list_members (org_id, list_id, contact_id) SELECT org_id, $1, id FROM contacts`:                                                                          members + "; " + contacts,
	`UPDATE contacts SET email = $1 WHERE org_id = $2 AND id = $3`:                                                                                                        "",
	`UPDATE contacts SET email = $1 WHERE id = $2`:                                                                                                                        contacts,
	`UPDATE contacts SET org_id = $1 WHERE org_id = $1`:                                                                                                                   "moves rows of contacts to another organization",
	`UPDATE contacts SET email = '' FROM list_members AS m WHERE contacts.org_id = $1 AND m.contact_id = contacts.id`:                                                     members,
	`DELETE FROM list_members USING contacts AS c WHERE list_members.org_id = c.org_id AND c.org_id = $1`:                                                                 "",
	`SELECT 1 FROM contacts WHERE org_id = $1 AND EXISTS (SELECT 1 FROM users WHERE id = $2)`:                                                                             "reads local tables and distributed ones: users; contacts",
	`SELECT 1 FROM domainauth_domains AS d JOIN domainauth_findings AS f ON f.org_id = d.org_id WHERE d.org_id = $1`:                                                      "",
}
