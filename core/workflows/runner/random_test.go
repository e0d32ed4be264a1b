package runner_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/engine/enginetest"
	"github.com/mailhelm/mailhelm/core/workflows/language"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	workflowstore "github.com/mailhelm/mailhelm/storage/workflows"
	"pgregory.net/rapid"
)

// seedsInDatabase is the number of seeds that one database serves.
const seedsInDatabase = 100

// TestRunsDoWhatTheModelDoes lets contacts run through random workflows while their data, the
// workflow and the clock change, and processes crash at random calls. It compares the timelines,
// messages and contacts with those of a model without storage. Each seed is an organization.
func TestRunsDoWhatTheModelDoes(t *testing.T) {
	t.Parallel()
	seeds := 200
	if storagetest.Full() {
		seeds = 10_000
	}
	storagetest.EachEngine(t, func(t *testing.T, postgres bool) {
		seen := map[engine.EventType]int{}
		for first := 0; first < seeds && !t.Failed(); first += seedsInDatabase {
			t.Run(fmt.Sprint("seeds from ", first), func(t *testing.T) {
				on := storagetest.SQLite
				if postgres {
					on = storagetest.Postgres
				}
				stored := on(t)
				for seed := range seedsInDatabase {
					if fault := runSeed(t, stored, uint64(first+seed), "", seen); fault != "" {
						t.Fatal(fault)
					}
				}
			})
		}
		for _, want := range []engine.EventType{
			engine.Enrolled, engine.StepEntered, engine.WaitStarted, engine.WaitMet, engine.WaitTimedOut, engine.SendFiltered, engine.SendHeld,
			engine.SendSkipped, engine.SendFailed, engine.RunExited, engine.RunCompleted,
		} {
			if seen[want] == 0 && !t.Failed() {
				t.Errorf("no run had the event %s, so the test shows less than it should", want)
			}
		}
		t.Logf("%d seeds with the events %v", seeds, seen)
	})
}

// TestModelFindsFaults lets processes make mistakes, and checks that the comparison with the
// model finds them.
func TestModelFindsFaults(t *testing.T) {
	t.Parallel()
	for _, m := range []mistake{noTransactions, noWakes, noForgetting, falseAnswers} {
		t.Run(string(m), func(t *testing.T) {
			t.Parallel()
			stored := storagetest.SQLite(t)
			for seed := range uint64(200) {
				if fault := runSeed(t, stored, seed, m, map[engine.EventType]int{}); fault != "" {
					return
				}
			}
			t.Error("no fault was found")
		})
	}
}

// pair is a workflow in the database and in the model.
type pair struct {
	*world
	t      *testing.T
	seed   uint64
	random *rand.Rand
	model  *modelWorkflow
	source []string
	lists  map[string]string
	// process works without failures, from round to round until it is replaced.
	process process
	moved   atomic.Int64
	// sound is true when the account accepts all messages.
	sound bool
	// accepted counts the messages that the account accepted, by the key of the recipient.
	// unknown has those of which the process got no answer.
	accepted map[string]int
	// throttled has the keys of recipients of which the account has throttled an attempt.
	throttled map[string]bool
	unknown   []handover.Evidence
}

// sourceOf generates the source of a version.
var sourceOf = rapid.Custom(func(t *rapid.T) string {
	rule := rapid.SampledFrom([]string{"", "", "where attr.visits > 1", "where not suppressed"}).Draw(t, "where")
	again := rapid.SampledFrom([]string{"once", "on rematch", "per occurrence"}).Draw(t, "reentry")
	return enginetest.Source(t, 8, rule+"\nreentry "+again)
})

// difference is what differs between both worlds. Methods of pair panic with it.
type difference string

// runSeed compares both worlds for one seed and returns what differs, "" for nothing. It counts
// the events.
func runSeed(t *testing.T, on *storage.DB, seed uint64, m mistake, seen map[engine.EventType]int) (fault string) {
	t.Helper()
	defer func() {
		switch v := recover().(type) {
		case nil:
		case difference:
			fault = string(v)
		default:
			panic(v)
		}
	}()
	p := newPair(t, on, seed)
	p.mistake = m
	p.process = p.newProcess(&strikes{moved: &p.moved})
	for range 6 {
		p.changeAll()
		p.pass()
		p.arrive()
		if p.random.IntN(2) == 0 {
			p.interrupt(t.Context(), p.random, &p.moved)
			p.process = p.newProcess(&strikes{moved: &p.moved})
		}
		p.settle()
	}
	p.finish()
	for _, person := range p.model.people {
		for _, r := range person.runs {
			for _, e := range r.Events {
				seen[e.Type]++
			}
		}
	}
	return ""
}

