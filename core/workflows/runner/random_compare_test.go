package runner_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	workflowstore "github.com/mailhelm/mailhelm/storage/workflows"
)

// outcomes returns the messages of the organization by run, in their order.
func (p *pair) outcomes() map[string][]outcome {
	p.t.Helper()
	rows, err := p.db.Reader().QueryContext(p.t.Context(), p.db.Dialect().Text(`SELECT m.id, m.run_id, s.node_path, m.state, h.state, h.reason FROM workflow_mails AS m
		JOIN workflow_sends AS s ON s.org_id = m.org_id AND s.id = m.send_id
		JOIN handover_recipients AS h ON h.org_id = m.org_id AND h.send_id = m.send_id AND h.recipient = m.id
		WHERE m.org_id = $1 ORDER BY m.id`), p.org)
	must(p.t, err)
	defer rows.Close()
	of := map[string][]outcome{}
	for rows.Next() {
		var o outcome
		var run string
		must(p.t, rows.Scan(&o.key, &run, &o.path, &o.state, &o.handed, &o.reason))
		of[run] = append(of[run], o)
	}
	must(p.t, rows.Err())
	return of
}

// storedRuns returns the runs of the workflow by contact, the oldest first.
func (p *pair) storedRuns() map[string][]workflows.Run {
	p.t.Helper()
	all, err := workflowstore.NewRunStore(p.db.DB).Runs(p.t.Context(), p.org, workflows.RunFilter{WorkflowID: p.model.id, Limit: 1000})
	must(p.t, err)
	slices.Reverse(all)
	of := map[string][]workflows.Run{}
	for _, r := range all {
		of[r.ContactID] = append(of[r.ContactID], r)
	}
	return of
}

// compare compares both worlds.
func (p *pair) compare(runs map[string][]workflows.Run, mails map[string][]outcome) {
	p.t.Helper()
	for _, person := range p.model.people {
		of := runs[person.id]
		if len(of) != len(person.runs) {
			p.fail("%s has %d runs, want %d", person.name, len(of), len(person.runs))
		}
		for i, r := range person.runs {
			p.compareRun(person, r, of[i], mails[of[i].ID])
		}
		p.compareContact(person)
	}
}

func (p *pair) compareRun(person *modelPerson, want *modelRun, got workflows.Run, mails []outcome) {
	p.t.Helper()
	events, err := workflowstore.NewRunStore(p.db.DB).Timeline(p.t.Context(), p.org, got)
	must(p.t, err)
	var timeline []engine.Event
	for _, e := range events {
		e.At = e.At.UTC()
		timeline = append(timeline, e.Event)
	}
	state := got.State
	switch {
	case !reflect.DeepEqual(timeline, want.Events):
		p.fail("%s: the timeline is\n%s\nwant\n%s", person.name, lines(timeline), lines(want.Events))
	case state.IsOver() != want.Over, (state.Phase == engine.Held) != (want.Held && want.Decision == ""), (state.Phase == engine.Sending) != (want.Sending && !want.Sent), got.Version != want.version:
		p.fail("%s: the run is %+v; the model is over %t, held %t, sending %t, version %d", person.name, got, want.Over, want.Held, want.Sending, want.version)
	case len(mails) != len(want.messages):
		p.fail("%s has %d messages, want %d", person.name, len(mails), len(want.messages))
	}
	for i, m := range mails {
		accepted := p.accepted[m.key]
		right := map[handover.State]bool{
			handover.Sent: accepted == 1, handover.Filtered: accepted == 0, handover.Pending: accepted <= 1,
			handover.Failed: accepted == 0 || accepted == 1 && m.reason == handover.OutcomeUnknown && m.handed == handover.Failed,
		}
		if !right[m.state] || m.path != want.messages[i].Path {
			p.fail("%s: a message of the step %s is %s and was accepted %d times; want one of the step %s", person.name, m.path, m.state, accepted, want.messages[i].Path)
		}
	}
}

// compareContact compares the attributes and lists of a contact.
func (p *pair) compareContact(person *modelPerson) {
	p.t.Helper()
	c, err := p.db.Contacts().ContactByID(p.t.Context(), p.org, person.id)
	must(p.t, err)
	want := map[string]any{}
	for name, v := range person.subject.Attributes {
		switch v.Type {
		case predicate.Number:
			want[name] = v.Number
		case predicate.Bool:
			want[name] = v.Bool
		case predicate.Datetime:
			want[name] = time.UnixMicro(v.Moment.Micros).UTC().Format(time.RFC3339Nano)
		default:
			want[name] = v.Text
		}
	}
	got, err := json.Marshal(c.Attributes)
	must(p.t, err)
	wanted, err := json.Marshal(want)
	must(p.t, err)
	on := map[string]bool{}
	for _, l := range c.Lists {
		on[l.ID] = true
	}
	for _, id := range p.lists {
		if on[id] != person.subject.Lists[id] {
			p.fail("%s: on the list %s is %t", person.name, id, on[id])
		}
	}
	if string(got) != string(wanted) {
		p.fail("%s has the attributes %s, want %s", person.name, got, wanted)
	}
}

// fail ends the seed with a difference.
func (p *pair) fail(format string, args ...any) {
	panic(difference(fmt.Sprintf("seed %d at %v: %s\n%v", p.seed, p.Now(), fmt.Sprintf(format, args...), p.source)))
}

func lines(events []engine.Event) string {
	text := ""
	for _, e := range events {
		text += e.At.Format(time.RFC3339Nano) + " " + eventWords(e) + " " + e.Detail + "\n"
	}
	return text
}
