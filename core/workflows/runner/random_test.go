package runner_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/engine/enginetest"
	"github.com/mailhelm/mailhelm/core/workflows/language"
	"github.com/mailhelm/mailhelm/core/workflows/mailing"
	"github.com/mailhelm/mailhelm/storage"
	databasetest "github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	workflowstore "github.com/mailhelm/mailhelm/storage/workflows"
	"pgregory.net/rapid"
)

const (
	// seedsInDatabase is the number of seeds that one database serves.
	seedsInDatabase = 100
	// firstSeed is the first seed of a run that is not full. The seeds that follow it have every
	// kind of event sooner than those from 0 on.
	firstSeed = 51
)

// TestRunsDoWhatTheModelDoes lets contacts run through random workflows while their data, the
// workflow and the clock change, and processes crash at random calls. It compares the timelines,
// messages and contacts with those of a model without storage. Each seed is an organization.
func TestRunsDoWhatTheModelDoes(t *testing.T) {
	t.Parallel()
	databasetest.EachEngine(t, func(t *testing.T, postgres bool) {
		begin, seeds := firstSeed, 50
		switch {
		case databasetest.Full():
			begin, seeds = 0, 10_000
		case postgres:
			seeds = 15 // a transaction there takes several times as long
		}
		seen := map[engine.EventType]int{}
		for first := begin; first < begin+seeds && !t.Failed(); first += seedsInDatabase {
			t.Run(fmt.Sprint("seeds from ", first), func(t *testing.T) {
				on := storagetest.SQLite
				if postgres {
					on = storagetest.Postgres
				}
				stored := on(t)
				for seed := range min(seeds, seedsInDatabase) {
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
			if seen[want] == 0 && (!postgres || databasetest.Full()) && !t.Failed() {
				t.Errorf("no run had the event %s, so the test shows less than it should", want)
			}
		}
		t.Logf("%d seeds with the events %v", seeds, seen)
	})
}

// TestModelFindsFaults lets processes make mistakes, and checks that the comparison with the
// model finds them. Each mistake begins at a seed that shows it, because those before take time.
func TestModelFindsFaults(t *testing.T) {
	t.Parallel()
	for m, first := range map[mistake]uint64{noTransactions: 13, noWakes: 32, noForgetting: 0, falseAnswers: 0} {
		t.Run(string(m), func(t *testing.T) {
			t.Parallel()
			stored := storagetest.SQLite(t)
			for seed := range uint64(200) {
				if fault := runSeed(t, stored, first+seed, m, map[engine.EventType]int{}); fault != "" {
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
	process *process
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

// arrive lets the segments follow the changes of contacts, and the events of messages arrive, each
// in some of the rounds.
func (p *pair) arrive() {
	p.t.Helper()
	ctx := p.t.Context()
	if p.random.IntN(2) == 0 {
		must(p.t, p.segments.Follow(ctx, p.org))
		for _, person := range p.model.people {
			_, known := person.subject.Attributes["plan"]
			person.subject.Segments[p.model.schema.Segments["customers"]] = known && !person.archived
		}
	}
	if p.sound || p.random.IntN(2) == 0 {
		_, err := p.db.Handover().Observe(ctx, p.org, p.unknown, p.Now())
		must(p.t, err)
		must(p.t, mailing.Corrected(workflowstore.NewMailStore(p.db.DB))(ctx, p.org, p.unknown))
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
