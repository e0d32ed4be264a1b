package engine

import (
	"strings"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// Plan is a checked workflow in the form in which it runs. It is immutable and safe for
// concurrent use.
type Plan struct {
	checked *language.Checked
	// steps has the steps in the order of the source, and at the index of each path.
	steps []planned
	at    map[string]int
}

// planned is a step with the indexes of the steps that follow it.
type planned struct {
	path string
	step language.Step
	// next is the step after this one, end if there is none.
	next int
	// arms has the first step of each block of the step; for an empty block it is the step
	// that follows the block.
	arms []int
	// swept is true for a wait whose condition can change without a change of the contact and
	// not at a known time.
	swept bool
	// loops has the paths of the repeats around the step, the outermost first.
	loops []string
}

// end is the index of the step after the last one.
const end = -1

// Compile returns the plan of a workflow.
func Compile(checked *language.Checked) *Plan {
	p := &Plan{checked: checked, at: map[string]int{}}
	for located := range checked.Tree().All() {
		p.at[located.Path] = len(p.steps)
		p.steps = append(p.steps, planned{path: located.Path, step: located.Step, swept: isSwept(checked, located.Step), loops: p.loopsAround(located.Path)})
	}
	p.link(checked.Tree().Body.Steps, "", end)
	return p
}

// isSwept reports whether a step waits for a condition that reads the suppression list of the
// account, which changes there.
func isSwept(checked *language.Checked, step language.Step) bool {
	wait, ok := step.(*language.WaitFor)
	return ok && checked.Condition(wait.Until).References().Suppression
}

// Checked returns the workflow of the plan.
func (p *Plan) Checked() *language.Checked { return p.checked }

// Settings returns the settings of the workflow.
func (p *Plan) Settings() language.Settings { return p.checked.Tree().Settings }

// Has reports whether the plan has a step with the path.
func (p *Plan) Has(path string) bool {
	_, found := p.at[path]
	return found
}

// Step returns the step with the path, nil if there is none.
func (p *Plan) Step(path string) language.Step {
	if i, found := p.at[path]; found {
		return p.steps[i].step
	}
	return nil
}

// References returns the parts of contacts that the conditions of the workflow read, with the
// attributes that its settings and steps read.
func (p *Plan) References() predicate.References {
	var all []predicate.References
	for _, c := range p.Conditions() {
		all = append(all, c.References())
	}
	named := predicate.References{Attributes: []string{TimezoneAttribute}}
	if trigger := p.Settings().Trigger; trigger.Attribute != "" {
		named.Attributes = append(named.Attributes, trigger.Attribute)
	}
	for _, s := range p.steps {
		if w, ok := s.step.(*language.WaitUntil); ok && w.Attribute != "" {
			named.Attributes = append(named.Attributes, w.Attribute)
		}
	}
	return predicate.Union(append(all, named)...)
}

// Conditions returns the conditions of the workflow, in the order of the source.
func (p *Plan) Conditions() []*predicate.Checked {
	var all []*predicate.Checked
	add := func(trees ...*predicate.Tree) {
		for _, tree := range trees {
			if c := p.checked.Condition(tree); tree != nil && c != nil {
				all = append(all, c)
			}
		}
	}
	settings := p.Settings()
	add(settings.Where)
	for _, exit := range settings.Exits {
		add(exit.When)
	}
	for _, planned := range p.steps {
		switch s := planned.step.(type) {
		case *language.WaitFor:
			add(s.Until)
		case *language.If:
			for _, arm := range s.Arms {
				add(arm.When)
			}
		case *language.Repeat:
			add(s.Until)
		}
	}
	return all
}

// WaitsForChange reports whether runs may wait for a change of their contact.
func (p *Plan) WaitsForChange() bool {
	for _, planned := range p.steps {
		switch s := planned.step.(type) {
		case *language.WaitFor:
			return true
		case *language.WaitUntil:
			if s.Attribute != "" {
				return true
			}
		}
	}
	return false
}

// link sets the steps that follow those of a block whose paths begin with prefix. after is the
// step that follows the block.
func (p *Plan) link(steps []language.Step, prefix string, after int) {
	for i, step := range steps {
		path := prefix + itoa(i)
		at := p.at[path]
		p.steps[at].next = after
		if i+1 < len(steps) {
			p.steps[at].next = p.at[prefix+itoa(i+1)]
		}
		follows := p.steps[at].next
		if _, loop := step.(*language.Repeat); loop {
			follows = at
		}
		for _, arm := range language.Arms(step) {
			inner := path + "." + arm.Label + "."
			p.steps[at].arms = append(p.steps[at].arms, p.first(arm.Block, inner, follows))
			p.link(arm.Block.Steps, inner, follows)
		}
	}
}

// first returns the first step of a block, or the step that follows the block if it is empty.
func (p *Plan) first(block language.Block, prefix string, after int) int {
	if len(block.Steps) == 0 {
		return after
	}
	return p.at[prefix+"0"]
}

// loopsAround returns the paths of the repeats around the step with the path. The steps around
// it are in the plan already.
func (p *Plan) loopsAround(path string) []string {
	var loops []string
	parts := strings.Split(path, ".")
	for n := 1; n+1 < len(parts); n += 2 {
		around := strings.Join(parts[:n], ".")
		if _, loop := p.steps[p.at[around]].step.(*language.Repeat); loop {
			loops = append(loops, around)
		}
	}
	return loops
}
