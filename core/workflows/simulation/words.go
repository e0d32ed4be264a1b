package simulation

import (
	"strconv"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// filterWords says why a message would not be sent.
var filterWords = map[engine.Reason]string{
	engine.Capped:          "the frequency cap is reached",
	engine.Suppressed:      "the address is suppressed",
	engine.UnsubscribedAll: "the contact is unsubscribed from all",
	engine.OptedOut:        "the contact is not subscribed to the topic",
}

func sendWords(m *engine.Message) string {
	switch {
	case m.Transactional:
		return predicate.StringLiteral(m.Template) + " transactional"
	case m.Topic != "":
		return predicate.StringLiteral(m.Template) + " via topic " + predicate.StringLiteral(m.Topic)
	}
	return predicate.StringLiteral(m.Template)
}

// branchWords names the arm of an if, with its condition.
func branchWords(s *language.If, label string) string {
	for i, arm := range language.Arms(s) {
		if arm.Label == label && i < len(s.Arms) {
			return label + ": " + s.Arms[i].When.String()
		}
	}
	if label == "" {
		return "none: no condition holds"
	}
	return label + ": no condition holds"
}

// assignmentWords says which value an attribute gets at the time.
func assignmentWords(s *language.SetAttribute, at time.Time) string {
	words := s.Assignment.String()
	if assigned := s.Assignment.Root.(*predicate.Compare); assigned.Value.Moment.Relative {
		words += ", " + timeWords(time.UnixMicro(assigned.Value.Moment.At(at)))
	}
	return words
}

func dateWords(s *language.WaitUntil) string {
	if s.Attribute != "" {
		return "attr." + s.Attribute
	}
	return time.UnixMicro(s.Micros).UTC().Format(time.DateOnly)
}

// passedWords says how long a wait takes and when it ends.
func passedWords(from, until time.Time) string {
	if !until.After(from) {
		return "not at all"
	}
	return spanWords(until.Sub(from)) + ", until " + timeWords(until)
}

func timeWords(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// spanWords returns a duration in its two greatest units, such as "2 days 4 hours".
func spanWords(d time.Duration) string {
	units := []struct {
		word   string
		length time.Duration
	}{{"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute}}
	var parts []string
	for _, unit := range units {
		n := int(d / unit.length)
		d -= time.Duration(n) * unit.length
		if n == 0 {
			continue
		}
		word := unit.word
		if n > 1 {
			word += "s"
		}
		if parts = append(parts, strconv.Itoa(n)+" "+word); len(parts) == 2 {
			break
		}
	}
	if len(parts) == 0 {
		return "less than a minute"
	}
	return strings.Join(parts, " ")
}

// joined returns two texts as one.
func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}
