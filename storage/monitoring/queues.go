package monitoring

import (
	"fmt"
	"strings"

	"github.com/mailhelm/mailhelm/storage/engine"
)

// queue is a table that processes work off, apart from the job queue. Its text is a SELECT of
// the number of waiting items, as waiting, and of the time since which the oldest one waits,
// as oldest. In it $1 is the current time, $2 limitOfQueue and $3 limitOfParent.
type queue struct{ name, text string }

// queues are all queues, sorted by name. Conditions repeat those of partial indexes, so that
// SQLite uses these.
var queues = []queue{
	{"broadcast_recipients", `
		SELECT CAST(coalesce(sum(coalesce(b.audience_size, 0) - b.sent - b.failed - b.filtered), 0) AS bigint) AS waiting,
			min((SELECT r.not_before FROM handover_recipients AS r
				WHERE r.org_id = b.org_id AND r.send_id = b.id AND r.state = 'pending' ORDER BY r.not_before LIMIT 1)) AS oldest
		FROM broadcasts AS b WHERE b.state IN ('scheduled', 'sending') AND b.state = 'sending' AND b.paused = ''`},
	{"broadcast_starts", first("schedule_at", "broadcasts", "state IN ('scheduled', 'sending') AND state = 'scheduled' AND paused NOT IN ('person', 'cannot_be_sent') AND schedule_at <= $1", "schedule_at")},
	{"bulk_writes", first("created_at", "bulk_jobs", "completed_at IS NULL", "org_id, created_at")},
	{"contact_imports", first("created_at", "contact_uploads", "status IN ('checking', 'importing')", "org_id, created_at")},
	{"contact_pushes", first("queued_at", "contact_pushes", "next_at <= $1", "")},
	{"dmarc_digests", first("digest_at", "domainauth_subscriptions", "digest_at <= $1", "digest_at")},
	{"dmarc_mails", first("due_at", "domainauth_notices", "due_at <= $1", "due_at")},
	{"dmarc_measurements", first("measure_at", "domainauth_domains", "measure_at <= $1", "measure_at")},
	{"dmarc_reports", first("due_at", "domainauth_files", "due_at <= $1", "due_at")},
	{"event_webhooks", ofParents("webhook_endpoints AS p", "p.enabled AND p.deleted_at IS NULL",
		"due_at", "webhook_deliveries", "c.endpoint_id = p.id AND c.due_at <= $1")},
	{"handovers", first("changed_at", "handover_recipients", "state = 'handing_over'", "org_id, changed_at")},
	{"received_mail", first("received_at", "received_mail", "TRUE", "due_at, id")},
	{"receiving_checks", first("check_at", "receiving_domains", "check_at <= $1", "check_at")},
	{"receiving_publications", first("publish_at", "receiving_domains", "publish_at <= $1", "publish_at")},
	{"receiving_webhooks", ofParents("receiving_domains AS p", "p.webhook_url <> '' AND p.deleted_at IS NULL",
		"due_at", "receiving_deliveries", "c.domain_id = p.id AND c.due_at <= $1")},
	{"workflow_entries", ofParents("workflows AS p", "p.open", "id", "workflow_entries", "c.workflow_id = p.id")},
	{"workflow_messages", ofParents("workflow_sends AS p", "TRUE",
		"not_before", "handover_recipients", "c.send_id = p.id AND c.state = 'pending' AND c.not_before <= $1")},
	{"workflow_timers", ofParents("workflows AS p", "p.open", "wake_at", "workflow_runs", "c.workflow_id = p.id AND c.wake_at <= $1")},
}

// withoutAge are the queues whose items have no time since which they wait.
var withoutAge = map[string]bool{"workflow_entries": true}

// Queues returns the names of all queues, sorted.
func Queues() []string {
	names := make([]string, len(queues))
	for i, q := range queues {
		names[i] = q.name
	}
	return names
}

// HasAge reports whether the items of the queue have a time since which they wait. The
// entries of workflows have none, because the time of an activity can be long ago.
func HasAge(queue string) bool { return !withoutAge[queue] }

// first returns the text of a queue that one index has in order: the first rows of the table
// with the condition, ordered by these columns. The column since has the time of an item. If
// order is "", the table has no such index, and only rows that wait.
func first(since, table, condition, order string) string {
	if order != "" {
		order = " ORDER BY " + order
	}
	return fmt.Sprintf(`
		SELECT count(*) AS waiting, min(since) AS oldest FROM (
			SELECT %s AS since FROM %s WHERE %s%s LIMIT $2) AS %s_first`, since, table, condition, order, table)
}

// ofParents returns the text of a queue that an index has in order for each row of another
// table: parents is that table AS p, with a condition. The table has the items, as c, and the
// column is the time of an item and the order of the index.
func ofParents(parents, which, column, table, condition string) string {
	oldest := fmt.Sprintf(`(SELECT c.%[1]s FROM %[2]s AS c WHERE c.org_id = p.org_id AND %[3]s ORDER BY c.%[1]s LIMIT 1)`, column, table, condition)
	if withoutAge[table] {
		oldest = `CAST(NULL AS bigint)`
	}
	return fmt.Sprintf(`
		SELECT CAST(coalesce(sum(parent.items), 0) AS bigint) AS waiting, min(parent.oldest) AS oldest FROM (
			SELECT (SELECT count(*) FROM (
				SELECT 1 AS one FROM %[1]s AS c WHERE c.org_id = p.org_id AND %[2]s ORDER BY c.%[3]s LIMIT $3) AS counted) AS items,
			%[4]s AS oldest FROM %[5]s WHERE %[6]s) AS parent`, table, condition, column, oldest, parents, which)
}

// backlogs reads all queues in one statement.
var backlogs = engine.Register("backlogs", backlogsText())

// backlogsText returns a statement with a row for each queue.
func backlogsText() string {
	var each []string
	for _, q := range queues {
		each = append(each, fmt.Sprintf(`SELECT CAST('%s' AS text) AS queue, q.waiting, q.oldest FROM (%s) AS q`, q.name, q.text))
	}
	return strings.Join(each, "\n\tUNION ALL\n\t")
}
