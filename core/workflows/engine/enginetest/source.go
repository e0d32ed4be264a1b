package enginetest

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"
)

// writer writes the source of a random workflow: every setting and step.
type writer struct {
	strings.Builder
	t *rapid.T
	// steps is how many steps may still be written.
	steps int
}

func (w *writer) line(format string, values ...any) { fmt.Fprintf(w, format+"\n", values...) }

func (w *writer) pick(words ...string) string { return rapid.SampledFrom(words).Draw(w.t, "word") }

func (w *writer) number(least, most int) int { return rapid.IntRange(least, most).Draw(w.t, "number") }

func (w *writer) maybe() bool { return rapid.Bool().Draw(w.t, "maybe") }

func (w *writer) duration() string {
	return fmt.Sprintf("%d %s", w.number(1, 20), w.pick("minutes", "hours", "hours", "days"))
}

func (w *writer) predicate() string {
	return w.pick("suppressed", `attr.plan = "pro"`, "not attr.vip = true", "attr.visits > 3 or attr.city is known",
		"exists(activity.purchase within 2d)", "count(activity.purchase) >= 2", `in list "vip"`, `in segment "customers"`, `subscribed to "offers"`,
		"now - attr.renewal > 1d", "attr.renewal < now", "last(activity.purchase) > now - 12h", "attr.vip = true")
}

func (w *writer) exit() string {
	return w.pick("count(activity.purchase) >= 3", "unsubscribed from all and suppressed", "attr.visits > 4", "exists(activity.purchase within 3h) and attr.vip = true")
}

// Source returns the source of a random workflow with up to most steps. Its statements after
// the trigger begin with settings, the trigger settings.
func Source(t *rapid.T, most int, settings string) string {
	w := &writer{t: t, steps: rapid.IntRange(1, most).Draw(t, "steps")}
	w.line("workflow \"Random\" v1 {\nenter on activity.signup %s", settings)
	for i := range w.number(0, 2) {
		w.line("exit \"exit %d\" when %s", i, w.exit())
	}
	if w.maybe() {
		w.line("send window %s in contact timezone", w.pick("9am-5pm", "10:30pm-6am", "02:10-02:40"))
	}
	if w.maybe() {
		w.line("frequency cap %s", w.pick("off", "2 per 1 week", "1 per day"))
	}
	w.block(0)
	return w.String()
}

// block writes steps and the "}" after them. The outermost block has at least one step.
func (w *writer) block(depth int) {
	for depth == 0 && w.steps > 0 || depth > 0 && w.steps > 0 && w.maybe() {
		w.steps--
		w.step(depth)
	}
	w.line("}")
}

func (w *writer) step(depth int) {
	most := 14
	if depth > 4 {
		most = 6
	}
	switch w.number(0, most) {
	case 0, 1:
		w.line("send \"welcome\" %s", w.pick("", "via topic news", "via topic offers", "transactional"))
	case 2:
		w.line("wait %s", w.duration())
	case 3:
		w.line("wait until %s", w.pick("2026-06-20", "attr.renewal", "attr.renewal", "2026-01-01"))
	case 4:
		w.line("%s", w.pick(`set attr.plan = "pro"`, "set attr.visits = 4", "set attr.vip = true", "set attr.renewal = now + 3d", "set attr.renewal = 2026-06-18"))
	case 5:
		w.line("%s", w.pick(`add to list "vip"`, `add to list "vip"`, `add to list "beta"`, "hold out 20%"))
	case 6:
		w.line("%s", w.pick("hold out 5%", `set attr.visits = 0`, "exit"))
	case 7, 8:
		w.line("if %s {", w.predicate())
		w.block(depth + 1)
		for w.maybe() {
			w.line("else if %s {", w.predicate())
			w.block(depth + 1)
		}
		if w.maybe() {
			w.line("else {")
			w.block(depth + 1)
		}
	case 9:
		w.line("split {\n30%%: {")
		w.block(depth + 1)
		w.line("70%%: {")
		w.block(depth + 1)
		w.line("}")
	case 10, 11, 12:
		until := ""
		if w.maybe() {
			until = "until " + w.predicate()
		}
		w.line("repeat up to %d every %s %s {", w.number(1, 3), w.duration(), until)
		w.block(depth + 1)
	default:
		w.line("wait up to %s until %s", w.duration(), w.predicate())
		if w.maybe() {
			w.line("{ timeout:")
			w.block(depth + 1)
		}
	}
}