func newPair(t *testing.T, on *storage.DB, seed uint64) *pair {
	t.Helper()
	p := &pair{
		world: newWorld(t, on), t: t, seed: seed, random: rand.New(rand.NewPCG(seed, 1)), lists: map[string]string{}, accepted: map[string]int{}, throttled: map[string]bool{},
	}
	p.answer = p.judge
	p.model = &modelWorkflow{}
	p.activate()
	known, err := p.WorkflowSchema(t.Context(), p.org)
	must(t, err)
	p.model.schema, p.lists = known.Schema, known.Lists
	for i := range 2 {
		name := fmt.Sprint("person", i)
		s := &predicate.Subject{Attributes: map[string]predicate.Value{}, Topics: map[string]bool{}, Lists: map[string]bool{}, Segments: map[string]bool{}}
		p.model.people = append(p.model.people, &modelPerson{id: p.add(t, name, nil), name: name, subject: s, mailed: map[mailKey]time.Time{}})
	}
	return p
}

// activate saves and activates another version.
func (p *pair) activate() {
	p.t.Helper()
	source := sourceOf.Example(int(p.seed)*8 + len(p.source))
	saved, err := p.Save(p.t.Context(), p.org, workflows.Definition{WorkflowID: p.model.id, Source: source})
	must(p.t, err)
	p.model.id = saved.Workflow.ID
	_, err = p.Activate(p.t.Context(), p.org, p.model.id, workflows.Activation{RequireApproval: p.model.hold})
	must(p.t, err)
	names, err := p.WorkflowSchema(p.t.Context(), p.org)
	must(p.t, err)
	checked, err := language.Compile(source, names)
	must(p.t, err)
	p.source, p.model.versions, p.model.status = append(p.source, source), append(p.model.versions, checked), workflows.Active
}

// judge is the answer of the account.
func (p *pair) judge(m sending.Message) error {
	key := m.Tags[core.RecipientTag]
	chance := byte(0)
	if !p.sound {
		chance = key[len(key)-1] % 16 // the key of a message is random
	}
	switch chance {
	case 1:
		return &sending.Failure{Kind: sending.Rejected, Err: errFault}
	case 2:
		if !p.throttled[key] {
			p.throttled[key] = true
			return &sending.Failure{Kind: sending.Throttled, Err: errFault}
		}
	case 3:
		return &sending.Failure{Kind: sending.TimedOut, Err: errFault}
	}
	p.accepted[key]++
	p.unknown = append(p.unknown, handover.Evidence{SendID: m.Tags[core.SendTag], Key: key, MessageID: "message-of-" + key})
	if chance == 4 {
		return &sending.Failure{Kind: sending.TimedOut, Err: errFault}
	}
	return nil
}

// pass lets time pass: none, a random time, or until something is due.
func (p *pair) pass() {
	switch p.random.IntN(8) {
	case 0, 4, 5:
	case 1:
		p.set(p.Now().Add(time.Duration(1+p.random.IntN(7200)) * time.Second))
	case 2:
		p.set(p.Now().Add(time.Duration(1+p.random.IntN(10*86400)) * time.Second))
	default:
		p.passUntilDue()
	}
}

// passUntilDue lets time pass until the next timer of the model ends.
func (p *pair) passUntilDue() {
	var next time.Time
	for _, person := range p.model.people {
		if r := person.active(); r != nil && r.Wake.After(p.Now()) && (next.IsZero() || r.Wake.Before(next)) {
			next = r.Wake
		}
	}
	if !next.IsZero() {
		p.set(next.UTC())
	}
}

// changeAll changes contacts and the workflow in both worlds.
func (p *pair) changeAll() {
	p.t.Helper()
	for _, person := range p.model.people {
		for range p.random.IntN(3) {
			p.change(person)
		}
		if r := person.active(); r != nil && r.OnChange && p.random.IntN(2) == 0 {
			p.fulfil(person)
		}
		if p.random.IntN(3) == 0 || len(person.runs) == 0 {
			p.act(p.t, person.id, "signup", p.Now())
			if p.model.status == workflows.Active {
				person.entries++
			}
		}
		p.decide(person)
	}
	ctx := p.t.Context()
	var err error
	switch active := p.model.status == workflows.Active; p.random.IntN(12) {
	case 0, 1:
		p.model.status = map[bool]workflows.Status{true: workflows.Paused, false: workflows.Active}[active]
		if active {
			_, err = p.Pause(ctx, p.org, p.model.id)
		} else {
			_, err = p.Resume(ctx, p.org, p.model.id)
		}
	case 2:
		p.model.hold = !p.model.hold
		_, err = p.SetApproval(ctx, p.org, p.model.id, p.model.hold)
	case 3:
		p.activate()
	}
	must(p.t, err)
}

