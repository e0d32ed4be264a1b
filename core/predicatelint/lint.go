package predicatelint

import (
	"cmp"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
)

// The kinds of warnings that this package adds to those of [predicate.Checked.Lint].
const (
	// Never warns about parts that no contact can match.
	Never predicate.WarningKind = "never_true"
	// Always warns about parts that every contact matches.
	Always predicate.WarningKind = "always_true"
	// Repeated warns about a part or a value that occurs before in the same list of parts or
	// values.
	Repeated predicate.WarningKind = "repeated"
	// Expired warns about a time before the time from which data is stored.
	Expired predicate.WarningKind = "not_stored"
	// Circular warns that the segment tests itself through other segments.
	Circular predicate.WarningKind = "circular"
)

// Facts are what the warnings depend on apart from the predicate. The zero value of each
// member leaves out the warnings that need it.
type Facts struct {
	// Now is the present time.
	Now time.Time
	// ActivityDays and MessageDays are the numbers of days after which recorded activities
	// and the events of messages are deleted.
	ActivityDays, MessageDays int
	// Key is the key of the segment that has the predicate. Tests has, by the key of each
	// other segment of the organization, the keys of the segments that its predicate tests.
	Key   string
	Tests map[string][]string
}

// Check returns the warnings about a predicate, sorted by their position in its text. They
// include those of [predicate.Checked.Lint].
func Check(c *predicate.Checked, f Facts) []predicate.Warning {
	l := linter{prover: newProver(), tree: c.Tree(), facts: f, noun: "contact"}
	l.findAll(c.Parts())
	warnings := c.Lint()
	for _, found := range l.findings {
		warnings = append(warnings, l.warning(found))
	}
	slices.SortStableFunc(warnings, func(a, b predicate.Warning) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return warnings
}

// findAll adds the findings about the predicate.
func (l *linter) findAll(root *predicate.Part) {
	l.checkPart(root, nil)
	l.addConsequences(root)
	l.checkTests(root)
}

// maxSteps is the maximum number of steps for one predicate. Predicates that people write
// need less than 10,000. A benchmark measures the time for the largest predicates.
const maxSteps = 500_000

// maxFindings is the maximum number of findings of one predicate.
const maxFindings = 20

// prover decides whether parts contradict each other.
type prover struct {
	// steps is the number of steps that are left. A step is the comparison of two short
	// values, or work that takes about as long. Once no steps are left, no contradiction is
	// found.
	steps int
	// sources has the canonical text of the event source of each event test. empty says of
	// each where-condition whether no event matches it. They are cached, because the search
	// needs them repeatedly and a long where-condition takes long.
	sources map[*predicate.EventTest]string
	empty   map[predicate.Node]bool
}

// newProver returns a prover for one predicate.
func newProver() prover {
	return prover{steps: maxSteps, sources: map[*predicate.EventTest]string{}, empty: map[predicate.Node]bool{}}
}

// spend takes n steps. It returns false if fewer were left.
func (r *prover) spend(n int) bool {
	r.steps -= n
	return r.steps >= 0
}

// linter collects the findings about one predicate, or about one where-condition.
type linter struct {
	prover
	tree  *predicate.Tree
	facts Facts
	// noun is what the parts describe: "contact", or "event" in a where-condition.
	noun     string
	findings []finding
}

// finding is what a warning says. The kinds Never and Always are about the parts together:
// no contact matches all of them, or every contact matches at least one. Repeated has the
// repeated part and then the earlier one. For the other kinds, text is the message.
type finding struct {
	kind  predicate.WarningKind
	noun  string
	parts []*predicate.Part
	// consequence is what the finding means for the whole predicate, or "".
	consequence string
	at          predicate.Offset
	text        string
}

func (l *linter) add(f finding) {
	if f.noun = cmp.Or(f.noun, l.noun); len(l.findings) < maxFindings {
		l.findings = append(l.findings, f)
	}
}
