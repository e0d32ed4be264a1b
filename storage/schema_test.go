package storage_test

import (
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// notLedByOrg lists indexes that do not begin with org_id although their table has this
// column. The migration that creates such an index states the reason.
var notLedByOrg = map[string]bool{
	// Mail names the address, and requests to the pull host a link; the purge works for all.
	"inboxes(local_part)": true, "inbox_tokens(hash)": true, "inboxes(ends_at,id)": true,
	"clients(client_id)":              true,
	"clients(created_at)":             true,
	"grants(client_id)":               true,
	"api_keys(expires_at)":            true,
	"api_keys(environment,prefix)":    true,
	"members(user_id)":                true,
	"invitations(hash)":               true,
	"authorization_codes(hash)":       true,
	"authorization_codes(expires_at)": true,
	"refresh_tokens(hash)":            true,
	"replay_records(expires_at)":      true,
	"spent_confirmations(expires_at)": true,
	// The provider posts events to a path that identifies the organization; the request
	// names it nowhere else.
	"connections(ingest_path)": true,
	// A domain receives mail for one organization, and receivers know only its name. Jobs look for
	// the domains of all organizations that are to be checked or published. Receivers read what
	// was published of all organizations since a version.
	"receiving_domains(domain)": true, "receiving_domains(check_at)": true, "receiving_domains(publish_at)": true,
	"receiving_routes(domain)": true, "receiving_routes(version)": true,
	// Mail to the address for reports names the token. Jobs look for the domains to measure and to
	// compute again, the files to read, the digests that are due and the mails to send of all organizations.
	"domainauth_domains(token)": true, "domainauth_domains(measure_at)": true, "domainauth_domains(refresh_at)": true,
	"domainauth_files(due_at)": true, "domainauth_subscriptions(digest_at)": true, "domainauth_notices(due_at)": true,
	// No two organizations have the same site key. Old counts of all organizations are deleted.
	"site_keys(hash)": true, "site_counts(day)": true,
	// The dispatcher looks for the broadcasts of all organizations that it starts or drives.
	"broadcasts(state,schedule_at)": true,
	// The processes look for the received mail of all organizations.
	"received_mail(due_at,id)": true,
	// Several organizations may share an account, but only one of them may claim a channel
	// or an identity of that account.
	"sending_claims(account,kind,name)": true,
	// A webhook of GitHub names the installation of the app, and no organization.
	"git_connections(installation)": true,
	"asset_contents(hash)":          true, // the public address of an image does not name the organization
}

// notOrgTables lists tables whose rows belong to no single organization.
var notOrgTables = map[string]bool{
	"orgs": true, "users": true, "sessions": true, "signing_keys": true, "denied_tokens": true, "schema_versions": true,
	"processes": true, "authenticators": true, "recovery_codes": true, "passkeys": true, "passkey_ceremonies": true,
	"password_resets": true, "known_devices": true, "password_warnings": true,
	"receiving_routing": true, "installation_facts": true, "installation_keys": true,
	"verified_sender_starts": true,
}

const indexColumns = `
	SELECT t.name || '(' || (SELECT group_concat(c.name) FROM (SELECT coalesce(name, 'expression') AS name FROM pragma_index_info(i.name) ORDER BY seqno) AS c) || ')',
		t.name
	FROM sqlite_master AS t, pragma_index_list(t.name) AS i
	WHERE t.type = 'table' AND t.name NOT LIKE 'river_%' AND t.name NOT LIKE 'sqlite_%'`

func TestOrgLeadsEveryIndex(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	rows, err := db.Reader().QueryContext(t.Context(), indexColumns)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	seen := map[string]bool{}
	for rows.Next() {
		var index, table string
		if err := rows.Scan(&index, &table); err != nil {
			t.Fatal(err)
		}
		seen[index] = true
		if !notOrgTables[table] && !notLedByOrg[index] && !strings.HasPrefix(index, table+"(org_id") {
			t.Errorf("%s is not led by org_id", index)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for index := range notLedByOrg {
		if !seen[index] {
			t.Errorf("%s is listed and does not exist", index)
		}
	}
}

// TestIndexedTextSortsByBytesOnPostgres checks that every indexed text column on PostgreSQL
// sorts by bytes. Otherwise pages would have another order than on SQLite.
func TestIndexedTextSortsByBytesOnPostgres(t *testing.T) {
	t.Parallel()
	db := storagetest.Open(t, storage.Config{URL: enginetest.PostgresURL(t)})
	rows, err := db.Reader().QueryContext(t.Context(), `
		SELECT c.relname || '.' || a.attname FROM pg_index AS i
		JOIN pg_class AS c ON c.oid = i.indrelid
		JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey)
		JOIN pg_namespace AS n ON n.oid = c.relnamespace
		WHERE n.nspname = current_schema() AND c.relname NOT LIKE 'river%' AND a.attcollation <> 0
		AND a.attcollation <> (SELECT oid FROM pg_collation WHERE collname = 'C')`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var column string
		if err := rows.Scan(&column); err != nil {
			t.Fatal(err)
		}
		t.Errorf("%s is indexed and not bytetext", column)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}
