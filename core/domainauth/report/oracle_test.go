package report_test

import (
	"encoding/xml"
	"errors"
	"io"
	"net/netip"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/domainauth/report"
)

// FuzzParse compares Parse with encoding/xml for documents that encoding/xml accepts and in which
// Parse repairs nothing. Other documents must only end.
func FuzzParse(f *testing.F) {
	f.Add([]byte(document))
	f.Add([]byte(`<feedback><record><row><count>1</count><source_ip>::1</source_ip><policy_evaluated><reason/><reason><type>a</type></reason></policy_evaluated></row></record></feedback>`))
	f.Add([]byte(`<d:feedback xmlns:d="urn:y"><d:record xmlns="urn:z"><row/><d:row><d:count> 4 </d:count></d:row></d:record></d:feedback>`))
	f.Add([]byte("<feedback><version>1<!-- -->.<![CDATA[0]]>\r\n</version><report_metadata><email>a&lt;b</email></report_metadata></feedback>"))
	f.Add([]byte("<feedback><policy_published><t>y</t></policy_published><record><row><source_ip>::1</source_ip><count>1</count><policy_evaluated><reason>a.<!-- --> B</reason><reason>c<type/>d</reason></policy_evaluated></row></record></feedback>"))
	f.Fuzz(func(t *testing.T, content []byte) {
		if declaration.Match(content) {
			return // both skip them, encoding/xml by counting "<" and Parse by counting "["
		}
		got, records, err := parse(strings.NewReader(string(content)))
		if err != nil {
			return
		}
		for _, w := range got.Warnings {
			if slices.Contains(repairs, w.Code) {
				return
			}
		}
		o := oracle{}
		if !o.read(xml.NewDecoder(strings.NewReader(string(content)))) {
			return
		}
		if len(records) != len(o.records) {
			t.Fatalf("%d records, encoding/xml finds %d", len(records), len(o.records))
		}
		for i, r := range records {
			if text := recordText(r); text != o.records[i] {
				t.Errorf("record %d is\n%s, encoding/xml reads\n%s", i, text, o.records[i])
			}
		}
		want := []string{o.first["metadata email"], o.first["metadata report_id"], o.first["policy sp"], o.first["policy domain"], o.first["version"]}
		if have := []string{ends(got.Email), ends(got.ID), ends(got.Policy.SP), ends(got.Policy.Domain), ends(got.Version)}; !reflect.DeepEqual(have, want) {
			t.Errorf("the report has %q, encoding/xml reads %q", have, want)
		}
	})
}

var declaration = regexp.MustCompile(`<!([^-[]|-[^-]|\[[^C]|$)`)

// repairs are the warnings about documents that are not read as encoding/xml reads them.
var repairs = []report.WarningCode{
	report.Truncated, report.MissingEndTag, report.StrayEndTag, report.StrayMarkup, report.InvalidEncoding, report.UnknownEntity, report.ValueTooLong,
	report.TooManyResults, report.ContentAfterEnd, report.ContentBeforeStart, report.TooDeep,
}

