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

// ObserveEvents adds new events to the stored counts; see [messages.Recorder]. It ignores
// events of test messages. It also ignores bounces and complaints of messages that the
// provider did not send, because the address is on the account's own suppression list. The
// provider's rates do not include these events either.
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

// tally sums the counts of a batch of events in memory, so that thousands of events change
// only a few rows.
type tally struct {
	counts map[Subject]*Counts
	hours  map[Subject]*Counts
	// marks maps the mark of an open or click (see markOf) to two counters of unique events:
	// of the day and of the hour. The counters increase by one if the store does not have
	// the mark yet.
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

// rowsOf returns the counts as rows in a fixed order. Concurrent transactions then lock the
// rows in the same order and cannot deadlock.
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

// markOf returns the mark of an open or click: a key that is equal for all opens, or all
// clicks, of a message by one recipient. The store keeps marks so that repeated opens and
// clicks are not counted as unique ones. A mark begins with the day of sending, so that the
// marks of a day are adjacent. If events of one message disagree about its channel,
// template, sender or sending time, their marks differ, and each mark counts once.
func markOf(s Subject, e *messages.Event) string {
	return MarkDay(s.From) + MarkDigest(
		string(e.Type), e.MessageID, core.EmailKey(e.Recipient), s.Channel, s.Identity, s.Template,
		strconv.FormatInt(e.SentAt().UnixMicro(), 10))
}

// MarkDay returns the prefix of the marks (see markOf) of a day: the number of days since
// 1970, in five digits (enough until 2243).
func MarkDay(t time.Time) string { return fmt.Sprintf("%05d", t.Unix()/int64(day/time.Second)) }

// MarkDigest returns the part of a mark (see markOf) after the day: half of a SHA-256
// digest of parts, which is long enough to avoid collisions.
func MarkDigest(parts ...string) string {
	digest := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return base64.RawURLEncoding.EncodeToString(digest[:16])
}

func dayOf(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// domainOf returns the domain of an address in lower case. For a domain it returns the
// domain itself.
func domainOf(address string) string {
	return strings.ToLower(address[strings.LastIndexByte(address, '@')+1:])
}
