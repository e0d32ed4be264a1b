package faults

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

const (
	// phase is how far the clock moves when all runs wait: longer than the waits of the
	// workflow and than the patience for unknown outcomes.
	phase = 61 * time.Minute
	// phases is the most phases that the runs of a workflow may take.
	phases = 8
	// mostEvents is how many events of timelines a server adds at most before it is killed.
	mostEvents = 4000
)

// journeySize returns the numbers of kills and of contacts in a workflow.
func journeySize() (kills, contacts int) {
	if enginetest.Full() {
		return 100, 2000
	}
	return 3, 150
}

// TestKilledServersMoveRuns kills servers while all contacts of an organization enter a workflow,
// and while its steps come due for all of them at the same time. Calls of the account throttle
// and time out. Each run must take each step once, and no contact may get a message twice.
func TestKilledServersMoveRuns(t *testing.T) {
	t.Parallel()
	enginetest.EachEngine(t, func(t *testing.T, postgres bool) {
		kills, contacts := journeySize()
		j := &journeys{scene: newScene(t, postgres, false, contacts), chance: rand.New(rand.NewPCG(uint64(kills), 7))}
		j.Faults = []simulator.Fault{
			{Method: simulator.MethodSend, Kind: sending.TimedOut, TookEffect: true, Chance: 0.01},
			{Method: simulator.MethodSend, Kind: sending.TimedOut, Chance: 0.01},
			{Method: simulator.MethodSend, Kind: sending.Throttled, RetryAfter: 20 * time.Millisecond, Chance: 0.01},
		}
		j.change(t, j.prepareJourneys)
		for j.kills < kills {
			j.pass(t, kills)
		}
	})
}

// journeys is a scene whose contacts run through workflows, one after the other.
type journeys struct {
	*scene
	chance *rand.Rand
	// kills is the number of servers that were killed at a random time, number that of
	// workflows, of which id is the current one.
	kills, number int
	id            string
}

// prepareJourneys creates what the workflows name, and an activity of each contact that lets it
// enter.
func (j *journeys) prepareJourneys(ctx context.Context, h *serve.Host) error {
	db, now := h.DB(), h.Clock()()
	for _, name := range []string{"stage", "half", "done"} {
		if err := db.Attributes().InsertAttribute(ctx, j.org, attributes.Attribute{ID: core.NewID(), Name: name, Type: attributes.Number, Origin: core.ManagedOrigin, CreatedAt: now, UpdatedAt: now}); err != nil {
			return err
		}
	}
	second := lists.List{ID: core.NewID(), Key: "second", Name: "Second", Source: "api", Origin: core.ManagedOrigin, Status: "active", CreatedAt: now, UpdatedAt: now}
	content := sending.Template{Subject: "News", HTML: `<p>News</p><p><a href="{{unsubscribe_url}}">Unsubscribe</a></p>`}
	news := templates.ManagedTemplate{
		ID: core.NewID(), Slug: "news", DeployedName: "news", CreatedAt: now,
		Newest: templates.Version{Number: 1, Subject: content.Subject, HTML: content.HTML, Hash: templates.HashOf(content), SavedAt: now},
	}
	if err := errors.Join(db.Lists().InsertList(ctx, j.org, second), db.ManagedTemplates().InsertManaged(ctx, j.org, news)); err != nil {
		return err
	}
	rows, err := j.db.QueryContext(ctx, `SELECT id FROM contacts WHERE org_id = $1`, j.org)
	if err != nil {
		return err
	}
	defer rows.Close()
	var joined []activities.Activity
	for rows.Next() {
		a := activities.Activity{ID: core.NewID(), Name: "joined", OccurredAt: now, ReceivedAt: now, Source: activities.FromAPI, Properties: json.RawMessage(`{}`)}
		if err := rows.Scan(&a.ContactID); err != nil {
			return err
		}
		joined = append(joined, a)
	}
	return errors.Join(rows.Err(), db.InTx(ctx, func(ctx context.Context) error { return db.Activities().Insert(ctx, j.org, joined) }))
}

