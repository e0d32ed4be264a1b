package language

import "iter"

// Located is a step with its path; see the package comment.
type Located struct {
	Path string
	Step Step
}

// All returns the steps of the workflow with their paths, those in arms included, in the
// order of the source.
func (t *Tree) All() iter.Seq[Located] {
	return func(yield func(Located) bool) { each(t.Body.Steps, "", yield) }
}

// each yields the steps of a block whose paths begin with prefix. It returns false if the
// caller stopped.
func each(steps []Step, prefix string, yield func(Located) bool) bool {
	for i, step := range steps {
		path := prefix + itoa(i)
		if !yield(Located{path, step}) {
			return false
		}
		for _, arm := range Arms(step) {
			if !each(arm.Block.Steps, path+"."+arm.Label+".", yield) {
				return false
			}
		}
	}
	return true
}

// LabeledBlock is a block inside of a step, with its label in paths.
type LabeledBlock struct {
	Label string
	Block Block
}

// Arms returns the blocks of a step, in the order of the source. Most steps have none.
func Arms(step Step) []LabeledBlock {
	var arms []LabeledBlock
	switch s := step.(type) {
	case *If:
		for i, arm := range s.Arms {
			arms = append(arms, LabeledBlock{ifLabel(i), arm.Then})
		}
		if s.Else != nil {
			arms = append(arms, LabeledBlock{"else", *s.Else})
		}
	case *Split:
		for i, share := range s.Shares {
			arms = append(arms, LabeledBlock{"arm" + itoa(i+1), share.Body})
		}
	case *Repeat:
		arms = append(arms, LabeledBlock{"body", s.Body})
	case *WaitFor:
		if len(s.Timeout.Steps) > 0 {
			arms = append(arms, LabeledBlock{"timeout", s.Timeout})
		}
	}
	return arms
}

func ifLabel(arm int) string {
	if arm == 0 {
		return "then"
	}
	return "elseif" + itoa(arm)
}
