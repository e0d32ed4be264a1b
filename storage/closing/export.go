package closing

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/mailhelm/mailhelm/core/closing"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// exportPage is the number of rows of one page.
const exportPage = 1000

// exportStore is [closing.ExportStore].
type exportStore struct{ db *engine.DB }

// NewExportStore returns the store that reads the rows of exports.
func NewExportStore(db *engine.DB) closing.ExportStore { return exportStore{db} }

// exported is a file of an export.
type exported struct {
	file string
	// count counts the rows of the file.
	count *engine.Statement
	// page selects rows after a position, in the order of keys.
	page *engine.Statement
	// keys are the names of the columns with the position of a row, first the position before
	// all rows.
	keys  []string
	first []any
}

var exportedFiles = []exported{
	exportOf("contacts.jsonl", "contacts AS c", "c.org_id", []string{"c.id"}, []any{""},
		`c.id, c.email, c.external_id, c.status, c.attributes, c.unsubscribe_all, c.created_at, c.updated_at, c.consent_changes`),
	exportOf("topic-choices.jsonl", "contact_topics AS t JOIN contacts AS c ON c.org_id = t.org_id AND c.id = t.contact_id", "t.org_id",
		[]string{"t.contact_id", "t.topic"}, []any{"", ""}, `t.contact_id, c.email, t.topic, t.subscription`),
	exportOf("list-members.jsonl", `list_members AS m JOIN lists AS l ON l.org_id = m.org_id AND l.id = m.list_id
			JOIN contacts AS c ON c.org_id = m.org_id AND c.id = m.contact_id`, "m.org_id",
		[]string{"m.list_id", "m.contact_id"}, []any{"", ""}, `m.list_id, l.key AS list, m.contact_id, c.email, m.added_at`),
	exportOf("suppressed-addresses.jsonl", "suppressed_addresses AS s", "s.org_id", []string{"s.email_key"}, []any{""}, `s.email_key`),
	exportOf("undeliverable.jsonl", "undeliverable AS u", "u.org_id", []string{"u.email_key"}, []any{""},
		`u.email_key, u.email, u.status, u.reason, u.first_seen_at, u.last_seen_at, u.event_count, u.excluded_at, u.exclusion_reason`),
	exportOf("messages.jsonl", "messages AS m", "m.org_id", []string{"m.id"}, []any{""},
		`m.id, m.sender, m.recipient, m.subject, m.template, m.channel, m.identity, m.status, m.test, m.sent_at, m.last_event_at`),
	exportOf("message-events.jsonl", "message_events AS e", "e.org_id", []string{"e.occurred_at", "e.id"}, []any{int64(math.MinInt64), ""},
		`e.occurred_at, e.id, e.message_id, e.type, e.recipient, e.bounce_type, e.bounce_sub_type, e.test, e.metadata`),
}

// exportOf registers the statements of a file. from names the tables, org the column with the
// organization, keys the columns of the position, and first the position before all rows.
func exportOf(file, from, org string, keys []string, first []any, columns string) exported {
	position := make([]string, len(keys))
	for i := range keys {
		position[i] = fmt.Sprintf("$%d", i+2)
	}
	all := strings.Join(keys, ", ")
	return exported{
		file: file, keys: keys, first: first,
		count: engine.Register("count export of "+file, `SELECT count(*) FROM `+from+` WHERE `+org+` = $1`),
		page: engine.Register("export "+file, `
			SELECT `+columns+` FROM `+from+` WHERE `+org+` = $1 AND (`+all+`) > (`+strings.Join(position, ", ")+`)
			ORDER BY `+all+` LIMIT `+fmt.Sprintf("$%d", len(keys)+2)),
	}
}

func (s exportStore) ExportFiles() []string {
	files := make([]string, len(exportedFiles))
	for i, e := range exportedFiles {
		files[i] = e.file
	}
	return files
}

func (s exportStore) CountExport(ctx context.Context, orgID string) (int, error) {
	total := 0
	for _, e := range exportedFiles {
		n, err := engine.Values[int](ctx, s.db, e.count, orgID)
		if err != nil {
			return 0, err
		}
		total += n[0]
	}
	return total, nil
}

func (s exportStore) ExportPage(ctx context.Context, file, orgID string, after []any) ([]json.RawMessage, []any, error) {
	for _, e := range exportedFiles {
		if e.file == file {
			return s.page(ctx, e, orgID, after)
		}
	}
	return nil, nil, fmt.Errorf("storage: an export has no file %q", file)
}

// page returns rows of a file, and the position of the last one if others follow.
func (s exportStore) page(ctx context.Context, e exported, orgID string, after []any) ([]json.RawMessage, []any, error) {
	if after == nil {
		after = e.first
	}
	var rows []json.RawMessage
	var next []any
	args := append(append([]any{orgID}, after...), exportPage)
	err := s.db.Each(ctx, e.page, args, func(found *sqlx.Rows) error {
		row := map[string]any{}
		if err := found.MapScan(row); err != nil {
			return err
		}
		next = next[:0]
		for _, key := range e.keys {
			next = append(next, positionValue(row[key[strings.IndexByte(key, '.')+1:]]))
		}
		for name, value := range row {
			row[name] = exportedValue(name, value)
		}
		text, err := json.Marshal(row)
		rows = append(rows, text)
		return err
	})
	if err != nil || len(rows) < exportPage {
		return rows, nil, err
	}
	return rows, next, nil
}

// positionValue returns a value of a row as a parameter of the next page.
func positionValue(value any) any {
	if text, ok := value.([]byte); ok {
		return string(text)
	}
	return value
}

// exportedValue returns the value of a column as it is in the export: times in RFC 3339, JSON
// as it is, and truth values as such on both databases.
func exportedValue(name string, value any) any {
	if text, ok := value.([]byte); ok {
		value = string(text)
	}
	switch v := value.(type) {
	case int64:
		switch {
		case strings.HasSuffix(name, "_at"):
			return time.UnixMicro(v).UTC().Format(time.RFC3339Nano)
		case name == "unsubscribe_all" || name == "test":
			return v != 0
		}
	case string:
		if (name == "attributes" || name == "metadata" || name == "consent_changes") && json.Valid([]byte(v)) {
			return json.RawMessage(v)
		}
	}
	return value
}
