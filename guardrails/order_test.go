package guardrails

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

// TestOrderIsTheDocumentedOne checks that the list of guardrails in doc.go has the order in
// which they run.
func TestOrderIsTheDocumentedOne(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, line := range regexp.MustCompile(`(?m)^//\t(\w+) +.*\.go$`).FindAllSubmatch(doc, -1) {
		documented = append(documented, string(line[1]))
	}
	// Catalogue.Admit runs the guardrails authenticate and limit, before Operation.Call
	actual := []string{"authenticate", "limit"}
	for _, r := range order {
		actual = append(actual, r.name)
	}
	actual = append(actual, "present") // the last guardrail, which Operation.Call runs itself
	if !slices.Equal(documented, actual) {
		t.Errorf("doc.go lists %v\n   the code runs %v", documented, actual)
	}
}
