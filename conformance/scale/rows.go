package scale

import (
	"context"
	"fmt"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/storage"
)

// The SQL expressions of the rows. i.n numbers them from 1. shuffled is a number of ten digits
// whose order is not that of i.n, as of addresses; ids are of the length of real ones and grow.
const (
	shuffled  = `substr('0000000000' || CAST((i.n * 2654435761) % 4294967296 AS text), -10 + length('0000000000' || CAST((i.n * 2654435761) % 4294967296 AS text)) + 1, 10)`
	number    = `substr('000000000000' || CAST(i.n AS text), length(CAST(i.n AS text)) + 1)`
	id        = `'0190a000-0000-7000-8000-' || ` + number
	messageID = `'0190a0000000-0190a000-0000-7000-8000-' || ` + number + ` || '-000000'`
	address   = `'person.' || ` + shuffled + ` || '@example.com'`
	at        = `1764000000000000 + i.n * 1000000`
	other     = `'0190a000-0000-7000-8000-000000000001'` // a list, segment or workflow
)

// rows has the statements that write one unit for each number i.n, by the unit. $1 is the
// organization. A unit has the rows that a call leaves for it, with contents of usual length.
var rows = map[string][]string{
	Contact: {
		`INSERT INTO contacts (org_id, id, email, email_key, external_id, status, attributes, topic_preferences, unsubscribe_all, created_at, updated_at)
			SELECT CAST($1 AS text), ` + id + `, ` + address + `, ` + address + `, 'crm-' || ` + shuffled + `, 'active',
			'{"city":"Lisbon","company":"Example Ltd","first_name":"Ada","mrr":129.5,"plan":"pro"}', '{"news":"OPT_IN"}', FALSE, ` + at + `, ` + at + ` FROM i`,
		`INSERT INTO contact_slots (org_id, contact_id, s1, s2, s3, s4, n1)
			SELECT CAST($1 AS text), ` + id + `, 'Lisbon', 'Example Ltd', 'Ada', CASE WHEN i.n % 5 = 0 THEN 'pro' ELSE 'free' END, i.n % 500 FROM i`,
		`INSERT INTO contact_topics (org_id, contact_id, topic, subscription) SELECT CAST($1 AS text), ` + id + `, 'news', 'OPT_IN' FROM i`,
		`INSERT INTO list_members (org_id, list_id, contact_id, added_at) SELECT CAST($1 AS text), ` + other + `, ` + id + `, ` + at + ` FROM i`,
		`INSERT INTO segment_members (org_id, segment_id, contact_id, entered_at) SELECT CAST($1 AS text), ` + other + `, ` + id + `, ` + at + ` FROM i`,
	},
	Message: {
		`INSERT INTO messages (org_id, id, sender, recipient, identity, sent_at, status, rank, last_event_at, channel, subject, template, test)
			SELECT CAST($1 AS text), ` + messageID + `, 'Example <news@example.com>', ` + address + `, 'example.com', ` + at + `, 'Delivery', 3, ` + at + `, 'marketing',
			'What is new at Example this week', 'newsletter', FALSE FROM i`,
		`INSERT INTO message_recipients (org_id, recipient, sent_at, message_id) SELECT CAST($1 AS text), ` + address + `, ` + at + `, ` + messageID + ` FROM i`,
	},
	MessageEvent: {
		`INSERT INTO message_events (org_id, occurred_at, id, message_id, type, recipient, recipient_key, channel, identity, template, test, metadata, recorded_at)
			SELECT CAST($1 AS text), ` + at + `, ` + id + `, ` + messageID + `, CASE WHEN i.n % 3 = 0 THEN 'Open' ELSE 'Delivery' END, ` + address + `, ` + address + `,
			'marketing', 'example.com', 'newsletter', FALSE, CASE WHEN i.n % 3 = 0 THEN '{"user_agent":"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)"}' END, ` + at + ` FROM i`,
	},
	Activity: {
		`INSERT INTO activities (org_id, occurred_at, id, contact_id, name, properties, source, received_at)
			SELECT CAST($1 AS text), ` + at + `, ` + id + `, '0190a000-0000-7000-9000-00' || ` + shuffled + `, 'order_completed',
			'{"amount":12.5,"currency":"EUR","sku":"A-1"}', 'api', ` + at + ` FROM i`,
	},
	Run: {
		`INSERT INTO workflow_runs (org_id, workflow_id, id, version, contact_id, status, node_path, phase, until_at, wake_at, on_change, passed, passes,
			cause, source_key, started_at, completed_at, exit_kind, exit_name, faults)
			SELECT CAST($1 AS text), ` + other + `, ` + id + `, 1, '0190a000-0000-7000-9000-00' || ` + shuffled + `, 'completed', 'welcome/3', '', NULL, NULL, FALSE, FALSE, '',
			'activity', ` + id + `, ` + at + `, ` + at + `, 'end', 'finished', 0 FROM i`,
		`INSERT INTO workflow_events (org_id, workflow_id, run_id, id, version, node_path, event_type, occurred_at, iteration, arm, tier, reason, exit_kind, exit_name, detail)
			SELECT CAST($1 AS text), ` + other + `, ` + id + `, ` + id + ` || '-' || k.n, 1, 'welcome/' || k.n, 'node_entered', ` + at + `, 0, '', '', '', '', '', ''
			FROM i CROSS JOIN (SELECT 1 AS n UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6) AS k`,
	},
}

