package predicate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/predicate/predicatetest"
	"pgregory.net/rapid"
)

// TestGoldenParts compares the parts of each predicate with a golden file.
func TestGoldenParts(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, source := range spoken {
		fmt.Fprintln(&b, source)
		writeParts(&b, compile(t, source).Parts(), "    ")
	}
	compareGolden(t, "parts.golden", b.String())
}

func writeParts(b *strings.Builder, p *predicate.Part, indent string) {
	fmt.Fprintf(b, "%s%s at %d: %s\n", indent, p.Kind, p.At, p.Text)
	for _, part := range p.Parts {
		writeParts(b, part, indent+"    ")
	}
}

// TestPartsHaveTheTruthOfThePredicate checks for random predicates and contacts that the
// results of the tests, combined by the parts, are the result of the whole predicate.
func TestPartsHaveTheTruthOfThePredicate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := predicatetest.Cases(5, 3).Draw(t, "case")
		for _, p := range c.Predicates {
			for _, s := range c.Subjects {
				got := p.Parts().Truth(func(test predicate.Node) predicate.Truth {
					return (&predicate.Checked{Root: test}).Match(s, predicatetest.Now)
				})
				if want := p.Match(s, predicatetest.Now); got != want {
					t.Fatalf("%s is %s, and its parts are %s", p, want, got)
				}
			}
		}
	})
}

// TestExplanationNamesEverything checks for random predicates that the words of each test
// have its names, its operators in words, and its values, and that the sentence has the
// words of all tests.
func TestExplanationNamesEverything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := predicatetest.Cases(1, 3).Draw(t, "case")
		for _, p := range c.Predicates {
			sentence := p.Explain()
			for _, part := range p.Parts().Tests() {
				for _, word := range wordsOf(part.Test, part.Negated) {
					if !strings.Contains(part.Text, word) {
						t.Fatalf("%s is explained by %q, which lacks %q", p, part.Text, word)
					}
				}
				if text := strings.TrimPrefix(strings.TrimPrefix(part.Text, "has "), "is "); !strings.Contains(sentence, text) {
					t.Fatalf("%q lacks %q", sentence, text)
				}
			}
		}
	})
}

// wordsOf returns texts that the explanation of a node must contain.
func wordsOf(n predicate.Node, negated bool) []string {
	switch n := n.(type) {
	case *predicate.And:
		return wordsOfAll(n.Terms, negated)
	case *predicate.Or:
		return wordsOfAll(n.Terms, negated)
	case *predicate.Not:
		return wordsOf(n.Term, !negated)
	case *predicate.Compare:
		return []string{fieldWord(n.Field), comparison(n.Op, negated, n.Field.Type == predicate.Datetime), n.Value.Words()}
	case *predicate.In:
		words := []string{fieldWord(n.Field), map[bool]string{false: "is one of", true: "is none of"}[negated]}
		for _, v := range n.Values {
			words = append(words, v.Words())
		}
		return words
	case *predicate.Match:
		verbs := map[predicate.MatchKind][2]string{
			predicate.StartsWith: {"starts with", "does not start with"}, predicate.EndsWith: {"ends with", "does not end with"},
			predicate.Contains: {"contains", "does not contain"},
		}
		return []string{fieldWord(n.Field), verbs[n.How][index(negated)], predicate.StringValue(n.Text).Words()}
	case *predicate.Known:
		return []string{fieldWord(n.Field), map[bool]string{true: "is known", false: "is not known"}[n.Want != negated]}
	case *predicate.Age:
		words := []string{fieldWord(n.Field), "ago", amount(n.Low)}
		if n.Between {
			return append(words, "between", " and ", amount(n.High))
		}
		return append(words, ageOperator(n.Op, negated))
	case *predicate.EventTest:
		return wordsOfEvents(n, negated)
	case *predicate.Consent:
		return append(denied(negated), map[predicate.ConsentKind]string{
			predicate.Subscribed: "subscribed to the topic", predicate.OptedOut: "opted out of the topic",
			predicate.UnsubscribedAll: "unsubscribed from all mail", predicate.Suppressed: "suppressed",
		}[n.Kind], n.Topic)
	case *predicate.Membership:
		return append(denied(negated), map[bool]string{true: "in the segment", false: "on the list"}[n.Segment], predicate.StringValue(n.Key).Words())
	}
	return []string{"a node of another type"}
}

func denied(negated bool) []string {
	if negated {
		return []string{"not "}
	}
	return nil
}

func index(second bool) int {
	if second {
		return 1
	}
	return 0
}

func wordsOfAll(terms []predicate.Node, negated bool) []string {
	var words []string
	for _, term := range terms {
		words = append(words, wordsOf(term, negated)...)
	}
	return words
}

func wordsOfEvents(n *predicate.EventTest, negated bool) []string {
	words := []string{strings.ReplaceAll(n.Source.Event.Kind.String(), "_", " ")}
	if n.Source.Event.Kind == predicate.ActivityEvent {
		words = []string{predicate.StringValue(n.Source.Event.Activity).Words()}
	}
	if n.Source.HasWithin {
		words = append(words, "within the last", amount(n.Source.Within))
	}
	if n.Source.HasBetween {
		words = append(words, "from ", predicatetest.TimeValue(micro(n.Source.Between.From)).Words())
	}
	if n.Source.Where != nil {
		words = append(words, wordsOf(n.Source.Where, false)...)
	}
	value := predicate.NumberValue(n.Number).Words()
	switch n.Kind {
	case predicate.Exists:
		return append(words, map[bool]string{false: "at least one", true: "no "}[negated])
	case predicate.Count:
		return append(words, counting(n.Op, negated), value)
	case predicate.Last, predicate.First:
		return append(words, map[predicate.EventTestKind]string{predicate.Last: "latest", predicate.First: "first"}[n.Kind],
			comparison(n.Op, negated, true), predicate.Value{Type: predicate.Datetime, Moment: n.Time}.Words())
	}
	return append(words, map[predicate.EventTestKind]string{
		predicate.Sum: "sum of", predicate.Avg: "average", predicate.Min: "smallest", predicate.Max: "largest",
	}[n.Kind], n.Field.Name, comparison(n.Op, negated, false), value)
}