// ends returns a text with the line ends that encoding/xml writes.
func ends(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// oracle reads a report with encoding/xml.
type oracle struct {
	root    string
	records []string
	// first has the first value that is not empty of each element of the report.
	first map[string]string
	// row has the same of the record that is open, and results the lines of its lists.
	row     map[string]string
	results []string
	// one has the same of the member of a list that is open.
	one map[string]string
}

// sections are the elements that have others, by the path that the format gives them.
var sections = map[string]string{
	"feedback": "", "feedback/report_metadata": "metadata ", "feedback/report_metadata/date_range": "period ", "feedback/policy_published": "policy ",
	"feedback/record": "record", "feedback/record/row": "row ", "feedback/record/row/policy_evaluated": "evaluated ",
	"feedback/record/row/policy_evaluated/reason": "reason", "feedback/record/identifiers": "identifiers ", "feedback/record/auth_results": "results",
	"feedback/record/auth_results/dkim": "dkim", "feedback/record/auth_results/spf": "spf",
}

// read returns false if encoding/xml does not accept the document.
func (o *oracle) read(d *xml.Decoder) bool {
	o.first, o.row = map[string]string{}, map[string]string{}
	var path []string
	text := ""
	foreign := 0
	for {
		t, err := d.Token()
		if err != nil {
			return errors.Is(err, io.EOF) && len(path) == 0
		}
		switch t := t.(type) {
		case xml.StartElement:
			if len(path) == 0 && foreign == 0 {
				o.root = t.Name.Space
			}
			if foreign > 0 || !o.own(t.Name.Space) || !known(append(slices.Clone(path), t.Name.Local)) {
				foreign++
				continue
			}
			path, text = append(path, alias(t.Name.Local)), ""
			o.open(strings.Join(path, "/"))
		case xml.CharData:
			if foreign == 0 {
				text += string(t)
			}
		case xml.EndElement:
			if foreign > 0 {
				foreign--
				continue
			}
			o.close(strings.Join(path, "/"), strings.Trim(text, " \t\n\r"))
			path, text = path[:len(path)-1], ""
		}
	}
}

func (o *oracle) own(space string) bool {
	return space == o.root || slices.Contains([]string{"", "urn:ietf:params:xml:ns:dmarc-2.0", "http://dmarc.org/dmarc-xml/0.1", "http://dmarc.org/dmarc-xml/0.2"}, space)
}

func alias(local string) string {
	switch local {
	case "identities":
		return "identifiers"
	case "t":
		return "testing"
	}
	return local
}

// values has the names of the elements with a text, by their sections.
var values = map[string]string{
	"": "version", "metadata ": "version org_name email extra_contact_info report_id error generator", "period ": "begin end",
	"policy ": "domain p sp np adkim aspf fo pct testing discovery_method", "row ": "source_ip count", "evaluated ": "disposition dkim spf",
	"reason": "type comment", "identifiers ": "header_from envelope_from", "dkim": "domain selector result", "spf": "domain scope result",
}

// known reports whether the format has an element at a path.
func known(path []string) bool {
	path[len(path)-1] = alias(path[len(path)-1])
	if _, ok := sections[strings.Join(path, "/")]; ok {
		return true
	}
	parent, ok := sections[strings.Join(path[:len(path)-1], "/")]
	return ok && slices.Contains(strings.Fields(values[parent]), path[len(path)-1])
}

func (o *oracle) open(path string) {
	switch sections[path] {
	case "record":
		o.row, o.results = map[string]string{}, nil
	case "reason", "dkim", "spf":
		o.one = map[string]string{}
	}
}

func (o *oracle) close(path, text string) {
	section, isSection := sections[path]
	i := strings.LastIndexByte(path, '/')
	switch {
	case section == "record":
		o.endRecord()
	case section == "reason" && (len(o.one) > 0 || text != ""):
		if len(o.one) == 0 {
			o.one["type"] = text
		}
		o.results = append(o.results, "reason "+lower(o.one["type"])+" "+o.one["comment"])
	case section == "dkim" && domain(o.one["domain"]) != "":
		o.results = append(o.results, "dkim "+domain(o.one["domain"])+" "+o.one["selector"]+" "+domain(o.one["result"]))
	case section == "spf" && domain(o.one["domain"]) != "":
		o.results = append(o.results, "spf "+domain(o.one["domain"])+" "+domain(o.one["scope"])+" "+domain(o.one["result"]))
	case isSection || text == "":
	default:
		o.value(sections[path[:i]], path[i+1:], text)
	}
}

// value keeps the first value of an element.
func (o *oracle) value(section, name, text string) {
	all, key := o.first, section+name
	switch section {
	case "row ", "evaluated ", "identifiers ":
		all = o.row
	case "reason", "dkim", "spf":
		all, key = o.one, name
	case "policy ":
		text = domain(text)
	}
	if all[key] == "" {
		all[key] = text
	}
}

// endRecord adds a record, unless it has no source or no number of messages.
func (o *oracle) endRecord() {
	ip, err := netip.ParseAddr(o.row["row source_ip"])
	whole, _, _ := strings.Cut(o.row["row count"], ".")
	n, countErr := strconv.ParseUint(whole, 10, 64)
	if err != nil || ip.Zone() != "" || countErr != nil || n == 0 || n > 100_000_000_000 || len(whole) > 15 {
		return
	}
	disposition := lower(o.row["evaluated disposition"])
	if !slices.Contains([]string{"pass", "quarantine", "reject"}, disposition) {
		disposition = "none"
	}
	slices.SortStableFunc(o.results, func(a, b string) int { return strings.Compare(a[:3], b[:3]) })
	o.records = append(o.records, strings.Join(append([]string{
		ip.Unmap().String(), strconv.FormatUint(n, 10), disposition, strconv.FormatBool(lower(o.row["evaluated dkim"]) == "pass"),
		strconv.FormatBool(lower(o.row["evaluated spf"]) == "pass"), domain(o.row["identifiers header_from"]), domain(o.row["identifiers envelope_from"]),
	}, o.results...), "|"))
}

// recordText writes a record as the oracle does.
func recordText(r report.Record) string {
	parts := []string{
		r.SourceIP.String(), strconv.FormatUint(r.Count, 10), r.Disposition, strconv.FormatBool(r.DKIM), strconv.FormatBool(r.SPF), r.HeaderFrom, r.EnvelopeFrom,
	}
	for _, s := range r.Signatures {
		parts = append(parts, "dkim "+s.Domain+" "+s.Selector+" "+s.Result)
	}
	for _, reason := range r.Reasons {
		parts = append(parts, "reason "+reason.Type+" "+reason.Comment)
	}
	for _, s := range r.SPFResults {
		parts = append(parts, "spf "+s.Domain+" "+s.Scope+" "+s.Result)
	}
	return ends(strings.Join(parts, "|"))
}

// lower puts ASCII letters in lower case.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

func domain(s string) string { return strings.TrimSuffix(lower(s), ".") }
