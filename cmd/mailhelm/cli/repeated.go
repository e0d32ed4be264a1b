package cli

import (
	"context"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"time"
)

// repeatWindow is the time after which a repeated warning is logged again with its count.
// maxRepeats limits how many different warnings are remembered; further ones are logged
// each time.
const (
	repeatWindow = 10 * time.Minute
	maxRepeats   = 1000
)

// withoutRepeats is a log handler that logs a repeated warning or error once, and then its
// count: every ten minutes while it repeats, and at the end. After ten minutes without a
// repetition, it reports that the warning has ceased.
//
// Two records are equal if their level, message and texts are equal. Numbers and durations,
// and digits in the message and in the attributes error, cause and err, are not compared: they
// contain ports and counts. The HTTP server writes such messages. River, the library of jobs, writes
// durations as texts named sleep_duration. Records of calls have different request ids, so each call
// is logged.
type withoutRepeats struct {
	slog.Handler
	// context has the attributes and groups that were added to the handler, as text.
	context string
	seen    *repeats
}

// repeats has the warnings that were logged in the last ten minutes.
type repeats struct {
	mu   sync.Mutex
	byID map[string]*repeat
}

// repeat is one warning that was logged. count is the number of records since the last
// logged one, and total the number since the first.
type repeat struct {
	handler      slog.Handler
	record       slog.Record
	count, total int
	timer        *time.Timer
}

// newWithoutRepeats returns the handler before h, and a function that logs the counts that
// are due. Call this function before the program ends.
func newWithoutRepeats(h slog.Handler) (*withoutRepeats, func()) {
	w := &withoutRepeats{Handler: h, seen: &repeats{byID: map[string]*repeat{}}}
	return w, w.seen.flush
}

// Handle logs the record, or only counts it if an equal one was logged.
func (w *withoutRepeats) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelWarn && !w.seen.isNew(w.context+identity(r), w.Handler, r) {
		return nil
	}
	return w.Handler.Handle(ctx, r)
}

// WithAttrs returns a handler that adds attributes. It shares the counts with w.
func (w *withoutRepeats) WithAttrs(attrs []slog.Attr) slog.Handler {
	text := w.context
	for _, a := range attrs {
		text += attrText(a)
	}
	return &withoutRepeats{w.Handler.WithAttrs(attrs), text, w.seen}
}

// WithGroup returns a handler that puts attributes into a group. It shares the counts
// with w.
func (w *withoutRepeats) WithGroup(name string) slog.Handler {
	return &withoutRepeats{w.Handler.WithGroup(name), w.context + "\x00" + name, w.seen}
}

// identity returns a text that is the same for equal records.
func identity(r slog.Record) string {
	var text strings.Builder
	text.WriteString(r.Level.String() + "\x00" + digits.ReplaceAllString(r.Message, "0"))
	r.Attrs(func(a slog.Attr) bool {
		text.WriteString(attrText(a))
		return true
	})
	return text.String()
}

// digits matches the parts of an error's text that differ between equal errors, such as
// ports and request ids.
var digits = regexp.MustCompile(`[0-9A-Fa-f-]*[0-9][0-9A-Fa-f-]*`)

// attrText returns the part of an attribute that is compared.
func attrText(a slog.Attr) string {
	switch value := a.Value.Resolve(); {
	case a.Key == "error" || a.Key == "cause" || a.Key == "err":
		return "\x00" + a.Key + "=" + digits.ReplaceAllString(value.String(), "0")
	case value.Kind() == slog.KindString && a.Key != "sleep_duration":
		return "\x00" + a.Key + "=" + value.String()
	}
	return "\x00" + a.Key
}

// isNew counts a record. It returns true if no equal record was logged in the last ten
// minutes; the caller then logs it.
func (s *repeats) isNew(id string, h slog.Handler, r slog.Record) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.byID[id]; ok {
		known.count, known.total = known.count+1, known.total+1
		return false
	}
	if len(s.byID) < maxRepeats {
		entry := &repeat{handler: h, record: r.Clone()}
		entry.timer = time.AfterFunc(repeatWindow, func() { s.endWindow(id) })
		s.byID[id] = entry
	}
	return true
}

// endWindow logs the count of a warning that was repeated in the last ten minutes. If it was
// not repeated, endWindow forgets it, and logs that it has ceased if it was repeated before.
func (s *repeats) endWindow(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	entry, ok := s.byID[id]
	if !ok {
		return
	}
	if entry.count > 0 {
		entry.log(entry.record.Level, entry.record.Message, slog.Int("repeated", entry.count), slog.Duration("within", repeatWindow))
		entry.count = 0
		entry.timer.Reset(repeatWindow)
		return
	}
	delete(s.byID, id)
	if entry.total > 0 {
		entry.log(slog.LevelInfo, "ceased: "+entry.record.Message, slog.Int("repeated", entry.total), slog.Time("since", entry.record.Time))
	}
}

// flush logs the counts of all warnings that were repeated since their last log line, and
// forgets all warnings.
func (s *repeats) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, entry := range s.byID {
		entry.timer.Stop()
		delete(s.byID, id)
		if entry.count > 0 {
			entry.log(entry.record.Level, entry.record.Message, slog.Int("repeated", entry.count))
		}
	}
}

// log logs the attributes of the warning with another message and more attributes.
func (e *repeat) log(level slog.Level, message string, more ...slog.Attr) {
	ctx := context.Background()
	if !e.handler.Enabled(ctx, level) {
		return
	}
	r := slog.NewRecord(time.Now(), level, message, 0) //nolint:forbidigo // the time of a log line
	e.record.Attrs(func(a slog.Attr) bool {
		r.AddAttrs(a)
		return true
	})
	r.AddAttrs(more...)
	_ = e.handler.Handle(ctx, r) // a log that cannot be written cannot be reported either
}