// decide decides about a held message, in two of three cases.
func (p *pair) decide(person *modelPerson) {
	p.t.Helper()
	if r := person.active(); r == nil || !r.Held || r.Decision != "" || p.random.IntN(3) == 0 {
		return
	}
	r := person.active()
	r.Decision = []engine.Phase{engine.Approved, engine.Approved, engine.Skipped, engine.Cancelled}[p.random.IntN(4)]
	runs := p.runs(p.t, p.model.id, person.id)
	decided, err := p.Decide(p.t.Context(), p.org, p.model.id, []string{runs[len(runs)-1].ID}, r.Decision)
	must(p.t, err)
	if len(decided) != 1 {
		p.fail("no held message of %s", person.name)
	}
}

// change changes a contact in both worlds.
func (p *pair) change(person *modelPerson) {
	p.t.Helper()
	s, flag, now := person.subject, p.random.IntN(2) == 0, p.Now()
	switch p.random.IntN(11) {
	case 0:
		p.setValue(person, "plan", map[bool]any{true: "pro", false: "free"}[flag])
	case 1:
		p.setValue(person, "visits", float64(p.random.IntN(6)))
	case 2:
		p.setValue(person, "vip", flag)
	case 3:
		p.setValue(person, "renewal", now.Add(time.Duration(p.random.IntN(144)-48)*time.Hour).Truncate(time.Second).UTC())
	case 4:
		p.setValue(person, []string{"plan", "visits", "vip", "renewal", "city"}[p.random.IntN(5)], nil)
	case 5:
		p.setValue(person, "timezone", []string{"Europe/Paris", "Australia/Lord_Howe", "America/New_York", "nowhere"}[p.random.IntN(4)])
	case 6:
		s.UnsubscribedFromAll = flag
		p.edit(p.t, person.id, func(c *contacts.Contact) { c.UnsubscribeAll = flag })
	case 7:
		s.Suppressed = flag
		p.suppress(person)
	case 8:
		p.subscribe(person, []string{"news", "offers"}[p.random.IntN(2)], flag)
	case 9:
		p.join(person, flag)
	default:
		if p.random.IntN(12) == 0 {
			person.archived = true
			p.edit(p.t, person.id, func(c *contacts.Contact) { c.Status = contacts.Archived })
			return
		}
		s.Events = append(s.Events, predicate.Occurrence{Event: predicate.Event{Kind: predicate.ActivityEvent, Activity: "purchase"}, At: now.UnixMicro()})
		p.act(p.t, person.id, "purchase", now)
	}
}

// fulfil makes one of the conditions true for which runs wait.
func (p *pair) fulfil(person *modelPerson) {
	p.t.Helper()
	switch p.random.IntN(5) {
	case 0:
		p.setValue(person, "plan", "pro")
	case 1:
		p.setValue(person, "vip", true)
	case 2:
		p.setValue(person, "visits", 4.0)
	case 3:
		p.setValue(person, "renewal", p.Now().Add(-48*time.Hour).UTC())
	default:
		p.join(person, true)
	}
}

// setValue sets an attribute, or removes it if the value is nil.
func (p *pair) setValue(person *modelPerson, name string, value any) {
	p.t.Helper()
	s, stored := person.subject, value
	switch v := value.(type) {
	case nil:
		delete(s.Attributes, name)
	case string:
		s.Attributes[name] = predicate.StringValue(v)
	case float64:
		s.Attributes[name] = predicate.NumberValue(v)
	case bool:
		s.Attributes[name] = predicate.BoolValue(v)
	case time.Time:
		s.Attributes[name] = predicate.Value{Type: predicate.Datetime, Moment: predicate.Moment{Micros: v.UnixMicro()}}
		stored = v.Format(time.RFC3339)
	}
	p.edit(p.t, person.id, func(c *contacts.Contact) {
		if value == nil {
			delete(c.Attributes, name)
		} else {
			c.Attributes[name] = stored
		}
	})
}

func (p *pair) subscribe(person *modelPerson, topic string, in bool) {
	p.t.Helper()
	person.subject.Topics[topic] = in
	status := map[bool]sending.Subscription{true: sending.OptIn, false: sending.OptOut}[in]
	p.edit(p.t, person.id, func(c *contacts.Contact) {
		c.TopicPreferences = slices.DeleteFunc(c.TopicPreferences, func(t topics.Preference) bool { return t.Topic == topic })
		c.TopicPreferences = append(c.TopicPreferences, topics.Preference{Topic: topic, SubscriptionStatus: status})
	})
}

