package runner_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/goldentest"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/examples"
	"github.com/mailhelm/mailhelm/core/workflows/language"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	workflowstore "github.com/mailhelm/mailhelm/storage/workflows"
)

var update = flag.Bool("update", false, "write the golden files anew")

// exampleWorkflow is the id of the workflow in TestGoldenExamples. Splits and hold-outs depend on
// it and on the ids of the contacts.
const exampleWorkflow = "0198c7a2-0000-7000-8000-00000000e000"

// traveller is a contact of an example with what happens to it.
type traveller struct {
	name string
	// about says what the contact does, for readers of the golden file.
	about  string
	values map[string]any
	// out has the topics that the contact opted out of; "all" stands for all mail.
	out  []string
	acts []act
}

// act is something that happens to a contact, a time after the activation.
type act struct {
	after time.Duration
	do    func(t testing.TB, w *exampleWorld, p traveller)
}

// TestGoldenExamples runs each worked example to the end of all runs, with contacts that take
// every branch. The golden files have the timeline and the messages of each contact.
func TestGoldenExamples(t *testing.T) {
	t.Parallel()
	for _, example := range examples.All() {
		t.Run(example.Key, func(t *testing.T) {
			t.Parallel()
			storagetest.Each(t, func(t *testing.T, db *storage.DB) {
				w := newExampleWorld(t, db, example)
				people := travellers[example.Key]
				w.live(t, people)
				w.checkPaths(t, example)
				compareGolden(t, example.Key, w.tell(t, example, people))
			})
		})
	}
}

