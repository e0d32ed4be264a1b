package intake

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth/figures"
)

// errGone means that another process removed a report while it was read.
var errGone = errors.New("intake: the report is read by another process")

// storePart stores the records of a large report that were read until now.
func (b *Batch) storePart(ctx context.Context, p *pending) error {
	if err := b.wait(); err != nil {
		return err
	}
	var named names
	err := b.reader.Transactor.InTx(ctx, func(ctx context.Context) error {
		named = names{}
		if err := b.reader.Store.LockDomains(ctx, b.orgID, []string{p.domain.id}); err != nil {
			return err
		}
		if !p.begun {
			known, err := b.reader.Store.AddReports(ctx, b.orgID, []Report{p.report})
			if err != nil || known[p.report.Identity] {
				return errors.Join(err, errGone)
			}
		}
		return b.addRows(ctx, []*pending{p}, named)
	})
	if err == nil {
		named.keep()
		clear(p.rows)
		p.begun, p.rows, p.size = true, p.rows[:0], 0
	}
	return err
}

// storing is a transaction that stores reports while further ones are read.
type storing struct {
	done chan struct{}
	// all are the reports, counted those of them that were not there.
	all, counted []*pending
	named        names
	err          error
}

// Flush stores what was read, and waits until it is stored.
func (b *Batch) Flush(ctx context.Context) error {
	if err := b.start(ctx); err != nil {
		return err
	}
	return b.wait()
}

// start begins to store what was read, after what was read before is stored.
func (b *Batch) start(ctx context.Context) error {
	if err := b.wait(); err != nil || len(b.pending) == 0 {
		return err
	}
	s := &storing{done: make(chan struct{}), all: b.pending}
	b.storing, b.pending, b.rows, b.size = s, nil, 0, 0
	go func() {
		defer close(s.done)
		defer func() {
			if v := recover(); v != nil {
				s.err = errors.New("intake: panic: " + core.PanicText(v))
			}
		}()
		s.err = b.reader.Transactor.InTx(ctx, func(ctx context.Context) error {
			var err error
			s.named = names{}
			s.counted, err = b.store(ctx, s.all, s.named)
			return err
		})
	}()
	return nil
}

// wait waits until nothing is being stored, and completes the results.
func (b *Batch) wait() error {
	s := b.storing
	if s == nil {
		return nil
	}
	b.storing = nil
	<-s.done
	for _, p := range s.all {
		delete(b.identities, p.domain.id+p.report.Identity)
	}
	if s.err != nil {
		return s.err
	}
	s.named.keep()
	for _, p := range s.all {
		if !slices.Contains(s.counted, p) {
			p.result.Duplicates++
			continue
		}
		p.result.Reports++
		p.result.Records += p.report.Records
		p.result.Messages = figures.Add(p.result.Messages, p.report.Messages)
		for _, w := range p.report.Warnings {
			p.result.Warnings += w.Count
		}
	}
	return nil
}

// store stores reports and counts them. It returns those that were not there.
func (b *Batch) store(ctx context.Context, all []*pending, named names) ([]*pending, error) {
	if err := b.reader.Store.LockDomains(ctx, b.orgID, domainsOf(all)); err != nil {
		return nil, err
	}
	all, err := b.addReports(ctx, all)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	if err := b.addRows(ctx, all, named); err != nil {
		return nil, err
	}
	if err := b.saveSources(ctx, all, named); err != nil {
		return nil, err
	}
	return all, b.reader.Store.AddFigures(ctx, b.orgID, figuresOf(all, named, b.reader.Clock()))
}

// addReports stores those reports that are not begun, and finishes the others. It returns all
// without those that were there.
func (b *Batch) addReports(ctx context.Context, all []*pending) ([]*pending, error) {
	var added []Report
	for _, p := range all {
		p.report.Counted = true
		if !p.begun {
			added = append(added, p.report)
			continue
		}
		if ok, err := b.reader.Store.Finish(ctx, b.orgID, p.report); err != nil || !ok {
			return nil, errors.Join(err, errGone)
		}
	}
	known, err := b.reader.Store.AddReports(ctx, b.orgID, added)
	return slices.DeleteFunc(slices.Clone(all), func(p *pending) bool { return !p.begun && known[p.report.Identity] }), err
}

// addRows stores the records of reports that are not stored yet, with the sources that they
// need.
func (b *Batch) addRows(ctx context.Context, all []*pending, named names) error {
	for _, of := range byDomain(all) {
		if err := b.nameSources(ctx, of, named); err != nil {
			return err
		}
	}
	var rows []Row
	for _, p := range all {
		for _, r := range p.rows {
			r.row.SourceID = named.id(p.domain, r.key)
			rows = append(rows, r.row)
		}
	}
	return b.reader.Store.AddRows(ctx, b.orgID, rows)
}

// names has the ids of sources that a transaction read or added, by their keys.
type names map[*known]map[string]string

