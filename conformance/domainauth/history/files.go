package history

import (
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth/report"
	"github.com/mailhelm/mailhelm/core/domainauth/report/compose"
)

// reports has the reporters send their reports about a day.
func (g *generator) reports(d time.Time) {
	for i := range reporters {
		r := &reporters[i]
		begin, length, counted := d.Add(r.begins), day, d
		if r.weekly {
			if d.Weekday() != time.Sunday {
				continue
			}
			begin, length, counted = monday(d), 7*day, monday(d).Add(3*day)
		}
		all := g.records(r)
		if len(all) == 0 || !r.weekly && g.IntN(33) == 0 {
			continue // the reporter has nothing to report, or does not
		}
		if !r.halves {
			g.send(r, begin, length, counted, 0, all)
			continue
		}
		half := (len(all) + 1) / 2
		g.send(r, begin, length/2, counted, 0, all[:half])
		g.send(r, begin.Add(length/2), length/2, counted, 1, all[half:])
	}
}

// send has a reporter send one report. counted is the day on which its messages count, and part the
// number of the report among those of the day.
func (g *generator) send(r *reporter, begin time.Time, length time.Duration, counted time.Time, part int, all []pendingRecord) {
	if len(all) == 0 {
		return
	}
	end := begin.Add(length - time.Second)
	policy := cmp.Or(g.policy, r.policyAt(g.h, end))
	records := make([]report.Record, len(all))
	for i, p := range all {
		s := &g.senders[p.sender]
		k := s.kinds[p.kind]
		records[i] = p.record(k, r, policy)
		g.h.Truth.add(s, counted, k, records[i])
	}
	arrived := g.arrival(end, 20)
	g.h.Truth.addReport(r, begin, length, end, arrived, policy)
	// Reporters do not know the ids of others.
	document := g.document(r, report.Report{
		Version: "1.0", Org: r.org, Email: r.email, ID: fmt.Sprintf("%s.%d", begin.Format("20060102"), part), Begin: begin, End: end,
		Policy: report.Policy{Domain: Domain, P: policy, SP: policy, ADKIM: "r", ASPF: "r", Pct: "100"},
	}, records)
	f := File{Name: fmt.Sprintf("%s!%s!%d!%d", domainOf(r.email), Domain, begin.Unix(), end.Unix()), ArrivedAt: arrived, Reports: 1}
	documents := [][]byte{document}
	if r.zip && g.IntN(40) == 0 {
		f.Foreign++
		documents = append(documents, g.foreign(r, begin, end))
	}
	f.pack(r, documents)
	g.h.Files = append(g.h.Files, f)
	if g.IntN(25) == 0 {
		g.again(r, f, documents, end)
	}
}

// again has a file arrive a second time, as it was or packed in another way.
func (g *generator) again(r *reporter, f File, documents [][]byte, end time.Time) {
	f.Reports, f.Copies, f.ArrivedAt = 0, 1, g.arrival(end.Add(20*time.Hour), 60)
	if g.IntN(2) == 0 && len(documents) == 1 {
		other := *r
		other.zip, other.plain = false, !r.plain
		f.pack(&other, documents)
	}
	g.h.Files = append(g.h.Files, f)
}

// arrival returns a time some hours after another one, and not after the end of the history.
func (g *generator) arrival(after time.Time, hours int) time.Time {
	at := after.Add(time.Hour + time.Duration(g.IntN(hours*3600))*time.Second)
	if latest := g.h.End.Add(9 * time.Hour); at.After(latest) {
		return latest
	}
	return at
}

// foreign returns a report about another domain.
func (g *generator) foreign(r *reporter, begin, end time.Time) []byte {
	p := pendingRecord{pendingKey{address: g.senders[0].address(0)}, 12}
	return g.document(r, report.Report{
		Version: "1.0", Org: r.org, Email: r.email, ID: "other." + begin.Format("20060102"), Begin: begin, End: end,
		Policy: report.Policy{Domain: Other, P: "none", SP: "none", ADKIM: "r", ASPF: "r"},
	}, []report.Record{p.record(kind{spf: true, results: mailFrom(Other, "pass")}, r, "none")})
}

func (g *generator) document(r *reporter, metadata report.Report, records []report.Record) []byte {
	var b bytes.Buffer
	if err := compose.Write(&b, r.format, metadata, slices.Values(records)); err != nil {
		panic(err) // the generator writes only what a report can have
	}
	return b.Bytes()
}

// strangers adds files that are no reports about the domain: SMTP TLS reports, and a text.
func (g *generator) strangers() {
	for n := range 3 {
		begin := g.h.Begin.Add(time.Duration(7+n*20) * day)
		content, err := json.Marshal(map[string]any{
			"organization-name": "bigmail.example", "contact-info": "tls@bigmail.example", "report-id": fmt.Sprintf("tls-%d", n), "policies": []any{},
			"date-range": map[string]string{"start-datetime": begin.Format(time.RFC3339), "end-datetime": begin.Add(day - time.Second).Format(time.RFC3339)},
		})
		if err != nil {
			panic(err) // the members are texts
		}
		f := File{Name: fmt.Sprintf("bigmail.example!%s!%d.json", Domain, n), ArrivedAt: g.arrival(begin.Add(day), 9), TLS: 1}
		f.Content = content
		if n > 0 {
			f.Name, f.Content = f.Name+".gz", gzipped(content)
		}
		g.h.Files = append(g.h.Files, f)
	}
	g.h.Files = append(g.h.Files, File{Name: "hello.txt", Content: []byte("Hello, I have not received your report.\n"), ArrivedAt: g.arrival(g.h.Begin.Add(9*day), 9)})
}

// pack sets the content of a file, and ends its name accordingly.
func (f *File) pack(r *reporter, documents [][]byte) {
	base := f.Name
	switch {
	case len(documents) == 1 && r.plain:
		f.Name, f.Content = base+".xml", documents[0]
	case len(documents) == 1 && !r.zip:
		f.Name, f.Content = base+".xml.gz", gzipped(documents[0])
	default:
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		for i, document := range documents {
			part, err := w.Create(fmt.Sprintf("%s.%d.xml", base, i))
			if err != nil {
				panic(err) // it writes to memory
			}
			_, _ = part.Write(document)
		}
		_ = w.Close()
		f.Name, f.Content = base+".zip", b.Bytes()
	}
}

func gzipped(content []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(content)
	_ = w.Close()
	return b.Bytes()
}
