package closing_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/mailhelm/mailhelm/core/people/peopletest"
)

// fillExport stores n contacts of an organization, and one row in each other file of an
// export. Every row has the id of the organization.
func fillExport(h *peopletest.House, orgID string, n int) {
	h.T.Helper()
	ctx := h.T.Context()
	tx, err := h.DB.Writer().BeginTx(ctx, nil)
	h.Must(err)
	exec := func(statement string, args ...any) {
		h.T.Helper()
		_, err := tx.ExecContext(ctx, statement, args...)
		h.Must(err)
	}
	for i := range n {
		id := fmt.Sprintf("%s-%05d", orgID, i)
		exec(`INSERT INTO contacts (org_id, id, email, email_key, status, attributes, topic_preferences, unsubscribe_all, created_at, updated_at)
			VALUES ($1, $2, $3, $4, 'active', '{"plan":"pro"}', '[]', FALSE, 1, 1)`, orgID, id, id, id)
	}
	first := fmt.Sprintf("%s-%05d", orgID, 0)
	exec(`INSERT INTO contact_topics (org_id, contact_id, topic, subscription) VALUES ($1, $2, 'news', 'OPT_OUT')`, orgID, first)
	exec(`INSERT INTO lists (org_id, id, key, name, description, search, source, origin, source_path, status, created_at, updated_at)
		VALUES ($1, $1, 'news', 'News', '', '', 'static', 'managed', '', 'active', 1, 1)`, orgID)
	exec(`INSERT INTO list_members (org_id, list_id, contact_id, added_at) VALUES ($1, $1, $2, 1)`, orgID, first)
	exec(`INSERT INTO suppressed_addresses (org_id, email_key) VALUES ($1, $1)`, orgID)
	exec(`INSERT INTO undeliverable (org_id, email_key, id, email, status, reason, first_seen_at, last_seen_at, last_changed_at, event_count, exclusion_reason)
		VALUES ($1, $2, $3, $4, 'undeliverable', 'bounce', 1, 1, 1, 1, '')`, orgID, orgID, orgID, orgID)
	exec(`INSERT INTO messages (org_id, id, sender, recipient, identity, sent_at, status, rank, last_event_at, channel, subject, template, test)
		VALUES ($1, $1, 'a', 'b', 'i', 1, 'delivered', 1, 1, 'c', 's', 't', FALSE)`, orgID)
	exec(`INSERT INTO message_events (org_id, occurred_at, id, message_id, type, recipient, recipient_key, channel, identity, template, test, metadata, recorded_at)
		VALUES ($1, 1, $1, $1, 'Delivery', 'b', 'b', 'c', 'i', 't', FALSE, '{"a":1}', 1)`, orgID)
	h.Must(tx.Commit())
}

// unzip returns the contents of the files of a zip archive, by name.
func unzip(t *testing.T, archive []byte) map[string]string {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range r.File {
		content, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(content)
		if err != nil {
			t.Fatal(err)
		}
		files[f.Name] = string(text)
	}
	return files
}
