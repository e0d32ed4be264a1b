package overview

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	dto "github.com/prometheus/client_model/go"
)

// table is a table of the page. Empty says what a table without rows means.
type table struct {
	Title   string
	Lead    string
	Columns []string
	Rows    []row
	Empty   string
}

// row is a row of a table: its name and the values of the other columns. Late marks what needs
// the attention of the operator.
type row struct {
	Name   string
	Values []string
	Late   bool
}

const (
	// lateWork is the age in seconds from which waiting work is marked. The alert MailhelmWorkLate
	// has the same limit.
	lateWork = 300
	// lateSync is that of the last sync, as of the alert MailhelmSyncStale.
	lateSync = 3600
	// lateMail is that of received mail, as of the alert MailhelmReceivedMailLate.
	lateMail = 60
	// lateImport is that of imports and bulk writes, as of the alert MailhelmImportsLate.
	lateImport = 7200
)

// lateAfter has the queues whose work may wait for another time than lateWork. The recipients
// of a broadcast wait as long as its speed requires.
var lateAfter = map[string]float64{
	"received_mail": lateMail, "broadcast_recipients": math.Inf(1),
	"bulk_writes": lateImport, "contact_imports": lateImport, "contact_pushes": lateImport,
}

// queues returns the queues of the whole database in which work waits.
func queues(r reading) table {
	t := table{
		Title: "Waiting work", Lead: "Of all organizations and processes.",
		Columns: []string{"Queue", "Waiting", "Oldest"}, Empty: "Nothing waits.",
	}
	oldest := map[string]float64{}
	r.each("mailhelm_queue_oldest_seconds", func(labels map[string]string, v float64, _ *dto.Metric) { oldest[labels["queue"]] = v })
	r.each("mailhelm_queue_waiting", func(labels map[string]string, waiting float64, _ *dto.Metric) {
		if math.IsNaN(waiting) {
			t.Empty = "The database has not answered yet."
			return
		}
		if waiting <= 0 {
			return
		}
		queue, waits := labels["queue"], "–"
		seconds, known := oldest[queue]
		if known {
			waits = age(seconds)
		}
		t.Rows = append(t.Rows, row{name(queue), []string{count(waiting), waits}, seconds > cmp.Or(lateAfter[queue], lateWork)})
	})
	return t
}

// jobs returns the jobs of the whole database that run, wait or have failed, by kind.
func jobs(r reading) table {
	t := table{
		Title: "Background jobs", Lead: "Discarded jobs failed at their last attempt. The log has the reason, with the kind.",
		Columns: []string{"Kind", "Due", "Running", "Failed, runs again", "Discarded"}, Empty: "No job is due, running or failed.",
	}
	byKind := map[string]map[string]float64{}
	r.each("mailhelm_jobs", func(labels map[string]string, n float64, _ *dto.Metric) {
		kind := labels["kind"]
		if byKind[kind] == nil {
			byKind[kind] = map[string]float64{}
		}
		byKind[kind][labels["state"]] = n
	})
	for _, kind := range slices.Sorted(maps.Keys(byKind)) {
		n := byKind[kind]
		if !(n["available"]+n["running"]+n["retryable"]+n["discarded"] > 0) { // also true if not a number
			continue
		}
		t.Rows = append(t.Rows, row{kind, []string{
			count(n["available"]), count(n["running"]), count(n["retryable"]), count(n["discarded"]),
		}, n["discarded"] > 0})
	}
	return t
}

// pools returns the connections of the process to the database.
func pools(r reading) table {
	t := table{
		Title: "Database connections", Lead: "Of this process.",
		Columns: []string{"Pool", "In use", "Idle", "Limit", "Waiting now", "Refused"},
	}
	value := func(metric, pool, state string) float64 {
		return r.sum(metric, func(labels map[string]string) bool {
			return labels["pool"] == pool && labels["state"] == state
		})
	}
	r.each("mailhelm_database_connections_limit", func(labels map[string]string, limit float64, _ *dto.Metric) {
		pool := labels["pool"]
		waiting := value("mailhelm_database_waiting", pool, "")
		t.Rows = append(t.Rows, row{name(pool), []string{
			count(value("mailhelm_database_connections", pool, "in_use")), count(value("mailhelm_database_connections", pool, "idle")),
			count(limit), count(waiting), count(value("mailhelm_database_refused_total", pool, "")),
		}, waiting > 0})
	})
	return t
}

// replica returns the reads of the replica, and no table without a replica.
func replica(r reading) []table {
	configured := r.sum("mailhelm_database_connections_limit", func(labels map[string]string) bool { return labels["pool"] == "replica" }) > 0
	if !configured {
		return nil
	}
	t := table{
		Title: "Database replica", Lead: "Its data may be " + age(r.sum("mailhelm_database_replica_lag_seconds", nil)) + " old now.",
		Columns: []string{"Reads since the start", "Number"},
		Rows:    []row{{"Answered by the replica", []string{count(r.sum("mailhelm_database_replica_reads_total", nil))}, false}},
	}
	r.each("mailhelm_database_replica_fallbacks_total", func(labels map[string]string, n float64, _ *dto.Metric) {
		if n > 0 {
			t.Rows = append(t.Rows, row{"Answered by the primary: " + fallbacks[labels["reason"]], []string{count(n)}, false})
		}
	})
	return []table{t}
}

// fallbacks explains the values of the label reason.
var fallbacks = map[string]string{
	"lag": "the replica was too old", "unreachable": "the replica did not answer", "promoted": "the replica is a primary now",
	"own_writes": "the replica did not have an earlier write yet", "failed": "the replica failed during the read",
}

// syncs returns when the sending accounts were last read.
func syncs(r reading) table {
	t := table{
		Title: "Sending accounts", Lead: "What was last read from the accounts of all organizations.",
		Columns: []string{"Kind", "Last success", "Failing organizations"},
	}
	failing := map[string]float64{}
	r.each("mailhelm_sync_failing_organizations", func(labels map[string]string, n float64, _ *dto.Metric) { failing[labels["kind"]] = n })
	r.each("mailhelm_sync_success_timestamp_seconds", func(labels map[string]string, seconds float64, _ *dto.Metric) {
		kind, succeeded, late := labels["kind"], "never", false
		switch ago := float64(r.at.UnixMilli())/1000 - seconds; {
		case math.IsNaN(seconds):
			succeeded = "–"
		case seconds > 0:
			succeeded, late = fmt.Sprintf("%s ago", age(max(0, ago))), ago > lateSync
		}
		fails := "–"
		if !math.IsNaN(failing[kind]) {
			fails = count(failing[kind])
		}
		t.Rows = append(t.Rows, row{name(kind), []string{succeeded, fails}, late || failing[kind] > 0})
	})
	return t
}

// processes returns the processes on the database by role.
func processes(r reading) table {
	t := table{Title: "Processes on the database", Columns: []string{"Role", "Running"}}
	r.each("mailhelm_processes", func(labels map[string]string, n float64, _ *dto.Metric) {
		if n > 0 {
			t.Rows = append(t.Rows, row{labels["role"], []string{count(n)}, false})
		}
	})
	return t
}
