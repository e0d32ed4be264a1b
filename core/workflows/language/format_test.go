package language_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/workflows/language"
	"github.com/mailhelm/mailhelm/core/workflows/language/languagetest"
	"pgregory.net/rapid"
)

func TestFormat(t *testing.T) {
	t.Parallel()
	const untidy = `# Owner: Ada
workflow   "W" v1 { // the whole
# who
  enter on activity.signup   # everybody


  reentry once
  exit "bought" when suppressed
  # first
  send "welcome"
  if suppressed # why
    and suppressed { # inside

    exit // gone
    # at the end
  }
  # last
}
# after`
	const tidy = `# Owner: Ada
workflow "W" v1 { // the whole
  # who
  enter on activity.signup # everybody

  reentry once
  exit "bought" when suppressed

  # first
  send "welcome"
  if suppressed and suppressed { # why
    # inside

    exit // gone
    # at the end
  }
  # last
}
# after
`
	got, err := language.Format(untidy)
	if err != nil || got != tidy {
		t.Errorf("%v\n%s", err, got)
	}
}

// TestFormatDividesLines checks that statements that share a line get no empty line between
// them from the line before.
func TestFormatDividesLines(t *testing.T) {
	t.Parallel()
	const want = "workflow \"W\" v1 {\n  enter on activity.signup\n\n  send \"welcome\"\n  wait 3 days\n}\n"
	got, err := language.Format("workflow \"W\" v1 { enter on activity.signup\n\n send \"welcome\" wait 3 days }")
	if err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
}

// TestFormatKeepsTheMeaning checks random sources: their canonical spelling and their
// formatted source parse to the same tree, formatting again changes nothing, and no comment
// is lost or moved before another.
func TestFormatKeepsTheMeaning(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text, comments := languagetest.SourceWithComments(t)
		tree, err := language.Parse(text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		canonical := tree.String()
		formatted, err := language.Format(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range []string{canonical, formatted} {
			again, err := language.Parse(other)
			if err != nil {
				t.Fatalf("%v\n%s", err, other)
			}
			if !sameTree(tree, again) || again.String() != canonical {
				t.Fatalf("the tree changes:\n%s\nbecomes\n%s", text, other)
			}
		}
		if again, err := language.Format(formatted); err != nil || again != formatted {
			t.Fatalf("formatting changes a formatted source: %v\n%s\nbecomes\n%s", err, formatted, again)
		}
		at := 0
		for n := range comments {
			comment := fmt.Sprintf("#%d;", n+1)
			found := strings.Index(formatted[at:], comment)
			if found < 0 || strings.Count(formatted, comment) != 1 {
				t.Fatalf("the comment %s is lost, moved or doubled:\n%s", comment, formatted)
			}
			at += found
		}
	})
}

// FuzzParse checks that no source makes the parser panic, and that every valid source can be
// formatted and means the same afterwards.
func FuzzParse(f *testing.F) {
	f.Add(everything)
	f.Add(workflow("# c\nif suppressed # d\n{ exit }"))
	for _, source := range faulty {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tree, err := language.Parse(text)
		if err != nil {
			return
		}
		formatted, err := language.Format(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range []string{tree.String(), formatted} {
			again, err := language.Parse(other)
			if err != nil || !sameTree(tree, again) {
				t.Fatalf("%v: the tree changes:\n%s", err, other)
			}
		}
	})
}