// suppress stores the suppression list of the organization.
func (p *pair) suppress(person *modelPerson) {
	p.t.Helper()
	var keys []string
	for _, one := range p.model.people {
		if one.subject.Suppressed {
			keys = append(keys, one.name+"@example.com")
		}
	}
	must(p.t, p.db.SegmentChanges().ReplaceSuppressed(p.t.Context(), p.org, keys))
	must(p.t, p.db.InTx(p.t.Context(), func(ctx context.Context) error { return p.changed(ctx, person.id) }))
}

// join puts a contact on the list vip, or takes it off.
func (p *pair) join(person *modelPerson, in bool) {
	p.t.Helper()
	person.subject.Lists[p.lists["vip"]] = in
	var on []string
	for id, is := range person.subject.Lists {
		if is {
			on = append(on, id)
		}
	}
	must(p.t, p.db.InTx(p.t.Context(), func(ctx context.Context) error {
		if _, _, err := p.db.ListMembers().ReplaceMembership(ctx, p.org, person.id, on, p.Now()); err != nil {
			return err
		}
		return p.changed(ctx, person.id)
	}))
}

// arrive lets the segments follow the changes of contacts, and the events of messages arrive.
func (p *pair) arrive() {
	p.t.Helper()
	ctx := p.t.Context()
	must(p.t, p.segments.Follow(ctx, p.org))
	for _, person := range p.model.people {
		_, known := person.subject.Attributes["plan"]
		person.subject.Segments[p.model.schema.Segments["customers"]] = known && !person.archived
	}
	if p.sound || p.random.IntN(2) == 0 {
		must(p.t, p.db.Handover().Observe(ctx, p.org, p.unknown, p.Now()))
		p.unknown = nil
	}
	_, err := p.db.Handover().GiveUp(ctx, p.org, p.Now(), 100)
	must(p.t, err)
}

// settle lets all happen that is due, and compares both worlds.
func (p *pair) settle() {
	p.t.Helper()
	for looks, before := 0, int64(-1); p.moved.Load() != before; looks++ {
		before = p.moved.Load()
		if p.process.look(p.t.Context()); looks == 200 {
			p.fail("the processes do not come to rest")
		}
	}
	mails := p.outcomes()
	runs := p.storedRuns()
	fault := p.model.settle(p.Now(), func(person *modelPerson, number int) []outcome {
		of := runs[person.id]
		if len(of) <= number {
			return nil
		}
		return mails[of[number].ID]
	})
	if fault != "" {
		p.fail("%s", fault)
	}
	p.compare(runs, mails)
}

// finish lets all runs end: every held message is approved, the account accepts all, and time
// passes until nothing is left.
func (p *pair) finish() {
	p.t.Helper()
	p.sound = true
	ctx := p.t.Context()
	if p.model.status == workflows.Paused {
		_, err := p.Resume(ctx, p.org, p.model.id)
		must(p.t, err)
		p.model.status = workflows.Active
	}
	if p.model.hold {
		_, err := p.SetApproval(ctx, p.org, p.model.id, false)
		must(p.t, err)
		p.model.hold = false
	}
	if p.random.IntN(4) > 0 {
		p.archive()
		return
	}
	for rounds := 0; slices.ContainsFunc(p.model.people, func(one *modelPerson) bool { return one.active() != nil }); rounds++ {
		for _, person := range p.model.people {
			p.decide(person)
		}
		if rounds%2 == 0 {
			p.passUntilDue()
		} else {
			p.set(p.Now().Add(handover.Patience))
		}
		p.arrive()
		p.settle()
		if rounds == 300 {
			p.fail("runs do not end")
		}
	}
}

// archive archives the workflow once no message is under way.
func (p *pair) archive() {
	p.t.Helper()
	for range 3 {
		p.set(p.Now().Add(handover.Patience))
		p.arrive()
		p.settle()
	}
	_, err := p.Archive(p.t.Context(), p.org, p.model.id)
	must(p.t, err)
	p.interrupt(p.t.Context(), p.random, &p.moved)
	p.process = p.newProcess(&strikes{moved: &p.moved})
	p.model.end(p.Now())
	p.settle()
}

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
	events, err := workflowstore.NewRunStore(p.db.DB).Timeline(p.t.Context(), p.org, p.model.id, got.ID)
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
			handover.Failed: accepted == 0 || accepted == 1 && (m.reason == handover.OutcomeUnknown || m.handed == handover.Sent),
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
