package intake

import (
	"context"
	"encoding/json"
	"net/netip"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/domainauth/report"
	"github.com/mailhelm/mailhelm/core/domainauth/sources"
)

// known is a domain with what identifies the sources of its reports.
type known struct {
	id, name   string
	identifier *sources.Identifier
	// sources has the ids of stored sources by their keys, as far as they were needed.
	sources map[string]string
}

func newKnown(d Domain, r *Reader) *known {
	of := sources.Domain{Name: d.Name}
	if d.Snapshot != nil {
		of.Organization, of.SPF, of.Selectors = d.Snapshot.Discovery.Organization, d.Snapshot.SPF, d.Snapshot.Selectors
	}
	var senders *sources.SenderNetworks
	if r.Senders != nil {
		senders = r.Senders()
	}
	return &known{id: d.ID, name: d.Name, identifier: sources.New(of, senders), sources: map[string]string{}}
}

// identified is a record whose source is known.
type identified struct {
	row Row
	key string
}

// sum has what a report states about one source.
type sum struct {
	identity sources.Identity
	cells    Cells
	ips      []netip.Addr
}

// portionBytes is the size of the texts of records that are stored in one transaction. A record of a
// stranger can have some hundred kilobytes, so their number does not bound the memory.
const portionBytes = 4 << 20

// maxIPs is the number of addresses of a source that are kept as examples.
const maxIPs = 5

// chunk has records that are not identified yet.
type chunk struct {
	p        *pending
	evidence []sources.Evidence
	rows     []Row
	passed   []bool
	// size is that of the texts of the rows in bytes.
	size int
}

func newChunk(p *pending) *chunk { return &chunk{p: p} }

// details are the parts of a record that are stored as JSON.
type details struct {
	Signatures []report.Signature `json:"dkim,omitempty"`
	SPF        []report.SPFResult `json:"spf,omitempty"`
	Reasons    []report.Reason    `json:"reasons,omitempty"`
}

// add adds a record. It keeps nothing of its slices.
func (c *chunk) add(r *report.Record) {
	e := sources.EvidenceOf(r)
	e.DKIM, e.SPF, e.Overrides = slices.Clone(e.DKIM), slices.Clone(e.SPF), slices.Clone(e.Overrides)
	text, _ := json.Marshal(details{e.DKIM, e.SPF, e.Overrides}) // marshaling strings never fails
	messages := int64(MaxMessages)
	if r.Count < MaxMessages {
		messages = int64(r.Count)
	}
	p := &c.p.report
	c.evidence, c.passed = append(c.evidence, e), append(c.passed, r.Passed())
	c.rows = append(c.rows, Row{
		DomainID: p.DomainID, ReportID: p.ID, Day: p.Day, N: p.Records, IP: r.SourceIP, Messages: messages, Disposition: dispositionOf(r),
		DKIM: r.DKIM, SPF: r.SPF, HeaderFrom: r.HeaderFrom, EnvelopeFrom: r.EnvelopeFrom, Details: string(text),
	})
	c.size += len(text) + len(r.HeaderFrom) + len(r.EnvelopeFrom)
	p.Records++
	p.Messages = figures.Add(p.Messages, messages)
	if r.Passed() {
		p.Passing = figures.Add(p.Passing, messages)
	}
}

// dispositionOf returns what the receiver did with messages: none, quarantine or reject.
func dispositionOf(r *report.Record) string {
	switch r.Disposition {
	case "quarantine", "reject":
		return r.Disposition
	default:
		return "none"
	}
}

// identify finds the sources of the records, and adds them to the report.
func (b *Batch) identify(ctx context.Context, c *chunk) {
	names := b.reverseNames(ctx, c.evidence)
	for i := range c.rows {
		e := &c.evidence[i]
		e.PTR = names[e.IP]
		identity := c.p.domain.identifier.Identify(*e)
		if c.p.sums[identity.Key] == nil && len(c.p.sums) >= b.reader.MaxSources {
			identity = others(identity.Classification)
		}
		row := &c.rows[i]
		row.Relayed = !c.passed[i] && identity.Classification == sources.Forwarder
		c.p.add(identity, row)
	}
	c.p.size += c.size
	// Slices may hold texts of the records, and grow by those of a portion only.
	clear(c.evidence)
	clear(c.rows)
	c.evidence, c.rows, c.passed, c.size = c.evidence[:0], c.rows[:0], c.passed[:0], 0
}

// others returns the source for records of one classification in a report with too many sources.
func others(c figures.Classification) sources.Identity {
	return sources.Identity{Key: "others/" + string(c), Name: "Other senders (" + string(c) + ")", Classification: c}
}

// reverseTime is for how long the reverse names of the addresses in one file are asked for. Name
// servers of strangers may not answer, and their reports may name many addresses.
const reverseTime = 2 * time.Minute

func (b *Batch) reverseNames(ctx context.Context, all []sources.Evidence) map[netip.Addr]string {
	if b.reader.ReverseNames == nil || b.reversing >= reverseTime {
		return nil
	}
	begin := b.reader.Clock()
	defer func() { b.reversing += b.reader.Clock().Sub(begin) }()
	var addresses []netip.Addr
	seen := map[netip.Addr]bool{}
	for i := range all {
		if ip := all[i].IP; !seen[ip] {
			seen[ip], addresses = true, append(addresses, ip)
		}
	}
	return b.reader.ReverseNames(ctx, addresses)
}

// add adds a record to the report.
func (p *pending) add(identity sources.Identity, row *Row) {
	s := p.sums[identity.Key]
	if s == nil {
		s = &sum{identity: identity, cells: Cells{}}
		p.sums[identity.Key] = s
	}
	s.identity.Classification = s.identity.Classification.Merge(identity.Classification)
	if len(s.ips) < maxIPs && row.IP.IsValid() && !slices.Contains(s.ips, row.IP) {
		s.ips = append(s.ips, row.IP)
	}
	s.cells.add(Cell{row.Disposition, outcomeOf(row)}, row.Messages)
	p.rows = append(p.rows, identified{*row, identity.Key})
}

// add adds messages to a cell, up to MaxMessages.
func (c Cells) add(cell Cell, n int64) { c[cell] = min(figures.Add(c[cell], n), MaxMessages) }

// outcomeOf returns the outcome of a record as a column of the figures.
func outcomeOf(r *Row) string {
	switch {
	case r.DKIM && r.SPF:
		return "both"
	case r.DKIM:
		return "dkim"
	case r.SPF:
		return "spf"
	case r.Relayed:
		return "relayed"
	default:
		return "fail"
	}
}
