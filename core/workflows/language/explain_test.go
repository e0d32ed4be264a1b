package language_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/workflows/language"
	"github.com/mailhelm/mailhelm/core/workflows/language/languagetest"
	"pgregory.net/rapid"
)

// explained has workflows whose explanations show every sentence.
var explained = []string{
	everything,
	workflow("send \"welcome\"\nif subscribed to \"news\" {\n} else {\n exit\n}\nrepeat up to 1 every 1 day { send \"tips\" transactional }"),
	"workflow \"Win back\" v1 {\n enter on event open\n send window 10pm-6am in contact timezone\n frequency cap 1 per day\n exit\n}",
	"workflow \"Bounced\" v1 {\n enter on event bounce where attr.plan = \"pro\"\n frequency cap off\n enroll existing\n exit\n}",
	"workflow \"Renewal\" v1 {\n enter on 3 days before attr.renewal\n enroll existing since 1 week\n reentry per occurrence\n exit\n}",
	"workflow \"Renewed\" v1 {\n enter on 2 hours after attr.renewal\n enroll forward\n exit\n}",
	"workflow \"Birthday\" v1 {\n enter on 0 days after attr.renewal\n exit\n}",
	"workflow \"Customers\" v1 {\n enter on segment \"new-customers\"\n exit\n}",
	"workflow \"No one yet\" v1 {\n enter on segment \"new-customers\"\n enroll forward\n exit\n}",
}

// TestGoldenExplanations compares the explanations of workflows with a golden file: without
// a schema, and with one where that changes the words.
func TestGoldenExplanations(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, source := range explained {
		tree := parse(t, source)
		plain := tree.Explain().String()
		b.WriteString("== " + plain + "\n")
		checked, err := language.Check(tree, schema)
		if err != nil {
			t.Fatal(err)
		}
		if words := checked.Explain().String(); words != plain {
			b.WriteString("== checked: " + words + "\n")
		}
	}
	compareGolden(t, "explanations.txt", b.String())
}

// TestExplanationHasEachStep checks for random workflows that the explanation has a line for
// each step and each arm, in order, and that each line is a sentence or a heading.
func TestExplanationHasEachStep(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := languagetest.Source(t)
		tree, err := language.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		var steps, arms, gotSteps, gotArms []string
		types := map[string]string{}
		for located := range tree.All() {
			types[located.Path] = located.Step.Type()
			steps = append(steps, located.Path)
			for _, arm := range language.Arms(located.Step) {
				arms = append(arms, located.Path+"."+arm.Label)
			}
		}
		words := tree.Explain()
		for _, line := range words.Steps {
			if line.Heading {
				gotArms = append(gotArms, line.Path)
			} else {
				gotSteps = append(gotSteps, line.Path)
			}
			if !strings.HasSuffix(line.Text, ".") && !strings.HasSuffix(line.Text, ":") {
				t.Fatalf("the line %q has no end", line.Text)
			}
			if leaves := line.Text == "Leave the workflow."; !line.Heading && leaves != (types[line.Path] == "exit") {
				t.Fatalf("the step %s of the type %s is explained by %q", line.Path, types[line.Path], line.Text)
			}
			if want := strings.Count(line.Path, ".") / 2; line.Depth != want {
				t.Fatalf("the line of %s has the depth %d, want %d", line.Path, line.Depth, want)
			}
		}
		slices.Sort(arms)
		slices.Sort(gotArms)
		if !slices.Equal(steps, gotSteps) || !slices.Equal(arms, gotArms) {
			t.Fatalf("the explanation has the steps %v and arms %v, want %v and %v", gotSteps, gotArms, steps, arms)
		}
	})
}
