package reports

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
)

var _ messages.Recorder = (*Reports)(nil)

// ObserveEvents counts new events; see [messages.Recorder]. It ignores events of test
// messages. It also ignores bounces and complaints that only report an address on the
// account's own list. No message bounced and no person complained then, and the provider
// leaves both out of its rates.
func (r *Reports) ObserveEvents(ctx context.Context, orgID string, events []messages.Event) error {
	t := tallyOf(events)
	if len(t.marks) > 0 {
		fresh, err := r.Store.Mark(ctx, orgID, slices.Sorted(maps.Keys(t.marks)))
		if err != nil {
			return fmt.Errorf("report marks: %w", err)
		}
		for _, mark := range fresh {
			for _, unique := range t.marks[mark] {
				*unique++
			}
		}
	}
	if len(t.counts) > 0 {
		if err := r.Store.CountDays(ctx, orgID, rowsOf(t.counts)); err != nil {
			return fmt.Errorf("report counts: %w", err)
		}
	}
	if len(t.hours) > 0 {
		if err := r.Store.CountHours(ctx, orgID, rowsOf(t.hours)); err != nil {
			return fmt.Errorf("report counts of hours: %w", err)
		}
	}
	if len(t.bounces) > 0 {
		if err := r.Store.CountBounces(ctx, orgID, t.bounceRows()); err != nil {
			return fmt.Errorf("bounces by domain: %w", err)
		}
	}
	return nil
}

// tally holds the counts of a batch of events. It sums them in memory, so that thousands
// of events become a handful of rows.
type tally struct {
	counts map[Subject]*Counts
	hours  map[Subject]*Counts
	// marks maps each mark to the unique counters that increase by one if the mark is
	// new.
	marks   map[string][]*int64
	bounces map[DomainBounces]int64 // by day and domain
}

func tallyOf(events []messages.Event) tally {
	t := tally{counts: map[Subject]*Counts{}, hours: map[Subject]*Counts{}, marks: map[string][]*int64{}, bounces: map[DomainBounces]int64{}}
	for i := range events {
		t.add(&events[i])
	}
	return t
}

func (t tally) add(e *messages.Event) {
	if e.Mail.Test || e.IsKeptBack() || new(Counts).counter(e.Type) == nil {
		return
	}
	sent := e.SentAt().UTC()
	s := Subject{From: dayOf(sent), Channel: e.Mail.Channel, Identity: domainOf(e.Mail.From), Template: e.Mail.Template}
	hour := s
	hour.From = sent.Truncate(time.Hour)
	inDay, inHour := countsIn(t.counts, s), countsIn(t.hours, hour)
	*inDay.counter(e.Type)++
	*inHour.counter(e.Type)++
	if inDay.unique(e.Type) != nil {
		t.marks[markOf(s, e)] = []*int64{inDay.unique(e.Type), inHour.unique(e.Type)}
	}
	if e.Type == messages.Bounce {
		t.bounces[DomainBounces{Day: s.From, Domain: domainOf(e.Recipient)}]++
	}
}

func countsIn(counted map[Subject]*Counts, s Subject) *Counts {
	counts := counted[s]
	if counts == nil {
		counts = &Counts{}
		counted[s] = counts
	}
	return counts
}

// rowsOf returns the counts as sorted rows, so that concurrent batches lock rows in the
// same order.
func rowsOf(counted map[Subject]*Counts) []Counted {
	rows := make([]Counted, 0, len(counted))
	for s, c := range counted {
		rows = append(rows, Counted{s, *c})
	}
	slices.SortFunc(rows, func(a, b Counted) int {
		return cmp.Or(a.From.Compare(b.From), strings.Compare(a.Channel, b.Channel),
			strings.Compare(a.Identity, b.Identity), strings.Compare(a.Template, b.Template))
	})
	return rows
}

func (t tally) bounceRows() []DomainBounces {
	rows := make([]DomainBounces, 0, len(t.bounces))
	for key, bounced := range t.bounces {
		rows = append(rows, DomainBounces{Day: key.Day, Domain: key.Domain, Bounced: bounced})
	}
	slices.SortFunc(rows, func(a, b DomainBounces) int {
		return cmp.Or(a.Day.Compare(b.Day), strings.Compare(a.Domain, b.Domain))
	})
	return rows
}

// markOf returns the mark of a recipient's open or click of a message. It begins with
// the day of sending, so that marks of a day are adjacent. It includes the subject and
// the time of sending. If events disagree about their message, each version counts once,
// in any order of arrival.
func markOf(s Subject, e *messages.Event) string {
	return MarkDay(s.From) + MarkDigest(
		string(e.Type), e.MessageID, core.EmailKey(e.Recipient), s.Channel, s.Identity, s.Template,
		strconv.FormatInt(e.SentAt().UnixMicro(), 10))
}

// MarkDay returns the prefix of all marks of a day: the number of days since 1970, in
// five digits (valid until 2243).
func MarkDay(t time.Time) string { return fmt.Sprintf("%05d", t.Unix()/int64(day/time.Second)) }

// MarkDigest returns the part of a mark that distinguishes opens and clicks of one day.
// Half a SHA-256 suffices to avoid collisions.
func MarkDigest(parts ...string) string {
	digest := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return base64.RawURLEncoding.EncodeToString(digest[:16])
}

func dayOf(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// domainOf returns the domain of an address, or the domain itself, in lower case.
func domainOf(address string) string {
	return strings.ToLower(address[strings.LastIndexByte(address, '@')+1:])
}