func compareGolden(t *testing.T, key, got string) {
	t.Helper()
	file := filepath.Join("testdata", "examples", key+".txt")
	if *update {
		if err := goldentest.Write(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil || string(want) != got {
		t.Errorf("%s: %v; the contacts took other ways:\n%s", file, err, got)
	}
}

// exampleWorld is a world with the names that the examples use.
type exampleWorld struct {
	*world
	ids map[string]string
	// mailed has the messages in their order, by the address of the contact.
	mailed map[string][]mailed
}

// mailed is a message that a contact got.
type mailed struct {
	at       time.Time
	template string
}

// newExampleWorld returns a world in which the example is active. Members of its segments are the
// contacts with the segment's key as their attribute group.
func newExampleWorld(t *testing.T, db *storage.DB, example examples.Example) *exampleWorld {
	t.Helper()
	w := &exampleWorld{world: newWorld(t, db), ids: map[string]string{}, mailed: map[string][]mailed{}}
	ctx, schema := t.Context(), examples.Schema()
	w.templates = schema.Templates
	w.answer = func(m sending.Message) error { // the world has locked itself
		template, _, _ := strings.Cut(m.Content.Subject, " ")
		w.mailed[m.To[0]] = append(w.mailed[m.To[0]], mailed{w.now, template})
		return nil
	}
	for name, kind := range map[string]attributes.Type{"group": attributes.String, "onboarded": attributes.Bool, "trial_ends": attributes.Datetime} {
		must(t, db.Attributes().InsertAttribute(ctx, w.org, attributes.Attribute{ID: core.NewID(), Name: name, Type: kind, Origin: core.ManagedOrigin, CreatedAt: start, UpdatedAt: start}))
	}
	var all []sending.Topic
	for name := range schema.Topics {
		all = append(all, sending.Topic{Name: name, Default: sending.OptIn})
	}
	must(t, db.Topics().ReplaceTopics(ctx, w.org, all, start))
	for key := range schema.Lists {
		must(t, db.Lists().InsertList(ctx, w.org, lists.List{ID: core.NewID(), Key: key, Name: key, Source: "api", Origin: core.ManagedOrigin, Status: "active", CreatedAt: start, UpdatedAt: start}))
	}
	for key := range schema.Segments {
		_, err := w.segments.Save(ctx, w.org, segments.Definition{Key: key, Name: key, Source: `attr.group = "` + key + `"`, Origin: segments.Managed})
		must(t, err)
	}
	must(t, workflowstore.New(db.DB).Insert(ctx, w.org, workflows.Workflow{
		ID: exampleWorkflow, Key: example.Key, Status: workflows.Draft, DraftVersion: 1, Origin: workflows.Managed, CreatedAt: start, UpdatedAt: start,
	}))
	must(t, workflowstore.New(db.DB).SaveVersion(ctx, w.org, exampleWorkflow, workflows.Version{Number: 1, Source: example.Source, ContentHash: workflows.HashOf(example.Source), CreatedAt: start}))
	_, err := w.Activate(ctx, w.org, exampleWorkflow, workflows.Activation{})
	must(t, err)
	return w
}

// live lets the contacts come in, and time pass until everything has happened and all runs have
// ended.
func (w *exampleWorld) live(t *testing.T, people []traveller) {
	t.Helper()
	type happening struct {
		at time.Time
		do func()
	}
	var planned []happening
	for i, p := range people {
		w.join(t, i+1, p)
		for _, a := range p.acts {
			planned = append(planned, happening{start.Add(a.after), func() { a.do(t, w, p) }})
		}
	}
	slices.SortStableFunc(planned, func(a, b happening) int { return a.at.Compare(b.at) })
	w.settle(t)
	for range 500 {
		next := w.nextTimer(t)
		switch {
		case len(planned) > 0 && (next.IsZero() || !planned[0].at.After(next)):
			w.set(planned[0].at)
			planned[0].do()
			planned = planned[1:]
		case next.IsZero():
			return
		default:
			w.set(next)
		}
		w.settle(t)
	}
	t.Fatal("the runs do not end")
}

// nextTimer returns the time of the first timer of a run, zero if there is none.
func (w *exampleWorld) nextTimer(t *testing.T) time.Time {
	t.Helper()
	active, err := workflowstore.NewRunStore(w.db.DB).Runs(t.Context(), w.org, workflows.RunFilter{WorkflowID: exampleWorkflow, Statuses: []engine.Status{engine.Active}, Limit: 100})
	must(t, err)
	var next time.Time
	for _, run := range active {
		if at := run.State.WakeAt; next.IsZero() || !at.IsZero() && at.Before(next) {
			next = at
		}
	}
	return next
}

// join adds the contact with the number.
func (w *exampleWorld) join(t *testing.T, number int, p traveller) {
	t.Helper()
	c := contacts.Contact{
		ID: fmt.Sprintf("0198c7a2-0000-7000-8000-%012d", number), Email: p.name + "@example.com", Status: contacts.Active,
		Attributes: map[string]any{}, CreatedAt: start, UpdatedAt: start,
	}
	for name, value := range p.values {
		c.Attributes[name] = value
	}
	w.ids[p.name] = c.ID
	must(t, w.db.InTx(t.Context(), func(ctx context.Context) error {
		if err := w.db.Contacts().InsertContact(ctx, w.org, c); err != nil {
			return err
		}
		return w.changed(ctx, c.ID)
	}))
	w.optOut(t, p.name, p.out)
}

// tell returns the timelines of the contacts as text. A message is in the line after the step that
// sends it.
func (w *exampleWorld) tell(t *testing.T, example examples.Example, people []traveller) string {
	t.Helper()
	tree, err := language.Parse(example.Source)
	must(t, err)
	templates := map[string]string{}
	for located := range tree.All() {
		if send, ok := located.Step.(*language.Send); ok {
			templates[located.Path] = send.Template
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "What happens to contacts in %s.workflow, which was activated on a %s.\n", example.Key, start.Format("Monday at 15:04 (UTC)"))
	for _, p := range people {
		fmt.Fprintf(&b, "\n%s %s.\n", p.name, p.about)
		mails := w.mailed[p.name+"@example.com"]
		for _, r := range w.runs(t, exampleWorkflow, w.ids[p.name]) {
			events, err := workflowstore.NewRunStore(w.db.DB).Timeline(t.Context(), w.org, r)
			must(t, err)
			for _, e := range events {
				e.Path, r.State.Node = "", e.Path
				b.WriteString(lineOf(e.At, r.State.Node, eventWords(e.Event)))
				if isSent := e.Type == engine.StepEntered && len(mails) > 0 && mails[0].template == templates[r.State.Node]; isSent {
					b.WriteString(lineOf(mails[0].at, r.State.Node, "message "+mails[0].template))
					mails = mails[1:]
				}
			}
		}
		if len(mails) > 0 {
			t.Errorf("%s: %s got messages that no step sends: %v", example.Key, p.name, mails)
		}
		b.WriteString(w.outcome(t, p))
	}
	return b.String()
}

// lineOf returns a line of a timeline: the day since the activation, the time, the step and what
// happens.
func lineOf(at time.Time, path, words string) string {
	return fmt.Sprintf("  day %2d %s  %-16s %s\n", int(at.Sub(start.Truncate(day))/day), at.Format("15:04"), path, words)
}

// outcome returns what the workflow has changed of a contact.
func (w *exampleWorld) outcome(t *testing.T, p traveller) string {
	t.Helper()
	found, err := w.db.Contacts().ContactByID(t.Context(), w.org, w.ids[p.name])
	must(t, err)
	text := ""
	if found.Attributes["onboarded"] == true {
		text += "  in the end: onboarded\n"
	}
	for _, l := range found.Lists {
		text += "  in the end: on the list " + l.Key + "\n"
	}
	return text
}

// checkPaths checks that the contacts come to every step of the example.
func (w *exampleWorld) checkPaths(t *testing.T, example examples.Example) {
	t.Helper()
	nodes, err := workflowstore.NewRunStore(w.db.DB).Nodes(t.Context(), w.org, exampleWorkflow, 1)
	must(t, err)
	entered := map[string]bool{}
	for _, n := range nodes {
		entered[n.Path] = true
	}
	funnel, err := w.Funnel(t.Context(), w.org, workflows.Workflow{ID: exampleWorkflow, CurrentVersion: 1}, 1)
	must(t, err)
	for _, n := range funnel.Nodes {
		if !entered[n.NodePath] {
			t.Errorf("%s: no contact comes to step %s", example.Key, n.NodePath)
		}
	}
}

// does returns an act of recording an activity.
func does(after time.Duration, activity string) act {
	return act{after, func(t testing.TB, w *exampleWorld, p traveller) {
		t.Helper()
		w.act(t, w.ids[p.name], activity, w.Now())
	}}
}

// becomes returns an act of changing an attribute.
func becomes(after time.Duration, name string, value any) act {
	return act{after, func(t testing.TB, w *exampleWorld, p traveller) {
		t.Helper()
		w.edit(t, w.ids[p.name], func(c *contacts.Contact) { c.Attributes[name] = value })
	}}
}

// nothing returns an act that only lets the runner look for dates that have come.
func nothing(after time.Duration) act {
	return act{after, func(testing.TB, *exampleWorld, traveller) {}}
}

// unsubscribes returns an act of opting out of all mail.
func unsubscribes(after time.Duration) act {
	return act{after, func(t testing.TB, w *exampleWorld, p traveller) {
		t.Helper()
		w.optOut(t, p.name, []string{"all"})
	}}
}

// reads returns an act of opening a message with the template, or of clicking in it.
func reads(after time.Duration, kind messages.EventType, template string) act {
	return act{after, func(t testing.TB, w *exampleWorld, p traveller) {
		t.Helper()
		e := messages.Event{
			ID: core.NewID(), MessageID: core.NewID(), Type: kind, OccurredAt: w.Now(), Recipient: p.name + "@example.com",
			Mail: messages.Mail{From: "us@example.org", To: []string{p.name + "@example.com"}, SentAt: w.Now(), Template: template},
		}
		must(t, w.db.InTx(t.Context(), func(ctx context.Context) error {
			if _, err := w.db.Messages().RecordEvents(ctx, w.org, []messages.Event{e}, w.Now()); err != nil {
				return err
			}
			return w.observer.ObserveEvents(ctx, w.org, []messages.Event{e})
		}))
	}}
}
