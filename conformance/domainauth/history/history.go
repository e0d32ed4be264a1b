package history

import (
	"cmp"
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth/report"
)

// Domain is the domain of all histories, and Other a domain that reports in the same files are about.
const (
	Domain = "bakery.example"
	Other  = "brewery.example"
)

// Size says how large a history is.
type Size struct {
	// Days is the number of days, the last of which is yesterday; at least 90.
	Days int
	// Volume multiplies the numbers of messages.
	Volume float64
	// Fillers is the number of further sources.
	Fillers int
}

// The sizes. Small has 6,000 records, Full 43,000, and Large has 500 sources and more than 50
// million messages.
var (
	Small = Size{Days: 110, Volume: 1}
	Full  = Size{Days: 730, Volume: 1}
	Large = Size{Days: 730, Volume: 60, Fillers: 486}
)

const day = 24 * time.Hour

// History is a generated history.
type History struct {
	// Begin is the first day, and End the day after the last one: midnights in UTC.
	Begin, End time.Time
	// Changed is when the policy went from none to quarantine, and Signed when the own servers began
	// to sign.
	Changed, Signed time.Time
	// Gap has the days, from the first to the one after the last, for which no report came.
	Gap [2]time.Time
	// Zone is what DNS has now.
	Zone Zone
	// Files has the reports as they arrived, in this order.
	Files []File
	// Truth is what the reports say.
	Truth Truth

	generator *generator
}

// File is what arrived at one time.
type File struct {
	Name    string
	Content []byte
	// ArrivedAt is when it arrived, after the end of what it is about.
	ArrivedAt time.Time
	// Reports is the number of reports about Domain that are new with this file, if the files are
	// read in order. Copies, Foreign and TLS count the reports that are known by then, those about
	// another domain, and reports about SMTP TLS. All are zero for a file that is no report.
	Reports, Copies, Foreign, TLS int
}

// generator generates one history.
type generator struct {
	*rand.Rand
	h       *History
	size    Size
	senders []sender
	// policy is that of all reporters, "" for that of the history.
	policy string
	// pending has the records of reports that have not ended, by reporter.
	pending map[string]map[pendingKey]uint64
}

// pendingKey identifies a record of a report: the sender and the kind by their places.
type pendingKey struct {
	sender, kind int
	address      netip.Addr
}

// New generates a history that ends with the day before the one of now.
func New(seed uint64, size Size, now time.Time) *History {
	end := now.UTC().Truncate(day)
	begin := end.Add(-time.Duration(size.Days) * day)
	h := &History{Begin: begin, End: end, Zone: zone(), Truth: newTruth()}
	h.Signed = h.at(0.35).Add(9 * time.Hour)
	// The days after the change are enough for both sides of a comparison in every size.
	h.Changed = end.Add(-38*day + 10*time.Hour)
	gap := h.at(0.5)
	h.Gap = [2]time.Time{gap, gap.Add(4 * day)}
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0x6d61696c)), h: h, size: size, pending: map[string]map[pendingKey]uint64{}}
	g.senders = append(cast(), fillers(size.Fillers)...)
	for d := begin; d.Before(end); d = d.Add(day) {
		if !d.Before(h.Gap[0]) && d.Before(h.Gap[1]) {
			continue
		}
		g.mail(d)
		g.reports(d)
	}
	g.strangers()
	slices.SortStableFunc(h.Files, func(a, b File) int { return a.ArrivedAt.Compare(b.ArrivedAt) })
	h.generator = g
	return h
}

// Following adds a day to the history, on which all reporters have a policy, and returns the files
// about it. Weekly reporters report nothing.
func (h *History) Following(policy string) []File {
	g, before := h.generator, len(h.Files)
	d := h.End
	h.End, g.policy = d.Add(day), policy
	g.mail(d)
	for i := range reporters {
		if reporters[i].weekly {
			delete(g.pending, reporters[i].email)
		}
	}
	g.reports(d)
	return h.Files[before:]
}

// at returns the day at a share of the history.
func (h *History) at(share float64) time.Time {
	days := int(share * h.End.Sub(h.Begin).Hours() / 24)
	return h.Begin.Add(time.Duration(days) * day)
}

// Shuffled returns the files in another order.
func (h *History) Shuffled(seed uint64) []File {
	files := slices.Clone(h.Files)
	rand.New(rand.NewPCG(seed, 1)).Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	return files
}

