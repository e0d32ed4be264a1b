package main

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAdminDeletesAndRestoresAnOrganization checks, beside a running server, that the
// credentials of a deleted organization are refused with the reason, that those of another one
// work, and that all work again after the organization was restored.
func TestAdminDeletesAndRestoresAnOrganization(t *testing.T) {
	t.Parallel()
	eachWithServer(t, func(t *testing.T, s shell, _ *process, port int) {
		s.mustRun("org", "create", "acme")
		s.mustRun("org", "create", "bolt")
		lists := fmt.Sprintf("http://localhost:%d/v1/lists", port)
		key := s.does("key", "create", "acme", "--name", "CI", "--scopes", "all")["secret"].(string)
		other := s.does("key", "create", "bolt", "--name", "CI", "--scopes", "read")["secret"].(string)
		client := s.does("client", "create", "acme", "--name", "App", "--scopes", "read")
		answers(t, lists, key, 200, `"data"`)
		token := tokenFor(t, port+1, client)
		contacts := strings.Replace(lists, "lists", "contacts", 1)
		if a := request(t, http.MethodPost, contacts, key, `{"email":"ada@example.com"}`); a.status >= 300 {
			t.Fatalf("a contact: %d %s", a.status, a.body)
		}

		plan := s.mustRun("org", "delete", "acme", "--dry-run")
		if !strings.Contains(plan, "would delete") || !strings.Contains(plan, "rows of api_keys") {
			t.Errorf("plan:\n%s", plan)
		}
		export := filepath.Join(t.TempDir(), "acme.zip")
		s.refuses("--yes", "org", "delete", "acme", "--export", export)
		deleted := s.does("org", "delete", "acme", "--export", export, "--yes")
		if deleted["erase_at"] == nil || deleted["exported"].(map[string]any)["contacts.jsonl"] != 1.0 {
			t.Errorf("deleted %v", deleted)
		}
		if info, err := os.Stat(export); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("export %v, %v", info, err)
		}
		checkExport(t, export)
		s.refuses("deleted before", "org", "delete", "acme", "--no-export", "--yes")
		s.refuses("exists", "org", "delete", "bolt", "--export", export, "--yes")

		answers(t, lists, key, 401, "The organization acme was deleted")
		answers(t, lists, token, 401, "The organization acme was deleted")
		status, response := tokens(t, port+1, "/oauth/token", client, "grant_type", "client_credentials")
		if status != 400 || !strings.Contains(fmt.Sprint(response["error_description"]), "was deleted") {
			t.Errorf("a token request gets %d %v", status, response)
		}
		answers(t, lists, other, 200, `"data"`)
		listed, err := json.Marshal(s.does("org", "list"))
		if err != nil || strings.Count(string(listed), `"deleted_at"`) != 1 {
			t.Errorf("listed %s, %v", listed, err)
		}

		if restored := s.does("org", "restore", "acme"); restored["deleted_at"] != nil || restored["erase_at"] != nil {
			t.Errorf("restored %v", restored)
		}
		s.refuses("not deleted", "org", "restore", "acme")
		answers(t, lists, key, 200, `"data"`)
		tokenFor(t, port+1, client)
	})
}

// checkExport checks that the archive has the contact and the definitions.
func checkExport(t *testing.T, path string) {
	t.Helper()
	archive, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close() //nolint:errcheck // read only
	sizes := map[string]uint64{}
	for _, f := range archive.File {
		sizes[f.Name] = f.UncompressedSize64
	}
	if sizes["contacts.jsonl"] == 0 || sizes["definitions/mailhelm.json"] == 0 || sizes["README.txt"] == 0 {
		t.Errorf("files %v", sizes)
	}
}
