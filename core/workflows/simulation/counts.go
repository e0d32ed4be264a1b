package simulation

import (
	"cmp"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// Result is what has happened in a simulation.
type Result struct {
	// Contacts is the number of contacts, Enrolled that of the runs that began, and Active that
	// of the runs that had not ended.
	Contacts, Enrolled, Active int
	// Days has all days (UTC) of the simulation.
	Days []Day
	// Sends has all send steps, and Nodes all steps, in the order of the source.
	Sends []StepSends
	Nodes []Node
	// Ends counts the ended runs, the most frequent end first.
	Ends []End
	// Samples has the timelines of the first runs.
	Samples []Timeline
}

// Day is a day of a simulation, which begins at Day in UTC.
type Day struct {
	Day             time.Time
	Enrolled, Sends int
}

// StepSends counts the messages of a send step.
type StepSends struct {
	Path, Template string
	// Held counts messages that waited for a person.
	Sent, Filtered, Held int
	// Days has the number of sent messages of each day of the result.
	Days []int
}

// Node counts the runs that entered a step, how often it was entered, and the runs that were at
// the step at the end of the simulation.
type Node struct {
	Path, Type        string
	Runs, Entries, At int
}

// End counts the runs that ended in one way.
type End struct {
	// Type is engine.RunExited, engine.RunCompleted or engine.RunFailed.
	Type engine.EventType
	Kind engine.ExitKind
	// Exit is the name of a named exit.
	Exit  string
	Count int
}

// Timeline is what happened in one run.
type Timeline struct {
	ContactID string
	StartedAt time.Time
	Events    []engine.Event
}

// counts counts what happens in a simulation.
type counts struct {
	contacts, runs, active int
	first                  time.Time
	days                   []Day
	steps                  []step
	// at has the index in steps of each path.
	at      map[string]int
	ends    map[End]int
	samples []Timeline
	limit   int
	// sampling is true if the current run is a sample.
	sampling bool
}

// step is a step of the workflow with its counts.
type step struct {
	Node
	// run is the number of the last run that entered the step, from 1.
	run int
	// sends is nil for steps that send nothing.
	sends *StepSends
}

const oneDay = 24 * time.Hour

func newCounts(plan *engine.Plan, opts Options) *counts {
	c := &counts{first: opts.From.UTC().Truncate(oneDay), at: map[string]int{}, ends: map[End]int{}, limit: opts.Samples}
	for day := c.first; day.Before(opts.Until); day = day.Add(oneDay) {
		c.days = append(c.days, Day{Day: day})
	}
	for located := range plan.Checked().Tree().All() {
		s := step{Node: Node{Path: located.Path, Type: located.Step.Type()}}
		if send, ok := located.Step.(*language.Send); ok {
			s.sends = &StepSends{Path: located.Path, Template: send.Template, Days: make([]int, len(c.days))}
		}
		c.at[located.Path] = len(c.steps)
		c.steps = append(c.steps, s)
	}
	return c
}

// day returns the index in days of a time.
func (c *counts) day(t time.Time) int { return int(t.Sub(c.first) / oneDay) }

// enrolled counts a run that begins.
func (c *counts) enrolled(contactID string, at time.Time) {
	c.runs++
	c.days[c.day(at)].Enrolled++
	if c.sampling = len(c.samples) < c.limit; c.sampling {
		c.samples = append(c.samples, Timeline{contactID, at, []engine.Event{{Type: engine.Enrolled, At: at}}})
	}
}

// moved counts what the current run has done.
func (c *counts) moved(at time.Time, m engine.Moved) {
	for i := range m.Events {
		c.event(&m.Events[i])
	}
	for _, effect := range m.Effects {
		if message, ok := effect.(*engine.Message); ok {
			c.sent(message.Path, at)
		}
	}
	if c.sampling {
		sample := &c.samples[len(c.samples)-1]
		sample.Events = append(sample.Events, m.Events...)
	}
}

func (c *counts) event(e *engine.Event) {
	switch e.Type {
	case engine.StepEntered:
		s := &c.steps[c.at[e.Path]]
		s.Entries++
		if s.run != c.runs {
			s.run = c.runs
			s.Runs++
		}
	case engine.SendFiltered:
		c.steps[c.at[e.Path]].sends.Filtered++
	case engine.SendHeld:
		c.steps[c.at[e.Path]].sends.Held++
	case engine.RunExited, engine.RunCompleted, engine.RunFailed:
		c.ends[End{Type: e.Type, Kind: e.Kind, Exit: e.Exit}]++
	}
}

// sent counts a message of a step.
func (c *counts) sent(path string, at time.Time) {
	day := c.day(at)
	s := c.steps[c.at[path]].sends
	s.Sent++
	s.Days[day]++
	c.days[day].Sends++
}

// ended counts where a contact is at the end of the simulation.
func (c *counts) ended(j *journey) {
	if j.hasRun && !j.state.IsOver() {
		c.active++
		c.steps[c.at[j.state.Node]].At++
	}
}

func (c *counts) result() Result {
	r := Result{Contacts: c.contacts, Enrolled: c.runs, Active: c.active, Days: slices.Clone(c.days), Samples: slices.Clone(c.samples)}
	for _, s := range c.steps {
		r.Nodes = append(r.Nodes, s.Node)
		if s.sends != nil {
			sends := *s.sends
			sends.Days = slices.Clone(sends.Days)
			r.Sends = append(r.Sends, sends)
		}
	}
	for end, n := range c.ends {
		end.Count = n
		r.Ends = append(r.Ends, end)
	}
	slices.SortFunc(r.Ends, func(a, b End) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Exit, b.Exit))
	})
	return r
}