// pass activates the next workflow, lets all contacts run through it while servers are killed,
// and checks what they did.
func (j *journeys) pass(t *testing.T, kills int) {
	t.Helper()
	j.number++
	began, killed := time.Now(), j.kills
	source := fmt.Sprintf(`workflow "Journey %[1]d" v1 {
		enter on activity.joined
		enroll existing since 7 days
		set attr.stage = %[1]d
		wait 1 hour
		split {
		  50%%: { set attr.half = %[1]d }
		  50%%: { add to list "second" }
		}
		if attr.stage = %[1]d { send "news" }
		wait 1 hour
		send "news"
		set attr.done = %[1]d
	}`, j.number)
	j.change(t, func(ctx context.Context, h *serve.Host) error {
		saved, err := h.Domains().Workflows.Save(ctx, j.org, workflows.Definition{Source: source})
		if err != nil {
			return err
		}
		j.id = saved.Workflow.ID
		_, err = h.Domains().Workflows.Activate(ctx, j.org, j.id, workflows.Activation{})
		return err
	})
	for range phases {
		j.interruptPhase(t, kills)
		if j.count(t, `SELECT count(*) FROM workflow_runs WHERE org_id = $1 AND status = 'active'`) == 0 {
			break
		}
		j.Ahead += phase
		j.giveUp(t, j.life)
	}
	j.checkRuns(t)
	j.checkMessages(t)
	j.checkContacts(t)
	const messages = ` FROM workflow_mails AS m JOIN workflow_sends AS s ON s.org_id = m.org_id AND s.id = m.send_id
		JOIN handover_recipients AS h ON h.org_id = m.org_id AND h.send_id = m.send_id AND h.recipient = m.id WHERE m.org_id = $1 AND s.workflow_id = `
	t.Logf("%d contacts with %d kills, %v: %d messages, %d of them with an unknown outcome", j.recipients, j.kills-killed, time.Since(began).Round(time.Second),
		j.count(t, `SELECT count(*)`+messages+`'`+j.id+`'`), j.count(t, `SELECT count(*)`+messages+`'`+j.id+`' AND h.reason = 'outcome_unknown'`))
}

// interruptPhase lets servers do all that is due, and kills each at a random time while there is
// something to do.
func (j *journeys) interruptPhase(t *testing.T, kills int) {
	t.Helper()
	at := launch(t, j.life)
	for inPhase := 0; j.kills < kills && j.todo(t) != "" && (enginetest.Full() || inPhase == 0); inPhase++ {
		j.liveOn(t)
		at.kill(t)
		j.kills++
		at = launch(t, j.life)
	}
	product.Await(t, patience, func() error {
		if todo := j.todo(t); todo != "" {
			return fmt.Errorf("%s\n%s", todo, at.logged())
		}
		if n := one(t, j.account, `SELECT count(*) FROM outbox`); n > 0 {
			return fmt.Errorf("%d events are not delivered\n%s", n, at.logged())
		}
		return nil
	})
	at.kill(t)
}

// liveOn waits for the end of the life of a server: after a random time, or after it has added a
// random number of events.
func (j *journeys) liveOn(t *testing.T) {
	t.Helper()
	if j.chance.IntN(2) == 0 {
		<-time.After(time.Duration(j.chance.Int64N(int64(longestLife))))
		return
	}
	const events = `SELECT count(*) FROM workflow_events WHERE org_id = $1`
	until := j.count(t, events) + j.chance.IntN(mostEvents)
	product.Await(t, patience, func() error {
		if j.count(t, events) < until && j.todo(t) != "" {
			return errors.New("the server moves no runs")
		}
		return nil
	})
}

func (j *journeys) count(t *testing.T, query string) int {
	t.Helper()
	return one(t, j.db, query, j.org)
}

// todo returns what is left to do at the time of the servers, "" for nothing.
func (j *journeys) todo(t *testing.T) string {
	t.Helper()
	for what, query := range map[string]string{
		"contacts have to enter":   `SELECT count(*) FROM workflows WHERE org_id = $1 AND backfill <> ''`,
		"runs are due":             fmt.Sprintf(`SELECT count(*) FROM workflow_runs WHERE org_id = $1 AND wake_at <= %d`, time.Now().Add(j.Ahead).UnixMicro()),
		"messages are pending":     `SELECT count(*) FROM handover_recipients WHERE org_id = $1 AND state = 'pending'`,
		"outcomes are not settled": `SELECT count(*) FROM workflow_mails AS m JOIN handover_recipients AS h ON h.org_id = m.org_id AND h.send_id = m.send_id AND h.recipient = m.id WHERE m.org_id = $1 AND m.state = 'pending' AND h.state IN ('sent', 'failed', 'filtered')`,
	} {
		if n := j.count(t, query); n > 0 {
			return fmt.Sprintf("%s: %d", what, n)
		}
	}
	return ""
}

// read calls take with the texts of each row.
func (j *journeys) read(t *testing.T, query string, take func(columns []string)) {
	t.Helper()
	rows, err := j.db.QueryContext(t.Context(), query, j.org, j.id)
	must(t, err)
	defer rows.Close()
	names, err := rows.Columns()
	must(t, err)
	for rows.Next() {
		columns, into := make([]string, len(names)), make([]any, len(names))
		for i := range columns {
			into[i] = &columns[i]
		}
		must(t, rows.Scan(into...))
		take(columns)
	}
	must(t, rows.Err())
}

