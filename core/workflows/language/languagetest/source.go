// Package languagetest generates random workflows, for tests of the packages that read them.
package languagetest

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"
)

// Source returns the source of a random workflow: every setting and step, with blanks and
// comments in random places.
func Source(t *rapid.T) string {
	text, _ := SourceWithComments(t)
	return text
}

// writer builds a source from words.
type writer struct {
	strings.Builder
	t *rapid.T
	// steps is how many steps may still be written.
	steps int
	// comments counts the written comments. Comment number n has the text "#n;".
	comments int
}

// word writes words of the source, each after a random gap.
func (w *writer) word(words ...string) {
	for _, word := range words {
		w.gap()
		w.WriteString(word)
	}
}

// gap writes blanks, sometimes with line ends and comments.
func (w *writer) gap() {
	switch rapid.IntRange(0, 24).Draw(w.t, "gap") {
	case 0:
		w.WriteString("\n")
	case 1:
		w.WriteString("\n\n \n")
	case 2:
		w.comments++
		fmt.Fprintf(w, " #%d;\n", w.comments)
	case 3:
		w.comments++
		fmt.Fprintf(w, "\n\n//#%d;\n", w.comments)
	default:
		w.WriteString(" ")
	}
}

func (w *writer) pick(words ...string) string { return rapid.SampledFrom(words).Draw(w.t, "word") }

func (w *writer) number(least, most int) string {
	return fmt.Sprint(rapid.IntRange(least, most).Draw(w.t, "number"))
}

func (w *writer) duration() {
	w.word(w.number(1, 50), w.pick("minute", "minutes", "hour", "hours", "day", "days", "week", "weeks", "month", "months"))
}

func (w *writer) predicate() {
	w.word(w.pick("suppressed", `attr.plan = "pro"`, "not attr.vip = true", "(attr.visits > 3 or attr.city is known)",
		"exists(open within 7d) and count(activity.purchase) >= 2", `in list "vip"`))
}

func (w *writer) maybe() bool { return rapid.Bool().Draw(w.t, "maybe") }

// SourceWithComments returns the source of a random workflow and the number of its comments.
// Comment number n has the text "#n;", for n from 1.
func SourceWithComments(t *rapid.T) (string, int) {
	w := &writer{t: t, steps: rapid.IntRange(1, 20).Draw(t, "steps")}
	w.word("workflow", w.pick(`"Welcome"`, `"a \"b\" \\ c"`, `"é"`), "v1", "{")
	w.settings()
	w.block(0)
	w.gap()
	return w.String(), w.comments
}

func (w *writer) settings() {
	settings := []func(){w.trigger}
	for i := range rapid.IntRange(0, 3).Draw(w.t, "exits") {
		settings = append(settings, func() { w.word("exit", fmt.Sprintf(`"exit %d"`, i), "when"); w.predicate() })
	}
	optional := []func(){
		func() { w.word("send window", w.pick("9am-5pm", "10:30pm-6am", "08:00-20:15"), "in contact timezone") },
		func() { w.word("reentry", w.pick("once", "on rematch", "per occurrence")) },
		func() { w.word("frequency", "cap", w.pick("off", "3 per 1 week", "1 per day")) },
		func() { w.word("enroll", w.pick("forward", "existing", "existing since 3 days")) },
	}
	for _, setting := range optional {
		if w.maybe() {
			settings = append(settings, setting)
		}
	}
	for _, setting := range rapid.Permutation(settings).Draw(w.t, "settings") {
		setting()
	}
}

func (w *writer) trigger() {
	w.word("enter", "on", w.pick(`segment "new-customers"`, "event click", "activity.purchase", "3 days before attr.renewal", "0 minutes after attr.renewal"))
	if w.maybe() {
		w.word("where")
		w.predicate()
	}
}

// block writes steps and the "}" after them. The outermost block has at least one step.
func (w *writer) block(depth int) {
	for depth == 0 && w.steps > 0 || depth > 0 && w.steps > 0 && w.maybe() {
		w.steps--
		w.step(depth)
	}
	w.word("}")
}

func (w *writer) step(depth int) {
	most := 11
	if depth > 5 {
		most = 6
	}
	switch rapid.IntRange(0, most).Draw(w.t, "step") {
	case 0:
		w.word("send", `"welcome"`, w.pick("", "via topic news", `via topic "special offers"`, "transactional"))
	case 1:
		w.word("wait")
		w.duration()
	case 2:
		w.word("wait until", w.pick("2026-12-24", "attr.renewal"))
	case 3:
		w.word("hold out", w.number(1, 99)+"%")
	case 4:
		w.word("set", w.pick(`attr.plan = "pro"`, "attr.visits = -2.5", "attr.vip = false", "attr.renewal = now + 3d", "attr.renewal = 2027-01-01"))
	case 5:
		w.word("add to list", `"vip"`)
	case 6:
		w.word("exit")
	case 7:
		w.word("if")
		w.predicate()
		w.word("{")
		w.block(depth + 1)
		for w.maybe() {
			w.word("else if")
			w.predicate()
			w.word("{")
			w.block(depth + 1)
		}
		if w.maybe() {
			w.word("else", "{")
			w.block(depth + 1)
		}
	case 8:
		w.word("split {", "30%:", "{")
		w.block(depth + 1)
		w.word("70%", ":", "{")
		w.block(depth + 1)
		w.word("}")
	case 9:
		w.word("repeat up to", w.number(1, 100), "every")
		w.duration()
		if w.maybe() {
			w.word("until")
			w.predicate()
		}
		w.word("{")
		w.block(depth + 1)
	default:
		w.word("wait up to")
		w.duration()
		w.word("until")
		w.predicate()
		if w.maybe() {
			w.word("{", "timeout", ":")
			w.block(depth + 1)
		}
	}
}
