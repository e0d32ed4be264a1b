package domainauth

import (
	"bytes"
	"encoding/xml"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth/report"
	"golang.org/x/net/html/charset"
)

// minCompared is the number of shapes that encoding/xml must be able to read.
const minCompared = 60

// repairs are the warnings about documents that encoding/xml does not accept, or reads in another
// way.
var repairs = []report.WarningCode{
	report.Truncated, report.MissingEndTag, report.StrayMarkup, report.UnknownEntity, report.InvalidEncoding, report.ContentBeforeStart,
}

// TestShapesAsEncodingXMLReadsThem reads with encoding/xml what needs no repair, and compares all
// that both read. The others must be documents that encoding/xml refuses.
func TestShapesAsEncodingXMLReadsThem(t *testing.T) {
	t.Parallel()
	compared := 0
	for _, s := range shapes {
		got := read(t, s)
		if got.refusal != "" {
			continue
		}
		var f feedback
		err := f.read(s.document(t), s.packing)
		if slices.ContainsFunc(got.report.Warnings, func(w report.Warning) bool { return slices.Contains(repairs, w.Code) }) {
			if err == nil {
				t.Errorf("%s: encoding/xml reads it without a repair, %+v", s.name, got.report.Warnings)
			}
			continue
		}
		compared++
		want := f.reading()
		got.report.Namespace, got.report.Warnings = "", nil // which encoding/xml does not say
		if err != nil || !bytes.Equal(got.text(), want.text()) {
			t.Errorf("%s: read\n%s\nencoding/xml reads\n%s, %v", s.name, got.text(), want.text(), err)
		}
	}
	if compared < minCompared {
		t.Errorf("%d shapes were compared", compared)
	}
}

// feedback is a report for encoding/xml.
type feedback struct {
	XMLName   xml.Name
	Version   string     `xml:"version"`
	Org       string     `xml:"report_metadata>org_name"`
	Email     string     `xml:"report_metadata>email"`
	Contact   string     `xml:"report_metadata>extra_contact_info"`
	ID        string     `xml:"report_metadata>report_id"`
	Begin     string     `xml:"report_metadata>date_range>begin"`
	End       string     `xml:"report_metadata>date_range>end"`
	Errors    []string   `xml:"report_metadata>error"`
	Generator string     `xml:"report_metadata>generator"`
	Policy    published  `xml:"policy_published"`
	Records   []observed `xml:"record"`
}

type published struct {
	Domain    string `xml:"domain"`
	P         string `xml:"p"`
	SP        string `xml:"sp"`
	NP        string `xml:"np"`
	ADKIM     string `xml:"adkim"`
	ASPF      string `xml:"aspf"`
	FO        string `xml:"fo"`
	Pct       string `xml:"pct"`
	Testing   string `xml:"testing"`
	T         string `xml:"t"`
	Discovery string `xml:"discovery_method"`
}

type observed struct {
	IP          string `xml:"row>source_ip"`
	Count       string `xml:"row>count"`
	Disposition string `xml:"row>policy_evaluated>disposition"`
	DKIM        string `xml:"row>policy_evaluated>dkim"`
	SPF         string `xml:"row>policy_evaluated>spf"`
	Reasons     []struct {
		Type    string `xml:"type"`
		Comment string `xml:"comment"`
		Text    string `xml:",chardata"`
	} `xml:"row>policy_evaluated>reason"`
	HeaderFrom   string   `xml:"identifiers>header_from"`
	EnvelopeFrom string   `xml:"identifiers>envelope_from"`
	Identity     string   `xml:"identities>header_from"`
	Signatures   []result `xml:"auth_results>dkim"`
	Senders      []result `xml:"auth_results>spf"`
}

type result struct {
	Domain   string `xml:"domain"`
	Selector string `xml:"selector"`
	Scope    string `xml:"scope"`
	Result   string `xml:"result"`
}

// read reads a document. UTF-16 is stored as UTF-8.
func (f *feedback) read(document []byte, packing string) error {
	if packing == "gzip of UTF-16" {
		document = bytes.Replace(document, []byte("UTF-16"), []byte("UTF-8"), 1)
	}
	d := xml.NewDecoder(bytes.NewReader(document))
	d.CharsetReader = charset.NewReaderLabel
	return d.Decode(f)
}

// reading returns what was read, as report.Parse returns it.
func (f *feedback) reading() reading {
	p := f.Policy
	g := reading{report: report.Report{
		Version: trim(f.Version), Org: trim(f.Org), Email: trim(f.Email), Contact: trim(f.Contact), ID: trim(f.ID), Generator: trim(f.Generator),
		Begin: seconds(f.Begin), End: seconds(f.End), Errors: f.Errors,
		Policy: report.Policy{
			Domain: lower(p.Domain), P: lower(p.P), SP: lower(p.SP), NP: lower(p.NP), ADKIM: lower(p.ADKIM), ASPF: lower(p.ASPF), FO: trim(p.FO),
			Pct: trim(p.Pct), Testing: lower(p.Testing + p.T), Discovery: lower(p.Discovery),
		},
	}}
	for _, o := range f.Records {
		if r, ok := o.record(); ok {
			g.records = append(g.records, r)
			g.report.Messages += r.Count
		}
	}
	return g
}

// record returns false for a record without a source.
func (o observed) record() (report.Record, bool) {
	ip, err := netip.ParseAddr(trim(o.IP))
	count, countErr := strconv.ParseUint(trim(o.Count), 10, 64)
	if err != nil || countErr != nil {
		return report.Record{}, false
	}
	r := report.Record{
		SourceIP: ip, Count: count, Disposition: lower(o.Disposition), DKIM: lower(o.DKIM) == "pass", SPF: lower(o.SPF) == "pass",
		HeaderFrom: lower(o.HeaderFrom + o.Identity), EnvelopeFrom: lower(o.EnvelopeFrom),
	}
	if !slices.Contains([]string{"none", "pass", "quarantine", "reject"}, r.Disposition) {
		r.Disposition = "none"
	}
	for _, reason := range o.Reasons {
		if one := (report.Reason{Type: lower(reason.Type + reason.Text), Comment: trim(reason.Comment)}); one != (report.Reason{}) {
			r.Reasons = append(r.Reasons, one)
		}
	}
	for _, s := range o.Signatures {
		if s.Domain != "" {
			r.Signatures = append(r.Signatures, report.Signature{Domain: lower(s.Domain), Selector: trim(s.Selector), Result: lower(s.Result)})
		}
	}
	for _, s := range o.Senders {
		if s.Domain != "" {
			r.SPFResults = append(r.SPFResults, report.SPFResult{Domain: lower(s.Domain), Scope: lower(s.Scope), Result: lower(s.Result)})
		}
	}
	return r, true
}

func seconds(text string) time.Time {
	whole, _, _ := strings.Cut(trim(text), ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(n, 0).UTC()
}

func trim(text string) string { return strings.Trim(text, " \t\r\n") }

func lower(text string) string { return strings.ToLower(trim(text)) }
