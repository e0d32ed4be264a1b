package language

import (
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
)

// Explanation is a workflow in English, for people and agents who do not read the language.
// The wording may change between versions.
type Explanation struct {
	Name string `json:"name"`
	// Settings has sentences about who enters, who leaves early, and what holds for all steps.
	Settings []string `json:"settings"`
	// Steps has the steps and the headings of their arms, in the order of the source.
	Steps []Line `json:"steps"`
}

// Line is a step or the heading of an arm in an Explanation.
type Line struct {
	// Path is the path of the step or, for a heading, that of the step with the label of the
	// arm: "3.then".
	Path string `json:"path"`
	// Depth is the number of arms around the line. A heading has the depth of its step.
	Depth int `json:"depth"`
	// Heading is true for the heading of an arm.
	Heading bool   `json:"heading,omitempty"`
	Text    string `json:"text"`
}

// Explain returns the workflow in English. It needs no schema: see [predicate.Tree.Condition].
func (t *Tree) Explain() Explanation { return explainer{}.workflow(t) }

// Explain returns the workflow in English, with the defaults of topics.
func (c *Checked) Explain() Explanation { return explainer{c.conditions}.workflow(c.tree) }

// String returns the explanation as text. Each step is on one line, after its path.
func (e Explanation) String() string {
	var b strings.Builder
	b.WriteString(e.Name + "\n\n")
	for _, sentence := range e.Settings {
		b.WriteString("  " + sentence + "\n")
	}
	b.WriteString("\n")
	for _, line := range e.Steps {
		b.WriteString(strings.Repeat("    ", line.Depth) + "  ")
		if line.Heading {
			b.WriteString("  ")
		} else {
			b.WriteString(line.Path + "  ")
		}
		b.WriteString(line.Text + "\n")
	}
	return b.String()
}

// explainer says the parts of a workflow. checked has the checked conditions; it is nil for
// a tree without a schema.
type explainer struct {
	checked map[*predicate.Tree]*predicate.Checked
}

func (e explainer) condition(tree *predicate.Tree) string {
	if checked := e.checked[tree]; checked != nil {
		return checked.Condition()
	}
	return tree.Condition()
}

func (e explainer) workflow(t *Tree) Explanation {
	all := Explanation{Name: core.Quotable(t.Name, MaxName), Settings: e.settings(t.Settings)}
	e.block(&all, t.Body, "", 0)
	return all
}

// block adds the lines of the steps of a block. prefix precedes their indexes in paths.
func (e explainer) block(all *Explanation, b Block, prefix string, depth int) {
	for i, step := range b.Steps {
		path := prefix + itoa(i)
		all.Steps = append(all.Steps, Line{Path: path, Depth: depth, Text: e.step(step)})
		for _, arm := range Arms(step) {
			label := path + "." + arm.Label
			all.Steps = append(all.Steps, Line{Path: label, Depth: depth, Heading: true, Text: e.arm(step, arm)})
			e.block(all, arm.Block, label+".", depth+1)
		}
	}
}

func (e explainer) settings(s Settings) []string {
	enter := "Contacts enter " + triggerWords(s.Trigger)
	if s.Where != nil {
		enter += ", if " + e.condition(s.Where)
	}
	list := []string{enter + ".", enrollWords(s), reentryWords(s)}
	for _, exit := range s.Exits {
		list = append(list, "Before each step, contacts leave by the exit "+core.Quote(exit.Name)+" if "+e.condition(exit.When)+".")
	}
	if s.Window != nil {
		list = append(list, "Messages leave from "+timeWords(s.Window.From)+" to "+timeWords(s.Window.Until)+nextDay(*s.Window)+" in the timezone of the contact. Later ones wait for the next window.")
	}
	switch {
	case s.Cap == nil:
	case s.Cap.Off:
		list = append(list, "No limit on the number of messages to a contact applies.")
	default:
		list = append(list, "A contact gets at most "+counted(s.Cap.Messages, "message")+" within "+s.Cap.Per.String()+" from all workflows. Messages above that are skipped.")
	}
	return list
}

func triggerWords(t Trigger) string {
	switch {
	case t.Kind == OnSegment:
		return "when they come into the segment " + core.Quote(t.Segment)
	case t.Kind == OnDate && t.Distance.Amount == 0:
		return "at the time in their attribute " + t.Attribute
	case t.Kind == OnDate && t.Before:
		return t.Distance.String() + " before the time in their attribute " + t.Attribute
	case t.Kind == OnDate:
		return t.Distance.String() + " after the time in their attribute " + t.Attribute
	case t.Event.Kind == predicate.ActivityEvent:
		return "at the activity " + core.Quote(t.Event.Activity)
	}
	article := "a "
	if t.Event.Kind == predicate.Open {
		article = "an "
	}
	return "at " + article + strings.ReplaceAll(t.Event.String(), "_", " ") + " event of mail"
}

