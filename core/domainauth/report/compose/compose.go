package compose

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"iter"
	"strconv"

	"github.com/mailhelm/mailhelm/core/domainauth/report"
)

// Format is a version of the format of reports.
type Format string

// The formats. Their values are the XML namespaces.
const (
	RFC9990 Format = "urn:ietf:params:xml:ns:dmarc-2.0"
	RFC7489 Format = "http://dmarc.org/dmarc-xml/0.1"
)

// Write writes a report with its records. It ignores Namespace, Records, Messages and Warnings of
// the report, and Domain of the records. Elements without a value are left out, and so are those
// that the format does not have: np, testing, discovery_method and generator in RFC 7489, pct in RFC
// 9990. RFC 7489 has no disposition "pass"; it is written as "none".
//
// [report.Parse] reads the rest as it was, the times in whole seconds. Write fails with the errors of
// w, and if a value could not be read back, such as a count of zero or a domain in capital letters.
// What it has written until then is no report.
func Write(w io.Writer, f Format, r report.Report, records iter.Seq[report.Record]) error {
	x := &writer{out: bufio.NewWriter(w), format: f}
	if f != RFC9990 && f != RFC7489 {
		x.refuse("format", string(f), "is unknown")
	}
	x.print(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<feedback xmlns="` + string(f) + `">` + "\n")
	x.text(1, "version", r.Version)
	x.metadata(r)
	x.policy(r.Policy)
	for record := range records {
		if x.err != nil {
			break
		}
		x.record(record)
	}
	x.end(0, "feedback")
	if x.err != nil {
		return x.err
	}
	return x.out.Flush()
}

// WriteGzip writes a report as Write does, compressed.
func WriteGzip(w io.Writer, f Format, r report.Report, records iter.Seq[report.Record]) error {
	z := gzip.NewWriter(w)
	if err := Write(z, f, r, records); err != nil {
		return err
	}
	return z.Close()
}

// writer writes elements. The first failure is kept in err; nothing is written after it.
type writer struct {
	out    *bufio.Writer
	format Format
	err    error
	// within names the part of the report that is being written, for errors.
	within string
}

func (x *writer) metadata(r report.Report) {
	x.within = "the metadata"
	x.start(1, "report_metadata")
	x.text(2, "org_name", r.Org)
	x.text(2, "email", r.Email)
	x.text(2, "extra_contact_info", r.Contact)
	x.text(2, "report_id", required(x, "report_id", r.ID))
	x.start(2, "date_range")
	begin, end := r.Begin.Unix(), r.End.Unix()
	if begin <= 0 || end < begin || r.End.UTC().Year() > 9999 {
		x.refuse("date_range", fmt.Sprintf("%s to %s", r.Begin, r.End), "is not a range of time")
	}
	x.text(3, "begin", strconv.FormatInt(begin, 10))
	x.text(3, "end", strconv.FormatInt(end, 10))
	x.end(2, "date_range")
	if len(r.Errors) > maxErrors {
		x.refuse("error", strconv.Itoa(len(r.Errors)), "is too many")
	}
	for _, e := range r.Errors {
		x.text(2, "error", required(x, "error", e))
	}
	if x.format == RFC9990 {
		x.text(2, "generator", r.Generator)
	}
	x.end(1, "report_metadata")
}

func (x *writer) policy(p report.Policy) {
	x.within = "the published policy"
	x.start(1, "policy_published")
	x.word(2, "domain", required(x, "domain", p.Domain))
	if x.format == RFC9990 {
		x.word(2, "p", p.P)
		x.word(2, "sp", p.SP)
		x.word(2, "np", p.NP)
		x.word(2, "adkim", p.ADKIM)
		x.word(2, "aspf", p.ASPF)
		x.word(2, "discovery_method", p.Discovery)
		x.text(2, "fo", p.FO)
		x.word(2, "testing", p.Testing)
	} else {
		x.word(2, "adkim", p.ADKIM)
		x.word(2, "aspf", p.ASPF)
		x.word(2, "p", p.P)
		x.word(2, "sp", p.SP)
		x.text(2, "pct", p.Pct)
		x.text(2, "fo", p.FO)
	}
	x.end(1, "policy_published")
}

func (x *writer) record(r report.Record) {
	x.within = "the record of " + r.SourceIP.String()
	x.start(1, "record")
	x.row(r)
	x.start(2, "identifiers")
	x.word(3, "header_from", r.HeaderFrom)
	x.word(3, "envelope_from", r.EnvelopeFrom)
	x.end(2, "identifiers")
	x.results(r)
	x.end(1, "record")
}

func (x *writer) row(r report.Record) {
	if !r.SourceIP.IsValid() || r.SourceIP.Is4In6() || r.SourceIP.Zone() != "" {
		x.refuse("source_ip", r.SourceIP.String(), "is not an address")
	}
	if r.Count == 0 || r.Count > maxCount {
		x.refuse("count", strconv.FormatUint(r.Count, 10), "is not between 1 and 100000000000")
	}
	x.start(2, "row")
	x.text(3, "source_ip", r.SourceIP.String())
	x.text(3, "count", strconv.FormatUint(r.Count, 10))
	x.start(3, "policy_evaluated")
	x.text(4, "disposition", x.disposition(r.Disposition))
	x.text(4, "dkim", passOrFail[r.DKIM])
	x.text(4, "spf", passOrFail[r.SPF])
	if len(r.Reasons) > maxReasons {
		x.refuse("reason", strconv.Itoa(len(r.Reasons)), "is too many")
	}
	for _, reason := range r.Reasons {
		x.start(4, "reason")
		x.word(5, "type", required(x, "type", reason.Type))
		x.text(5, "comment", reason.Comment)
		x.end(4, "reason")
	}
	x.end(3, "policy_evaluated")
	x.end(2, "row")
}

var passOrFail = map[bool]string{true: "pass", false: "fail"}

func (x *writer) disposition(d string) string {
	switch d {
	case "none", "quarantine", "reject":
		return d
	case "pass":
		if x.format == RFC7489 {
			return "none"
		}
		return d
	}
	x.refuse("disposition", d, "is unknown")
	return d
}

func (x *writer) results(r report.Record) {
	if n := max(len(r.Signatures), len(r.SPFResults)); n > maxResults {
		x.refuse("auth_results", strconv.Itoa(n), "is too many")
	}
	x.start(2, "auth_results")
	for _, s := range r.Signatures {
		x.start(3, "dkim")
		x.word(4, "domain", required(x, "domain", s.Domain))
		x.text(4, "selector", s.Selector)
		x.word(4, "result", s.Result)
		x.end(3, "dkim")
	}
	for _, s := range r.SPFResults {
		x.start(3, "spf")
		x.word(4, "domain", required(x, "domain", s.Domain))
		x.word(4, "scope", s.Scope)
		x.word(4, "result", s.Result)
		x.end(3, "spf")
	}
	x.end(2, "auth_results")
}
