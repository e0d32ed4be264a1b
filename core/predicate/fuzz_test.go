package predicate_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/predicate"
)

// FuzzParse checks that Parse handles any text. An invalid text gives an error with a
// position in the text and a short message. A valid predicate is printed as text that
// parses to the same tree, and it can be checked, explained and matched.
func FuzzParse(f *testing.F) {
	for line := range strings.Lines(predicate.Reference) {
		f.Add(strings.TrimSpace(line))
	}
	for _, source := range faulty {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source string) {
		tree, err := predicate.Parse(source)
		if err != nil {
			checkFault(t, source, err)
			return
		}
		again, err := predicate.Parse(tree.String())
		if err != nil {
			t.Fatalf("%q is printed as %q: %v", source, tree, err)
		}
		if difference := cmp.Diff(tree.Root, again.Root, withoutPlaces); difference != "" {
			t.Fatalf("%q is printed as %q, which differs: %s", source, tree, difference)
		}
		checked, err := predicate.Check(tree, schema)
		if err != nil {
			var faults predicate.Errors
			if !errors.As(err, &faults) || len(faults) == 0 {
				t.Fatalf("%q: %v", source, err)
			}
			return
		}
		checked.Match(predicate.Subject{}, now)
		if words := checked.Explain(); !utf8.ValidString(words) {
			t.Fatalf("%q is explained by %q", source, words)
		}
		checked.Lint()
		checked.References()
		checked.EvalClass()
	})
}

func checkFault(t *testing.T, source string, err error) {
	t.Helper()
	fault, is := errors.AsType[*predicate.Error](err)
	if !is {
		t.Fatalf("%q: %v is no *Error", source, err)
	}
	lines := strings.Split(source, "\n")
	if fault.Line < 1 || fault.Line > len(lines) || fault.Column < 1 || fault.Column > len(lines[fault.Line-1])+1 {
		t.Fatalf("%q: the fault is at line %d, column %d", source, fault.Line, fault.Column)
	}
	if text := err.Error(); len(text) > 1000 || !utf8.ValidString(text) {
		t.Fatalf("%q: the fault is %q", source, text)
	}
}
