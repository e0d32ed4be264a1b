package language

import (
	"fmt"

	"github.com/mailhelm/mailhelm/core/predicate"
)

// The limits of a workflow, as they are named in the field Limit of faults, and their values.
// Each predicate in it has the limits of package predicate.
const (
	LimitSource predicate.Limit = "workflow_bytes"
	LimitSteps  predicate.Limit = "steps"
	LimitDepth  predicate.Limit = "step_depth"
	LimitExits  predicate.Limit = "exits"
	LimitRepeat predicate.Limit = "repeat_passes"

	MaxSource = 64 << 10
	// MaxSteps is the greatest number of steps, those in arms included.
	MaxSteps = 200
	// MaxDepth is how deep steps may be nested. The steps of the workflow itself have depth 1.
	MaxDepth = 10
	MaxExits = 20
	// MaxRepeat is the greatest number of passes of a repeat.
	MaxRepeat = 100
	// MaxName is the greatest length of the name of a workflow or an exit, in bytes.
	MaxName = 200
	// MaxYears is the longest duration of a wait, in years.
	MaxYears = 10
)

var limits = map[predicate.Limit]string{
	LimitSource: fmt.Sprintf("the workflow is longer than %d bytes", MaxSource),
	LimitSteps:  fmt.Sprintf("the workflow has more than %d steps", MaxSteps),
	LimitDepth:  fmt.Sprintf("steps are nested more than %d deep", MaxDepth),
	LimitExits:  fmt.Sprintf("the workflow has more than %d exits", MaxExits),
	LimitRepeat: fmt.Sprintf("a repeat has more than %d passes", MaxRepeat),
}