// checkRuns checks the timeline of each run: all steps of one half, each once and in order.
func (j *journeys) checkRuns(t *testing.T) {
	t.Helper()
	const begin = "enrolled, 0 step_entered, 1 step_entered, 1 wait_started, 1 wait_met, 2 step_entered, "
	const end = ", 3 step_entered, 3.then.0 step_entered, 4 step_entered, 4 wait_started, 4 wait_met, 5 step_entered, 6 step_entered, 6 completed"
	timelines, stopped := map[string][]string{}, map[string]int{}
	j.read(t, `SELECT run_id, node_path, event_type FROM workflow_events WHERE org_id = $1 AND workflow_id = $2 ORDER BY run_id, id`, func(c []string) {
		if strings.HasPrefix(c[2], "send_") {
			stopped[c[2]]++
			return
		}
		timelines[c[0]] = append(timelines[c[0]], strings.TrimSpace(c[1]+" "+c[2]))
	})
	halves := map[string]int{}
	for run, events := range timelines {
		half, ok := strings.CutSuffix(strings.TrimPrefix(strings.Join(events, ", "), begin), end)
		if !ok || half != "2.arm1.0 step_entered" && half != "2.arm2.0 step_entered" {
			t.Errorf("the timeline of run %s is %v", run, events)
		}
		halves[half]++
	}
	if len(timelines) != j.recipients || len(halves) != 2 {
		t.Errorf("%d runs, want %d; by half %v", len(timelines), j.recipients, halves)
	}
	if got := stopped["send_filtered"]; got != 2*j.recipients/outEvery {
		t.Errorf("%d messages were filtered: %v", got, stopped)
	}
	j.read(t, `SELECT status, count(*) FROM workflow_runs WHERE org_id = $1 AND workflow_id = $2 GROUP BY status`, func(c []string) {
		if c[0] != "completed" {
			t.Errorf("%s runs are %s", c[1], c[0])
		}
	})
}

// checkMessages compares the outcome of each message with the messages that the account accepted.
func (j *journeys) checkMessages(t *testing.T) {
	t.Helper()
	accepted := map[string]int{}
	rows, err := j.account.QueryContext(t.Context(), `SELECT recipient FROM handed_over`)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var key string
		must(t, rows.Scan(&key))
		accepted[key]++
	}
	must(t, rows.Err())
	messages := map[string][]string{}
	j.read(t, `SELECT m.run_id, s.node_path, m.id, h.state, h.reason FROM workflow_mails AS m
		JOIN workflow_sends AS s ON s.org_id = m.org_id AND s.id = m.send_id
		JOIN handover_recipients AS h ON h.org_id = m.org_id AND h.send_id = m.send_id AND h.recipient = m.id
		WHERE m.org_id = $1 AND s.workflow_id = $2 ORDER BY m.id`, func(c []string) {
		run, path, key, state, reason := c[0], c[1], c[2], handover.State(c[3]), c[4]
		messages[run] = append(messages[run], path)
		if n := accepted[key]; !(state == handover.Sent && n == 1 || state == handover.Failed && reason == handover.OutcomeUnknown && n == 0) {
			t.Errorf("the message %s is %s %s and was accepted %d times", key, state, reason, n)
		}
	})
	for run, paths := range messages {
		if !slices.Equal(paths, []string{"3.then.0", "5"}) {
			t.Errorf("run %s has messages of the steps %v", run, paths)
		}
	}
	if want := j.recipients - j.recipients/outEvery; len(messages) != want {
		t.Errorf("%d runs have messages, want %d", len(messages), want)
	}
}

// checkContacts checks the attributes and lists of the contacts: each has taken one half.
func (j *journeys) checkContacts(t *testing.T) {
	t.Helper()
	n := float64(j.number)
	seen := 0
	j.read(t, `SELECT c.attributes, CASE WHEN EXISTS (SELECT 1 FROM list_members AS m JOIN lists AS l ON l.org_id = m.org_id AND l.id = m.list_id
			WHERE m.org_id = c.org_id AND m.contact_id = c.id AND l.key = 'second') THEN 1 ELSE 0 END,
		(SELECT max(e.arm) FROM workflow_events AS e JOIN workflow_runs AS r ON r.org_id = e.org_id AND r.workflow_id = e.workflow_id AND r.id = e.run_id
			WHERE r.org_id = c.org_id AND r.workflow_id = $2 AND r.contact_id = c.id) FROM contacts AS c WHERE c.org_id = $1`, func(c []string) {
		seen++
		var got struct{ Stage, Half, Done float64 }
		must(t, json.Unmarshal([]byte(c[0]), &got))
		inFirst := c[2] == "arm1"
		if got.Stage != n || got.Done != n || inFirst != (got.Half == n) || !inFirst && c[1] != "1" {
			t.Errorf("a contact of the half %s has %s, on the list %s", c[2], c[0], c[1])
		}
	})
	if seen != j.recipients {
		t.Errorf("%d contacts", seen)
	}
}
