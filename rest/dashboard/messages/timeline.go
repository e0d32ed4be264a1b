package messages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/mailstatus"
)

// event is an event of a message as the operation messages_events returns it.
type event struct {
	Type       string          `json:"type"`
	OccurredAt time.Time       `json:"occurred_at"`
	Metadata   json.RawMessage `json:"metadata"`
}

// timeline is the data of the events of a message.
type timeline struct {
	Events []moment
	// Earlier is the number of events that the page leaves out, in words, or "".
	Earlier string
	// numbers has the number of each shown event by its id.
	numbers map[string]string
}

// moment is the data of one event in the timeline.
type moment struct {
	Number string
	Status mailstatus.Status
	When   frame.When
	Clock  string
	// After is the time since the event before, "" for the first event.
	After     string
	Recipient string
	Facts     []fact
	Raw       string
}

// fact is a detail of an event. Quoted marks text that the provider, a mail server or a
// recipient's program wrote.
type fact struct {
	Name, Text string
	Quoted     bool
}

const (
	// shownEvents is the number of events that a timeline shows, the latest ones.
	shownEvents = 100
	// longestFact is the maximum length of a detail in characters. The raw detail has all of
	// it.
	longestFact = 600
)

// factNames are the details that a timeline shows by name, in order. The raw detail has the
// others too.
var factNames = []struct {
	member, name string
	quoted       bool
}{
	{"bounce_type", "Bounce type", true},
	{"bounce_sub_type", "Sub type", true},
	{"smtp_response", "The mail server answered", true},
	{"reject_reason", "The provider's reason", true},
	{"errorMessage", "The provider's error", true},
	{"delay_type", "Delay type", true},
	{"complaint_feedback_type", "Feedback type", true},
	{"click_url", "Link", true},
	{"processing_time_ms", "Time until delivery in ms", false},
	{"user_agent", "Program", true},
	{"ip_address", "IP address", false},
}

// timelineOf returns the latest events of a message, oldest first. parts are the latest
// events of its diagnosis, which have ids and recipients.
func (m *Messages) timelineOf(events []event, parts []diagnosedPart) timeline {
	t := timeline{numbers: map[string]string{}}
	first := max(0, len(events)-shownEvents)
	if first > 0 {
		t.Earlier = frame.Quantity(int64(first), "earlier event", "earlier events")
	}
	for i := first; i < len(events); i++ {
		e := events[i]
		shown := moment{
			Number: strconv.Itoa(i + 1), Status: mailstatus.Of(e.Type), When: m.When(e.OccurredAt),
			Clock: e.OccurredAt.UTC().Format("2 Jan 2006, 15:04:05.000 UTC"), Facts: factsOf(e.Metadata), Raw: rawText(e.Metadata),
		}
		if i > 0 {
			shown.After = distance(e.OccurredAt.Sub(events[i-1].OccurredAt))
		}
		// The diagnosis ends with the same event, unless one arrived between the two reads.
		if at := i - len(events) + len(parts); at >= 0 && parts[at].Type == e.Type && parts[at].OccurredAt.Equal(e.OccurredAt) {
			shown.Recipient = frame.PlainName(parts[at].Recipient)
			t.numbers[parts[at].ID] = shown.Number
		}
		t.Events = append(t.Events, shown)
	}
	return t
}

// factsOf returns the named details of an event.
func factsOf(metadata json.RawMessage) []fact {
	members := map[string]any{}
	if json.Unmarshal(metadata, &members) != nil {
		return nil
	}
	var facts []fact
	for _, named := range factNames {
		value, ok := members[named.member]
		if !ok || value == nil || value == "" {
			continue
		}
		facts = append(facts, fact{Name: named.name, Text: cut(frame.PlainName(fmt.Sprint(value))), Quoted: named.quoted})
	}
	return facts
}

// cut returns a text of at most longestFact characters.
func cut(text string) string {
	if utf8.RuneCountInString(text) <= longestFact {
		return text
	}
	return string([]rune(text)[:longestFact-1]) + "…"
}

// rawText returns the details of an event as indented JSON, "" without any. Characters that
// are invisible or change the order of text are written as JSON escapes.
func rawText(metadata json.RawMessage) string {
	var indented bytes.Buffer
	if json.Indent(&indented, metadata, "", "  ") != nil || indented.Len() == 0 || string(metadata) == "null" {
		return ""
	}
	var text strings.Builder
	for _, r := range indented.String() {
		switch {
		case r == '\n' || unicode.IsPrint(r):
			text.WriteRune(r)
		case r > 0xFFFF:
			fmt.Fprintf(&text, `\u%04x\u%04x`, 0xD800+(r-0x10000)>>10, 0xDC00+(r-0x10000)&0x3FF)
		default:
			fmt.Fprintf(&text, `\u%04x`, r)
		}
	}
	return text.String()
}

// distance returns the time between two events in words, such as "3.2 s" or "2 h 5 min".
func distance(d time.Duration) string {
	switch {
	case d < 0:
		return "before the event above"
	case d < time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s later"
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s later", int(d.Minutes()), int(d.Seconds())%60)
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h %d min later", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d d %d h later", int(d.Hours())/24, int(d.Hours())%24)
}