// chunk is the number of units that one statement writes.
const chunk = 1000

// write writes the units of the kind with the numbers from first to last. The organization
// needs a list and a segment for contacts.
func write(ctx context.Context, db *storage.DB, orgID, unit string, first, last int) error {
	for from := first; from <= last; from += chunk {
		series := fmt.Sprintf(`WITH RECURSIVE i (n) AS (SELECT CAST(%d AS bigint) UNION ALL SELECT i.n + 1 FROM i WHERE i.n < %d) `, from, min(last, from+chunk-1))
		for _, text := range rows[unit] {
			if _, err := db.Writer().ExecContext(ctx, series+text, orgID); err != nil {
				return fmt.Errorf("scale: %.40s: %w", text, err)
			}
		}
	}
	return nil
}

// newOrg returns the id of an organization with the list and the segment that contacts are in.
func newOrg(ctx context.Context, db *storage.DB) (string, error) {
	orgID := core.NewID()
	for _, text := range []string{
		`INSERT INTO lists (org_id, id, key, name, description, search, source, origin, source_path, status, created_at, updated_at)
			VALUES ($1, ` + other + `, 'all', 'All', '', 'all', '', 'managed', '', 'active', 1, 1)`,
		`INSERT INTO segments (org_id, id, key, name, description, search, source, profile_version, eval_class, status, eval_warning, member_count, origin,
			source_path, created_at, updated_at)
			VALUES ($1, ` + other + `, 'all', 'All', '', 'all', 'exists(open)', 1, 'incremental', 'active', '', 0, 'managed', '', 1, 1)`,
	} {
		if _, err := db.Writer().ExecContext(ctx, text, orgID); err != nil {
			return "", err
		}
	}
	return orgID, nil
}

// Bytes is what the rows of one unit occupy.
type Bytes struct{ Heap, Indexes int64 }

// measure writes n units and returns the bytes of each. The first chunk is written before, so
// that what an empty table and its indexes occupy does not count. On SQLite all bytes are in
// Heap, because the file has tables and indexes alike.
func measure(ctx context.Context, db *storage.DB, orgID, unit string, n int) (Bytes, error) {
	if err := write(ctx, db, orgID, unit, 1, chunk); err != nil {
		return Bytes{}, err
	}
	before, err := size(ctx, db, unit)
	if err != nil {
		return Bytes{}, err
	}
	if err := write(ctx, db, orgID, unit, chunk+1, chunk+n); err != nil {
		return Bytes{}, err
	}
	after, err := size(ctx, db, unit)
	return Bytes{(after.Heap - before.Heap) / int64(n), (after.Indexes - before.Indexes) / int64(n)}, err
}

// size returns the bytes of the tables of a unit, and on SQLite of the database.
func size(ctx context.Context, db *storage.DB, unit string) (Bytes, error) {
	var b Bytes
	if db.Engine() == "sqlite" {
		err := db.Reader().QueryRowContext(ctx, `SELECT (c.page_count - f.freelist_count) * s.page_size
			FROM pragma_page_count AS c, pragma_freelist_count AS f, pragma_page_size AS s`).Scan(&b.Heap)
		return b, err
	}
	for _, text := range rows[unit] {
		name := strings.Fields(text)[2]
		var heap, indexes int64
		if err := db.Reader().QueryRowContext(ctx, `
			SELECT coalesce(sum(pg_table_size(relid)), pg_table_size('`+name+`')), coalesce(sum(pg_indexes_size(relid)), pg_indexes_size('`+name+`'))
			FROM pg_partition_tree('`+name+`')`).Scan(&heap, &indexes); err != nil {
			return b, err
		}
		b.Heap += heap
		b.Indexes += indexes
	}
	return b, nil
}
