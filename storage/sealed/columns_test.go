package sealed

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// otherBytes lists the columns of bytes that hold nothing that the master key seals, with what
// they hold. Results of replayed calls can contain the sealed secret of a link to an inbox; they
// are deleted after the period of the organization, for which retire waits.
var otherBytes = map[string]string{
	"api_keys.secret_hash": "hash", "clients.secret_hash": "hash", "authorization_codes.hash": "hash", "connections.ingest_key_hash": "hash",
	"inbox_tokens.hash": "hash", "invitations.hash": "hash", "known_devices.hash": "hash", "passkey_ceremonies.hash": "hash",
	"password_resets.hash": "hash", "password_resets.password_mark": "hash", "recovery_codes.hash": "hash", "refresh_tokens.hash": "hash",
	"sessions.hash": "hash", "site_keys.hash": "hash", "verified_senders.code_hash": "hash", "visitor_ids.hash": "hash", "erased_addresses.hash": "hash with a derived key",
	"contact_upload_chunks.content": "a part of an uploaded file", "passkeys.credential_id": "id of a passkey",
	"replay_records.result": "result of a call", "installation_keys.sealed": "master keys, replaced by the rotation itself",
}

// TestEveryColumnOfBytesIsKnown checks that each column of bytes in the schema is in the list of
// sealed columns or in otherBytes. It fails for a new one, because the rotation of the master key
// would leave its values sealed with the former key.
func TestEveryColumnOfBytesIsKnown(t *testing.T) {
	t.Parallel()
	rows, err := storagetest.SQLite(t).Reader().QueryContext(t.Context(), `
		SELECT m.name || '.' || c.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c
		WHERE m.type = 'table' AND m.name NOT LIKE 'river_%' AND m.name NOT LIKE 'sqlite_%' AND lower(c.type) IN ('bytea', 'blob')`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	known := maps.Clone(otherBytes)
	for _, c := range Columns() {
		known[c.String()] = "sealed"
	}
	for rows.Next() {
		var column string
		if err := rows.Scan(&column); err != nil {
			t.Fatal(err)
		}
		if known[column] == "" {
			t.Errorf("%s has bytes: add it to the columns of package sealed if the master key seals it, otherwise to otherBytes", column)
		}
		delete(known, column)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for column := range known {
		t.Errorf("%s is listed and does not exist", column)
	}
}

var (
	sealCall = regexp.MustCompile(`\.Seal\((\w+), `)
	// notStored are purposes of values that are in no column of their own; see otherBytes.
	notStored = []string{"inbox pull link"}
)

// TestEveryPurposeIsListed checks that each purpose with which the code seals values belongs to a
// column, and each column has a purpose that the code uses.
func TestEveryPurposeIsListed(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, top := range []string{"../../core", "..", "../../cmd", "../../rest"} {
		err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, call := range sealCall.FindAllSubmatch(text, -1) {
				used[purposeOf(t, filepath.Dir(path), string(call[1]))] = true
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	listed := map[string]bool{}
	for _, c := range Columns() {
		listed[c.Purpose] = true
	}
	for _, purpose := range notStored {
		listed[purpose] = true
	}
	if got, want := slices.Sorted(maps.Keys(used)), slices.Sorted(maps.Keys(listed)); !slices.Equal(got, want) {
		t.Errorf("the code seals with the purposes %q, the columns have %q", got, want)
	}
}

// purposeOf returns the value of a constant of the package in a folder.
func purposeOf(t *testing.T, folder, name string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	constant := regexp.MustCompile(`\b` + name + `\s*=\s*"([^"]+)"`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if found := constant.FindSubmatch(text); found != nil {
			return string(found[1])
		}
	}
	t.Errorf("%s: the purpose %s is no constant of the package", folder, name)
	return ""
}
