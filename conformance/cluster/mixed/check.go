package mixed

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	_ "github.com/lib/pq" // the driver of the queries
)

// checkTime limits the check of the calls of one key.
const checkTime = 5 * time.Minute

// Check waits until the installation has finished everything, and compares its database with what
// callers know. It returns the figures as lines of a table. Failures are in the journal.
func (w *Work) Check(ctx context.Context) string {
	db, err := sql.Open("postgres", w.Database)
	if err != nil {
		w.Journal.fail("%v", err)
		return ""
	}
	defer db.Close() //nolint:errcheck // it has written nothing
	w.await(ctx, db)
	began := time.Now()
	history := w.history.complete()
	unknown := len(history) - w.history.size()
	if why := refusal(history, checkTime); why != "" {
		w.Journal.fail("%s", why)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| reads and writes of %d registers, linearizable; of them never answered; time of the check | %d; %d; %v |\n", w.Keys, len(history), unknown, time.Since(began).Round(time.Millisecond))
	b.WriteString(w.checkActivities(ctx, db))
	b.WriteString(w.checkBroadcasts(ctx, db))
	b.WriteString(w.checkRuns(ctx, db))
	b.WriteString(w.checkMails(ctx, db))
	return b.String()
}

// await waits until nothing is left to do.
func (w *Work) await(ctx context.Context, db *sql.DB) {
	ctx, cancel := context.WithTimeout(ctx, w.Drain)
	defer cancel()
	for _, left := range [][2]string{
		{"recipients are pending", `SELECT count(*) FROM handover_recipients WHERE org_id = $1 AND state = 'pending'`},
		{"broadcasts have not begun", `SELECT count(*) FROM broadcasts WHERE org_id = $1 AND state = 'scheduled'`},
		{"runs are active", `SELECT count(*) FROM workflow_runs WHERE org_id = $1 AND status = 'active'`},
		{"messages are not processed", `SELECT count(*) FROM received_mail WHERE org_id = $1`},
		{"deliveries are due", `SELECT count(*) FROM receiving_deliveries WHERE org_id = $1 AND due_at IS NOT NULL`},
	} {
		for n := 1; n > 0; {
			if err := db.QueryRowContext(ctx, left[1], w.Org).Scan(&n); err != nil {
				w.Journal.fail("%s: %v", left[0], err)
				return
			}
			if n > 0 {
				select {
				case <-time.After(200 * time.Millisecond):
				case <-ctx.Done():
					w.Journal.fail("%s: %d", left[0], n)
					return
				}
			}
		}
	}
	// The entry of the last activities into the workflow has no row that shows it.
	for w.count(ctx, db, `SELECT count(*) FROM workflow_runs WHERE org_id = $1 AND status = 'completed'`) < len(w.runs) && ctx.Err() == nil {
		<-time.After(200 * time.Millisecond)
	}
}

func (w *Work) count(ctx context.Context, db *sql.DB, query string) (n int) {
	if err := db.QueryRowContext(ctx, query, w.Org).Scan(&n); err != nil {
		w.Journal.fail("%s: %v", query, err)
	}
	return n
}

// rows calls take with the texts of each row.
func (w *Work) rows(ctx context.Context, db *sql.DB, query string, columns int, take func(c []string)) {
	rows, err := db.QueryContext(ctx, query, w.Org)
	if err != nil {
		w.Journal.fail("%s: %v", query, err)
		return
	}
	defer rows.Close()
	for rows.Next() {
		texts, into := make([]string, columns), make([]any, columns)
		for i := range texts {
			into[i] = &texts[i]
		}
		if err := rows.Scan(into...); err != nil {
			w.Journal.fail("%s: %v", query, err)
			return
		}
		take(texts)
	}
	if err := rows.Err(); err != nil {
		w.Journal.fail("%s: %v", query, err)
	}
}

// checkActivities checks that each activity is stored once.
func (w *Work) checkActivities(ctx context.Context, db *sql.DB) string {
	stored := map[int]int{}
	w.rows(ctx, db, `SELECT properties FROM activities WHERE org_id = $1 AND name = 'counted'`, 1, func(c []string) {
		var properties struct{ N int }
		if err := json.Unmarshal([]byte(c[0]), &properties); err != nil {
			w.Journal.fail("activity %s: %v", c[0], err)
		}
		stored[properties.N]++
	})
	for n := range w.activities {
		if stored[n] == 0 {
			w.Journal.fail("the activity %d was accepted and is not stored", n)
		}
	}
	for n, times := range stored {
		if times > 1 {
			w.Journal.fail("the activity %d is stored %d times", n, times)
		}
	}
	return fmt.Sprintf("| activities, each once | %d |\n", len(w.activities))
}

// checkBroadcasts compares the state of each recipient with the messages that the account accepted.
// If a worker is killed between the account's answer and its record, the outcome stays unknown, and
// the recipient gets no second message.
func (w *Work) checkBroadcasts(ctx context.Context, db *sql.DB) string {
	numbers := map[string]int{}
	for n, id := range w.broadcasts {
		numbers[id] = n
	}
	of, recipients := map[string]int{}, map[int]int{}
	w.rows(ctx, db, `SELECT b.id, h.email, h.state, h.reason FROM broadcasts AS b
		JOIN handover_recipients AS h ON h.org_id = b.org_id AND h.send_id = b.id WHERE b.org_id = $1`, 4, func(c []string) {
		n, sent := numbers[c[0]]
		if !sent {
			return // its caller has no answer
		}
		recipients[n]++
		copies := w.Account.copies(delivery{fmt.Sprintf("news-%d", n), c[1]})
		state := c[2]
		if state == "sent" && copies != 1 || copies > 1 || copies == 1 && state == "filtered" {
			w.Journal.fail("the recipient %s of broadcast %d is %s %s and got %d messages", c[1], n, state, c[3], copies)
		}
		if state != "sent" {
			state = strings.TrimSpace(fmt.Sprintf("%s %s with %d messages", state, c[3], copies))
		}
		of[state]++
	})
	for n := range w.broadcasts {
		if recipients[n] != w.Recipients {
			w.Journal.fail("the broadcast %d has %d recipients, want %d", n, recipients[n], w.Recipients)
		}
	}
	return fmt.Sprintf("| broadcasts to %d recipients, their outcomes, none with two messages | %d, %v |\n", w.Recipients, len(w.broadcasts), of)
}

// checkRuns checks that each contact that entered has one run, which took each step once.
func (w *Work) checkRuns(ctx context.Context, db *sql.DB) string {
	const want = "enrolled|0 step_entered|1 step_entered|2 step_entered|2 completed"
	timelines := map[string][]string{}
	w.rows(ctx, db, `SELECT c.email, e.node_path, e.event_type FROM workflow_events AS e
		JOIN workflow_runs AS r ON r.org_id = e.org_id AND r.workflow_id = e.workflow_id AND r.id = e.run_id
		JOIN contacts AS c ON c.org_id = r.org_id AND c.id = r.contact_id WHERE e.org_id = $1 ORDER BY e.run_id, e.id`, 3, func(c []string) {
		timelines[c[0]] = append(timelines[c[0]], strings.TrimSpace(c[1]+" "+c[2]))
	})
	for _, n := range slices.Sorted(maps.Keys(w.runs)) {
		if got := strings.Join(timelines[runnerOf(n)], "|"); got != want {
			w.Journal.fail("the steps of %s are %s, want %s", runnerOf(n), got, want)
		}
	}
	return fmt.Sprintf("| runs of a workflow, each step once | %d |\n", len(w.runs))
}

// checkMails checks that each message that got 250 is stored once, and reached the webhook under one
// id. An attempt without an answer may have left the message once.
func (w *Work) checkMails(ctx context.Context, db *sql.DB) string {
	stored := map[string]int{}
	w.rows(ctx, db, `SELECT c.content FROM receiving_messages AS l
		JOIN receiving_contents AS c ON c.org_id = l.org_id AND c.message_id = l.message_id WHERE l.org_id = $1`, 1, func(c []string) {
		var message struct{ Subject string }
		if err := json.Unmarshal([]byte(c[0]), &message); err != nil {
			w.Journal.fail("a received message: %v", err)
		}
		stored[message.Subject]++
	})
	accepted, unanswered := 0, 0
	for _, m := range w.mails {
		n, hooks := stored[m.subject], w.Hook.deliveries(m.subject)
		switch {
		case m.accepted:
			accepted++
			if n != 1 || hooks != 1 {
				w.Journal.fail("the message %s got 250, is stored %d times and came under %d webhook-ids", m.subject, n, hooks)
			}
		case n > 1 || n != hooks || n == 1 && !m.data:
			w.Journal.fail("the message %s got no 250, is stored %d times and came under %d webhook-ids", m.subject, n, hooks)
		default:
			unanswered += n
		}
	}
	return fmt.Sprintf("| messages received with 250, each stored once and delivered under one id; without 250 and stored | %d; %d |\n", accepted, unanswered)
}