// enrollWords says whether contacts enter for whom the trigger has happened already.
func enrollWords(s Settings) string {
	existing := s.Trigger.Kind == OnSegment
	if s.Enroll != nil {
		existing = s.Enroll.Existing
	}
	switch {
	case !existing:
		return "Only contacts enter for whom that happens after the activation."
	case s.Trigger.Kind == OnSegment && (s.Enroll == nil || s.Enroll.Since == Duration{}):
		return "Contacts that are in the segment at the activation enter too."
	case s.Enroll.Since == Duration{}:
		return "Contacts for whom that happened before the activation enter too."
	}
	return "Contacts for whom that happened at most " + s.Enroll.Since.String() + " before the activation enter too."
}

func reentryWords(s Settings) string {
	if s.Reentry == Once {
		return "A contact enters once."
	}
	text := "A contact may enter again each time that happens, after the earlier run has ended."
	if len(s.Exits) > 0 {
		text += " A contact that left by an exit does not enter while the condition of the exit holds."
	}
	return text
}

func nextDay(w Window) string {
	if w.Until < w.From {
		return " of the next day"
	}
	return ""
}

// step returns what a step does, in one sentence.
func (e explainer) step(step Step) string {
	switch s := step.(type) {
	case *Send:
		return "Send the template " + core.Quote(s.Template) + s.audience() + "."
	case *Wait:
		return "Wait " + s.For.String() + "."
	case *WaitUntil:
		if s.Attribute != "" {
			return "Wait until the time in their attribute " + s.Attribute + "."
		}
		return "Wait until " + s.time() + ", in UTC."
	case *WaitFor:
		return "Wait until " + e.condition(s.Until) + ", for at most " + s.UpTo.String() + "."
	case *If:
		if len(s.Arms) == 1 {
			return "Decide whether " + e.condition(s.Arms[0].When) + "."
		}
		return "Choose the first of these conditions that holds."
	case *Split:
		return "Divide contacts at random into " + itoa(len(s.Shares)) + " shares. A contact stays in its share."
	case *HoldOut:
		return itoa(s.Percent) + "% of the contacts leave here, as a control group."
	case *Repeat:
		return e.repeat(s)
	case *SetAttribute:
		assigned := s.Assignment.Root.(*predicate.Compare)
		return "Set their " + assigned.Field.Name + " to " + assigned.Value.Words() + "."
	case *AddToList:
		return "Add them to the list " + core.Quote(s.Key) + "."
	}
	return "Leave the workflow."
}

func (s *Send) audience() string {
	switch {
	case s.Topic != "":
		return " to subscribers of the topic " + core.Quote(s.Topic)
	case s.Transactional:
		return " as a transactional message, without regard to consent"
	}
	return ""
}

func (e explainer) repeat(s *Repeat) string {
	text := "Repeat at most " + counted(s.Times, "time") + ", with a wait of " + s.Every.String() + " before each pass"
	if s.Until != nil {
		text += ", until " + e.condition(s.Until)
	}
	return text + "."
}

// arm returns the heading of an arm.
func (e explainer) arm(step Step, arm LabeledBlock) string {
	text := ""
	switch s := step.(type) {
	case *If:
		text = e.ifArm(s, arm.Label)
	case *Split:
		text = "For " + itoa(s.Shares[armIndex(s, arm.Label)].Percent) + "% of the contacts"
	case *Repeat:
		text = "In each pass"
	case *WaitFor:
		text = "If the time is over first"
	}
	if len(arm.Block.Steps) == 0 {
		return text + ": nothing."
	}
	return text + ":"
}

func (e explainer) ifArm(s *If, label string) string {
	switch {
	case label == "else":
		return "Otherwise"
	case len(s.Arms) == 1:
		return "If so"
	case label == "then":
		return "If " + e.condition(s.Arms[0].When)
	}
	return "Otherwise, if " + e.condition(s.Arms[armIndex(s, label)].When)
}

// armIndex returns the index of the arm with a label among the arms of the step.
func armIndex(step Step, label string) int {
	for i, arm := range Arms(step) {
		if arm.Label == label {
			return i
		}
	}
	return 0
}

// counted returns a number with a noun: "1 message" or "3 messages".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return itoa(n) + " " + noun + "s"
}
