package engine_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
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
		"exists(activity.purchase within 2d)", "count(activity.purchase) >= 2", `in list "vip"`, `subscribed to "offers"`,
		"now - attr.renewal > 1d", "attr.renewal < now", "last(activity.purchase) > now - 12h", "attr.vip = true")
}

func (w *writer) exit() string {
	return w.pick("count(activity.purchase) >= 3", "unsubscribed from all and suppressed", "attr.visits > 4", "exists(activity.purchase within 3h) and attr.vip = true")
}

// source returns the source of a random workflow.
func source(t *rapid.T) string {
	w := &writer{t: t, steps: rapid.IntRange(1, 25).Draw(t, "steps")}
	w.line("workflow \"Random\" v1 {\nenter on activity.signup")
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

// change is a change of the data of a contact.
type change func(s *predicate.Subject, now time.Time)

// changes returns a generator of changes.
func changes() *rapid.Generator[change] {
	set := func(name string, v predicate.Value) change {
		return func(s *predicate.Subject, _ time.Time) { s.Attributes[name] = v }
	}
	return rapid.Custom(func(t *rapid.T) change {
		flag := rapid.Bool().Draw(t, "flag")
		switch rapid.IntRange(0, 12).Draw(t, "change") {
		case 0:
			return set("plan", predicate.StringValue(map[bool]string{true: "pro", false: "free"}[flag]))
		case 1:
			return set("visits", predicate.NumberValue(float64(rapid.IntRange(0, 5).Draw(t, "visits"))))
		case 2:
			return set("vip", predicate.BoolValue(flag))
		case 3:
			after := time.Duration(rapid.IntRange(-48, 96).Draw(t, "hours")) * time.Hour
			return func(s *predicate.Subject, now time.Time) { s.Attributes["renewal"] = date(now.Add(after)) }
		case 4:
			name := rapid.SampledFrom([]string{"plan", "visits", "vip", "renewal", "city"}).Draw(t, "name")
			return func(s *predicate.Subject, _ time.Time) { delete(s.Attributes, name) }
		case 5:
			zone := rapid.SampledFrom([]string{"Europe/Paris", "Australia/Lord_Howe", "America/New_York", "nowhere"}).Draw(t, "zone")
			return set(engine.TimezoneAttribute, predicate.StringValue(zone))
		case 6:
			return func(s *predicate.Subject, _ time.Time) { s.UnsubscribedFromAll = flag }
		case 7:
			return func(s *predicate.Subject, _ time.Time) { s.Suppressed = flag }
		case 8:
			topic := rapid.SampledFrom([]string{"news", "offers"}).Draw(t, "topic")
			return func(s *predicate.Subject, _ time.Time) { s.Topics[topic] = flag }
		case 9:
			return func(s *predicate.Subject, _ time.Time) { s.Lists["list-1"] = flag }
		default:
			return func(s *predicate.Subject, now time.Time) {
				s.Events = append(s.Events, predicate.Occurrence{Event: predicate.Event{Kind: predicate.ActivityEvent, Activity: "purchase"}, At: now.UnixMicro()})
			}
		}
	})
}

func emptySubject() *predicate.Subject {
	return &predicate.Subject{Email: "ann@example.com", Attributes: map[string]predicate.Value{}, Topics: map[string]bool{}, Lists: map[string]bool{}}
}
