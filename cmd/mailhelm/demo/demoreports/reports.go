package demoreports

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth/report"
	"github.com/mailhelm/mailhelm/core/domainauth/report/compose"
)

// File is a report as it arrived.
type File struct {
	Name      string
	Content   []byte
	ArrivedAt time.Time
}

// reporter is a receiver of mail that sends reports.
type reporter struct {
	org, email string
	format     compose.Format
	share      int           // of 100 messages
	begins     time.Duration // of its day, after that of UTC
	// weekly reporters send one report about each complete week. late ones have the old policy
	// for a day after a change.
	weekly, late bool
}

var reporters = []reporter{
	{org: "northmail.example", email: "noreply-dmarc@northmail.example", format: compose.RFC7489, share: 50, late: true},
	{org: "Meadow Mail", email: "dmarc-reports@meadow.example", format: compose.RFC9990, share: 27},
	{org: "Harbour Hosting", email: "postmaster@harbour.example", format: compose.RFC7489, share: 15, begins: -2 * time.Hour},
	{org: "Lakeside College", email: "dmarc@lakeside.example", format: compose.RFC9990, share: 8, weekly: true},
}

const day = 24 * time.Hour

// writer writes the reports of all days.
type writer struct {
	today   time.Time
	chance  *rand.Rand
	senders []sender
	// seen has the records of reports that are not written yet, for each reporter.
	seen  []map[recordKey]uint64
	files []File
}

type recordKey struct {
	address netip.Addr
	sender  int
	// kind is the place of the kind among those of the sender on the day since.
	kind, since int
}

// Reports returns the reports of the days before today that arrived by now, in the order of their
// arrival. selector is a DKIM selector of the sending account.
func Reports(now time.Time, selector string) ([]File, error) {
	w := writer{
		today: now.UTC().Truncate(day), senders: senders(selector), seen: make([]map[recordKey]uint64, len(reporters)),
		chance: rand.New(rand.NewPCG(9990, 7489)), //nolint:gosec // repeatable on purpose
	}
	for i := range w.seen {
		w.seen[i] = map[recordKey]uint64{}
	}
	for ago := Days; ago > 0; ago-- {
		w.mail(ago)
		if err := w.write(ago); err != nil {
			return nil, err
		}
	}
	arrived := slices.DeleteFunc(w.files, func(f File) bool { return f.ArrivedAt.After(now) })
	slices.SortStableFunc(arrived, func(a, b File) int { return a.ArrivedAt.Compare(b.ArrivedAt) })
	return arrived, nil
}

// mail has the reporters see the mail of a day.
func (w *writer) mail(ago int) {
	d := dayAgo(w.today, ago)
	for at, s := range w.senders {
		n := s.perDay(d)
		if n == 0 {
			continue
		}
		kinds := s.kinds(d)
		for range n - n/6 + w.chance.IntN(n/3+1) {
			r := w.oneOf(len(reporters), func(i int) int { return reporters[i].share })
			k := w.oneOf(len(kinds), func(i int) int { return kinds[i].weight })
			if reporters[r].weekly && !w.isComplete(ago) {
				continue
			}
			w.seen[r][recordKey{s.host(w.chance.IntN(s.hosts)), at, k, epoch(ago)}]++
		}
	}
}

// epoch returns the day since which senders send the kinds that they send on a day.
func epoch(ago int) int {
	if ago > SignedDay {
		return Days
	}
	return SignedDay
}

// host returns one of the addresses of a sender.
func (s sender) host(n int) netip.Addr {
	a := s.address
	for range n {
		a = a.Next()
	}
	return a
}

// oneOf draws one of n things by their weights.
func (w *writer) oneOf(n int, weight func(int) int) int {
	sum := 0
	for i := range n {
		sum += weight(i)
	}
	drawn := w.chance.IntN(sum)
	for i := range n {
		if drawn -= weight(i); drawn < 0 {
			return i
		}
	}
	return n - 1
}

// isComplete reports whether all of the week of a day is in the history.
func (w *writer) isComplete(ago int) bool {
	sinceMonday := int(w.today.AddDate(0, 0, -ago).Weekday()+6) % 7
	return ago+sinceMonday <= Days && ago+sinceMonday-7 >= 0
}

// write has the reporters send their reports at the end of a day.
func (w *writer) write(ago int) error {
	d := w.today.AddDate(0, 0, -ago)
	for i := range reporters {
		r := &reporters[i]
		begin, length := d.Add(r.begins), day
		if r.weekly {
			if d.Weekday() != time.Sunday {
				continue
			}
			begin, length = d.Add(-6*day), 7*day
		}
		if len(w.seen[i]) == 0 {
			continue
		}
		if err := w.report(r, begin, begin.Add(length-time.Second), w.seen[i]); err != nil {
			return err
		}
		w.seen[i] = map[recordKey]uint64{}
	}
	return nil
}

// report adds the file of one report.
func (w *writer) report(r *reporter, begin, end time.Time, seen map[recordKey]uint64) error {
	known := end
	if r.late {
		known = known.Add(-day)
	}
	policy := "none"
	if !known.Before(w.today.Add(-PolicyDay*day + changeTime)) {
		policy = "quarantine"
	}
	metadata := report.Report{
		Version: "1.0", Org: r.org, Email: r.email, ID: fmt.Sprintf("%d.%s", begin.Unix(), Domain), Begin: begin, End: end,
		Policy: report.Policy{Domain: Domain, P: policy, SP: policy, ADKIM: "r", ASPF: "r", Pct: "100"},
	}
	var b bytes.Buffer
	if err := compose.WriteGzip(&b, r.format, metadata, slices.Values(w.records(seen, policy))); err != nil {
		return err
	}
	host := r.email[strings.IndexByte(r.email, '@')+1:]
	w.files = append(w.files, File{
		Name: fmt.Sprintf("%s!%s!%d!%d.xml.gz", host, Domain, begin.Unix(), end.Unix()), Content: b.Bytes(),
		ArrivedAt: end.Add(time.Hour + time.Duration(w.chance.IntN(5*3600))*time.Second),
	})
	return nil
}

// records returns the records of a report in a fixed order.
func (w *writer) records(seen map[recordKey]uint64, policy string) []report.Record {
	keys := make([]recordKey, 0, len(seen))
	for key := range seen {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b recordKey) int {
		return cmp.Or(cmp.Compare(a.sender, b.sender), cmp.Compare(a.since, b.since), cmp.Compare(a.kind, b.kind), a.address.Compare(b.address))
	})
	all := make([]report.Record, len(keys))
	for i, key := range keys {
		k := w.senders[key.sender].kinds(dayOf{ago: key.since})[key.kind]
		all[i] = report.Record{
			SourceIP: key.address, Count: seen[key], Disposition: "none", DKIM: k.dkim, SPF: k.spf, Reasons: k.reasons,
			HeaderFrom: Domain, EnvelopeFrom: k.envelope, Signatures: k.signatures, SPFResults: k.results,
		}
		if !k.dkim && !k.spf && !k.exempt {
			all[i].Disposition = policy
		}
	}
	return all
}
