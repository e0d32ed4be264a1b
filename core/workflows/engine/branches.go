package engine

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// enterArm returns the index in planned.arms of the arm that the contact takes at an if or a
// split, and adds its label to the event of the step that begins. The index is noArm for other
// steps, and for an if of which the contact takes no arm.
func (m *motion) enterArm(of planned, e *Event) int {
	switch s := of.step.(type) {
	case *language.Split:
		arm := m.share(of.path, s)
		e.Arm = language.Arms(s)[arm].Label
		return arm
	case *language.If:
		for i, arm := range s.Arms {
			if m.facts.matches(m.plan.checked.Condition(arm.When)) {
				e.Detail = language.Arms(s)[i].Label
				return i
			}
		}
		if s.Else != nil {
			e.Detail = "else"
			return len(s.Arms)
		}
	}
	return noArm
}

// noArm is the index of no arm.
const noArm = -1

// share returns the index of the share that the contact is in.
func (m *motion) share(path string, s *language.Split) int {
	point := cohort("split", m.facts.WorkflowID, path, m.facts.ContactID)
	for i, share := range s.Shares {
		if point -= share.Percent; point < 0 {
			return i
		}
	}
	return len(s.Shares) - 1
}

func (m *motion) holdOut(path string, s *language.HoldOut) (goes bool) {
	if cohort("hold out", m.facts.WorkflowID, path, m.facts.ContactID) < s.Percent {
		m.exit(ByHoldOut, "")
		return false
	}
	return true
}

// cohort returns a number from 0 to 99 for a contact at a step. It is the same whenever the
// contact comes to this step of this workflow, and independent of other steps and workflows.
func cohort(of ...string) int {
	hash := sha256.New()
	for _, part := range of {
		hash.Write([]byte(part))
		hash.Write([]byte{0})
	}
	return int(binary.BigEndian.Uint64(hash.Sum(nil)) % 100)
}