// mail has all senders send on a day, and gives the receivers their shares.
func (g *generator) mail(d time.Time) {
	for s := range g.senders {
		n := g.sent(&g.senders[s], d)
		if n == 0 {
			continue
		}
		ofKinds := weights(g.senders[s].kinds, func(k kind) float64 { return k.weightAt(g.h, d) })
		byReporter := g.divide(n, weights(reporters, func(r reporter) float64 { return r.share }))
		for r, forReporter := range byReporter {
			if g.size.Fillers > 0 && g.senders[s].filler && r != s%3 {
				continue // in the large history, each further source is seen by one reporter
			}
			for k, m := range g.divide(forReporter, ofKinds) {
				g.accept(d, &reporters[r], pendingKey{s, k, g.senders[s].address(g.IntN(1 << 16))}, m)
			}
		}
	}
}

// accept adds messages to the report of a receiver that is open.
func (g *generator) accept(d time.Time, r *reporter, key pendingKey, n int) {
	if n == 0 || !r.open(g.h, d) {
		return
	}
	if g.pending[r.email] == nil {
		g.pending[r.email] = map[pendingKey]uint64{}
	}
	g.pending[r.email][key] += uint64(n)
}

// sent returns the number of messages of a sender on a day.
func (g *generator) sent(s *sender, d time.Time) int {
	at := d.Sub(g.h.Begin).Hours() / g.h.End.Sub(g.h.Begin).Hours()
	if at < s.from || s.to > 0 && at >= s.to {
		return 0
	}
	n := s.perDay * g.size.Volume * (0.7 + 0.6*g.Float64())
	if s.weekdays && (d.Weekday() == time.Saturday || d.Weekday() == time.Sunday) {
		n *= 0.2
	}
	if s.burst > 0 && g.burst(s, d) || s.filler && g.IntN(2) == 0 {
		return 0
	}
	return int(n)
}

// burst reports whether a sender that sends in bursts rests on a day: it sends for two days in
// each period of so many days.
func (g *generator) burst(s *sender, d time.Time) bool {
	return int(d.Unix()/86400+int64(s.phase))%s.burst > 1
}

// divide divides a number in proportion to weights, with chance where it is not whole.
func (g *generator) divide(n int, weights []float64) []int {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	parts := make([]int, len(weights))
	left := n
	for i, w := range weights {
		share := float64(n) * w / sum
		part := int(share)
		if g.Float64() < share-float64(part) {
			part++
		}
		parts[i] = min(part, left)
		left -= parts[i]
	}
	parts[heaviest(weights)] += left
	return parts
}

// heaviest returns the place of the largest weight.
func heaviest(weights []float64) int {
	return slices.Index(weights, slices.Max(weights))
}

func weights[T any](all []T, of func(T) float64) []float64 {
	w := make([]float64, len(all))
	for i, one := range all {
		w[i] = of(one)
	}
	return w
}

// records returns what a reporter has seen since its last report, in a fixed order, and forgets it.
func (g *generator) records(r *reporter) []pendingRecord {
	var all []pendingRecord
	for key, n := range g.pending[r.email] {
		all = append(all, pendingRecord{key, n})
	}
	slices.SortFunc(all, func(a, b pendingRecord) int {
		return cmp.Or(cmp.Compare(a.sender, b.sender), cmp.Compare(a.kind, b.kind), a.address.Compare(b.address))
	})
	delete(g.pending, r.email)
	return all
}

type pendingRecord struct {
	pendingKey
	messages uint64
}

// record returns the record of a report, with what the receiver did by the policy that it knew.
func (p pendingRecord) record(k kind, r *reporter, policy string) report.Record {
	record := report.Record{
		Domain: Domain, SourceIP: p.address, Count: p.messages, Disposition: "none", DKIM: k.dkim, SPF: k.spf, HeaderFrom: Domain, EnvelopeFrom: k.envelope,
		Reasons: k.reasons, Signatures: k.signatures, SPFResults: k.results,
	}
	switch {
	case k.dkim || k.spf:
		if r.passes {
			record.Disposition = "pass"
		}
	case k.spared:
	case k.forged && r.strict:
		record.Disposition = "reject"
		record.Reasons = []report.Reason{{Type: "local_policy", Comment: "listed by a blocklist"}}
	default:
		record.Disposition = policy
	}
	return record
}
