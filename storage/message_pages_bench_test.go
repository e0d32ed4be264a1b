package storage_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/storage"
)

// mailOf returns one event of the n-th benchmark message; its type becomes the message's
// status. Messages use two sender domains, 5 channels and 40 templates. One channel sends
// for the second domain only in the first days. Every hundredth message also goes to a
// second recipient, which is always the same address.
func mailOf(n int) messages.Event {
	e := benchEvents(n)[0]
	e.Type = messages.Delivery
	switch {
	case n%50 == 1:
		e.Type = messages.Bounce
	case n%3 == 0:
		e.Type = messages.Open
	case n%10 == 0:
		e.Type = messages.Click
	}
	if n/7%2 == 1 {
		e.Mail.From = "hello@mail.example"
		if n%5 == 1 && n > benchMessages/20 {
			e.Mail.Channel = "channel-2"
		}
	}
	e.Mail.To = []string{e.Recipient}
	if n%100 == 0 {
		e.Mail.To = append(e.Mail.To, "copies@shop.example")
	}
	return e
}

// benchFilters returns every combination of filters. Each filter is unset or has values
// that match many, few, only old, or no messages.
func benchFilters() []messages.Filter {
	all := []messages.Filter{{}}
	cross := func(set func(*messages.Filter, string), values ...string) {
		for _, f := range slices.Clone(all) {
			for _, value := range values {
				set(&f, value)
				all = append(all, f)
			}
		}
	}
	cross(func(f *messages.Filter, v string) { f.Status = messages.EventType(v) }, "Delivery", "Bounce", "Complaint")
	cross(func(f *messages.Filter, v string) { f.Template = v }, "template-1", "template-no")
	cross(func(f *messages.Filter, v string) { f.Channel = v }, "channel-1", "channel-2", "channel-no")
	cross(func(f *messages.Filter, v string) { f.Identity = v }, "shop.example", "mail.example", "other.example")
	cross(func(f *messages.Filter, v string) { f.Recipient = v }, benchEvents(4711)[0].Recipient, "copies@shop.example")
	return all
}

// classOf returns the group in which the benchmark reports a filter. A filter with a
// recipient has a group of its own; the others are grouped by their number of conditions.
func classOf(f messages.Filter) string {
	set := 0
	for _, value := range []string{string(f.Status), f.Template, f.Channel, f.Identity} {
		if value != "" {
			set++
		}
	}
	switch {
	case f.Recipient != "":
		return "with a recipient"
	case set < 2:
		return "one filter or none"
	}
	return "two filters and more"
}

type timedPage struct {
	filter messages.Filter
	took   time.Duration
}

// BenchmarkMessagePages reads pages of a million messages, with every combination of
// filters: the first page, one in the middle and one at the end. It also counts the
// messages. For each class of filters (see classOf) it prints the three slowest filters.
// Each page is read three times and the shortest time counts, because other programs run on
// the machine. Inserting the messages takes minutes, so select the benchmark by name.
func BenchmarkMessagePages(b *testing.B) {
	eachBench(b, func(b *testing.B, db *storage.DB) {
		orgID := core.NewID()
		for n := 0; n < benchMessages; n += benchBatch {
			events := make([]messages.Event, benchBatch)
			for i := range events {
				events[i] = mailOf(n + i)
			}
			if _, err := db.Messages().RecordEvents(b.Context(), orgID, events, benchEnd); err != nil {
				b.Fatal(err)
			}
		}
		page := func(f messages.Filter) error { _, err := db.Messages().Messages(b.Context(), orgID, f); return err }
		count := func(f messages.Filter) error {
			_, err := db.Messages().CountMessages(b.Context(), orgID, f)
			return err
		}
		from := benchEnd.AddDate(0, 0, -benchDays)
		for name, after := range map[string]*core.After{"first page": nil, "middle": {At: from.AddDate(0, 0, 15)}, "end": {At: from.Add(time.Hour)}} {
			b.Run(name, func(b *testing.B) { tellSlowest(b, page, messages.Filter{After: after, Limit: 51}) })
		}
		b.Run("first page of 200", func(b *testing.B) { tellSlowest(b, page, messages.Filter{Limit: 201}) })
		b.Run("count to 10,000", func(b *testing.B) { tellSlowest(b, count, messages.Filter{Limit: 10_001}) })
	})
}

func tellSlowest(b *testing.B, read func(messages.Filter) error, asked messages.Filter) {
	slowest := map[string][]timedPage{}
	for b.Loop() {
		clear(slowest)
		for _, f := range benchFilters() {
			f.From, f.To, f.After, f.Limit = benchEnd.AddDate(0, 0, -benchDays), benchEnd, asked.After, asked.Limit
			timed := timedPage{filter: f, took: time.Hour}
			for range 3 {
				started := time.Now()
				if err := read(f); err != nil {
					b.Fatal(err)
				}
				timed.took = min(timed.took, time.Since(started))
			}
			slowest[classOf(f)] = append(slowest[classOf(f)], timed)
		}
	}
	for class, pages := range slowest {
		slices.SortFunc(pages, func(x, y timedPage) int { return cmp.Compare(y.took, x.took) })
		for _, p := range pages[:min(3, len(pages))] {
			b.Logf("%s: %v by %q %q %q %q %q", class, p.took, p.filter.Status, p.filter.Template, p.filter.Channel, p.filter.Identity, p.filter.Recipient)
		}
		b.Logf("%s: middle %v of %d", class, pages[len(pages)/2].took, len(pages))
	}
}