// id returns the id of a source, "" if it is not known.
func (n names) id(d *known, key string) string { return cmp.Or(n[d][key], d.sources[key]) }

func (n names) set(d *known, s Source) {
	if n[d] == nil {
		n[d] = map[string]string{}
	}
	n[d][s.Key] = s.ID
}

// keep remembers the ids after the transaction was committed.
func (n names) keep() {
	for d, ids := range n {
		maps.Copy(d.sources, ids)
	}
}

// nameSources makes the ids of the sources of reports about one domain known. New sources are
// stored; they count from their first report on.
func (b *Batch) nameSources(ctx context.Context, all []*pending, named names) error {
	d := all[0].domain
	missing := map[string]Source{}
	for _, p := range all {
		for key, s := range p.sums {
			if named.id(d, key) == "" {
				missing[key] = Source{
					DomainID: d.id, ID: core.NewID(), Key: key, Name: s.identity.Name, Provider: s.identity.Provider,
					Classification: s.identity.Classification,
				}
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	keys := slices.Sorted(maps.Keys(missing))
	stored, err := b.reader.Store.Sources(ctx, b.orgID, d.id, keys)
	if err != nil {
		return err
	}
	for _, s := range stored {
		delete(missing, s.Key)
		named.set(d, s)
	}
	added := slices.SortedFunc(maps.Values(missing), compareKeys)
	for _, s := range added {
		named.set(d, s)
	}
	return b.reader.Store.SaveSources(ctx, b.orgID, added)
}

// saveSources stores what the reports show about their sources. The purge deletes sources that do not
// count yet, also those of a large report that is still read. They are stored again, unless another
// report has done so.
func (b *Batch) saveSources(ctx context.Context, all []*pending, named names) error {
	for _, of := range byDomain(all) {
		d := of[0].domain
		seen := map[string]Source{}
		for _, p := range of {
			for key, s := range p.sums {
				seen[key] = Source{DomainID: d.id, ID: named.id(d, key), Key: key, Name: s.identity.Name, Provider: s.identity.Provider}
			}
		}
		stored, err := b.reader.Store.Sources(ctx, b.orgID, d.id, slices.Sorted(maps.Keys(seen)))
		if err != nil {
			return err
		}
		for _, s := range stored {
			named.set(d, s)
			seen[s.Key] = s
		}
		saved := slices.SortedFunc(maps.Values(seen), compareKeys)
		for i := range saved {
			for _, p := range of {
				if s := p.sums[saved[i].Key]; s != nil {
					saved[i].see(s, p.report.Day)
				}
			}
		}
		if err := b.reader.Store.SaveSources(ctx, b.orgID, saved); err != nil {
			return err
		}
	}
	return nil
}

// see adds what a report shows about a source on a day.
func (s *Source) see(of *sum, day time.Time) {
	s.Support = s.Support.with(of.identity.Classification, day)
	s.Classification = s.Support.classification()
	if s.First.IsZero() || day.Before(s.First) {
		s.First = day
	}
	if day.After(s.Last) {
		s.Last = day
	}
	for _, ip := range of.ips {
		if text := ip.String(); len(s.IPs) < maxIPs && !slices.Contains(s.IPs, text) {
			s.IPs = append(s.IPs, text)
		}
	}
}

// figuresOf returns what reports add to the figures.
func figuresOf(all []*pending, named names, now time.Time) Figures {
	f := Figures{Messages: map[SourceDay]Cells{}, Coverage: map[ReporterDay]bool{}, Received: map[string]time.Time{}, Now: now}
	for _, p := range all {
		r := p.report
		for key, s := range p.sums {
			at := SourceDay{r.DomainID, named.id(p.domain, key), r.Day}
			if f.Messages[at] == nil {
				f.Messages[at] = Cells{}
			}
			for cell, n := range s.cells {
				f.Messages[at].add(cell, n)
			}
		}
		first, last := figures.DaysOfReport(r.Begin, r.End)
		f.Coverage[ReporterDay{r.DomainID, r.Reporter, r.Day}] = true
		for day, n := first, 0; !day.After(last) && n < maxCovered; day, n = figures.AddDays(day, 1), n+1 {
			f.Coverage[ReporterDay{r.DomainID, r.Reporter, day}] = true
		}
		if r.ReceivedAt.After(f.Received[r.DomainID]) {
			f.Received[r.DomainID] = r.ReceivedAt
		}
	}
	return f
}

func domainsOf(all []*pending) []string {
	seen := map[string]bool{}
	for _, p := range all {
		seen[p.domain.id] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

// byDomain groups reports by their domains.
func byDomain(all []*pending) map[string][]*pending {
	groups := map[string][]*pending{}
	for _, p := range all {
		groups[p.domain.id] = append(groups[p.domain.id], p)
	}
	return groups
}

func compareKeys(a, b Source) int { return cmp.Compare(a.Key, b.Key) }
