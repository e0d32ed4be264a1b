package guardrails

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

// TestOrderIsTheDocumentedOne compares the rails in guard.go with the list in doc.go.
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
	actual := []string{"authenticate", "limit"} // Admit, before there is an operation
	for _, r := range order {
		actual = append(actual, r.name)
	}
	actual = append(actual, "present") // after the last rail, see Call
	if !slices.Equal(documented, actual) {
		t.Errorf("doc.go lists %v\n   the code runs %v", documented, actual)
	}
}
