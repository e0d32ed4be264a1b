package report_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth/report"
	"github.com/mailhelm/mailhelm/core/domainauth/report/reporttest"
)

// parse reads a document and returns copies of its records.
func parse(document io.Reader) (*report.Report, []report.Record, error) {
	var records []report.Record
	r, err := report.Parse(document, func(r *report.Record) error {
		records = append(records, reporttest.Clone(r))
		return nil
	})
	return r, records, err
}

// codes returns the codes of warnings, in order.
func codes(all []report.Warning) string {
	var b strings.Builder
	for _, w := range all {
		fmt.Fprintf(&b, "%s ", w.Code)
	}
	return strings.TrimSpace(b.String())
}

// document is a report that follows RFC 9990. Tests replace parts of it.
const document = `<?xml version="1.0" encoding="UTF-8"?>
<!-- by a receiver -->
<feedback xmlns="urn:ietf:params:xml:ns:dmarc-2.0" xmlns:x="https://receiver.example/extension">
 <version>1.0</version>
 <report_metadata>
  <org_name>Receiver &amp; Sons</org_name><email>dmarc@receiver.example</email>
  <extra_contact_info lang="en">https://receiver.example/dmarc</extra_contact_info>
  <report_id>r-1@receiver.example</report_id>
  <date_range><begin>1795737600</begin><end>1795823999</end></date_range>
  <error>the record has two policies</error>
  <generator>Reporter 2.1</generator>
 </report_metadata>
 <policy_published>
  <domain>Example.COM.</domain><p>Quarantine</p><sp>none</sp><np>reject</np><adkim>r</adkim><aspf>s</aspf><fo>1:d</fo><testing>n</testing>
  <discovery_method>treewalk</discovery_method>
 </policy_published>
 <extension><x:domain>other.example</x:domain><record><row><count>7</count></row></record></extension>
 <record>
  <row>
   <source_ip>192.0.2.7</source_ip><count>12</count>
   <policy_evaluated>
    <disposition>pass</disposition><dkim>pass</dkim><spf>fail</spf>
    <reason><type>local_policy</type><comment><![CDATA[arc=pass & trusted]]></comment></reason>
   </policy_evaluated>
   <x:count>9</x:count>
  </row>
  <identifiers><header_from>example.com</header_from><envelope_from>bounce.example.com</envelope_from><envelope_to>someone.example</envelope_to></identifiers>
  <auth_results>
   <dkim><domain>example.com</domain><selector>S1</selector><result>pass</result><human_result>2048 bits</human_result></dkim>
   <dkim><domain>esp.example</domain><selector>k2</selector><result>permerror</result></dkim>
   <spf><domain>bounce.example.com</domain><scope>mfrom</scope><result>softfail</result></spf>
  </auth_results>
 </record>
</feedback>
`

// wanted is what document says.
func wanted() (report.Report, report.Record) {
	return report.Report{
			Namespace: "urn:ietf:params:xml:ns:dmarc-2.0", Version: "1.0", Org: "Receiver & Sons", Email: "dmarc@receiver.example",
			Contact: "https://receiver.example/dmarc", ID: "r-1@receiver.example", Generator: "Reporter 2.1", Errors: []string{"the record has two policies"},
			Begin: time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC), End: time.Date(2026, 11, 27, 23, 59, 59, 0, time.UTC),
			Policy:  report.Policy{Domain: "example.com", P: "quarantine", SP: "none", NP: "reject", ADKIM: "r", ASPF: "s", FO: "1:d", Testing: "n", Discovery: "treewalk"},
			Records: 1, Messages: 12,
		}, report.Record{
			Domain: "example.com", SourceIP: netip.MustParseAddr("192.0.2.7"), Count: 12, Disposition: "pass", DKIM: true,
			Reasons: []report.Reason{{Type: "local_policy", Comment: "arc=pass & trusted"}}, HeaderFrom: "example.com", EnvelopeFrom: "bounce.example.com",
			Signatures: []report.Signature{{Domain: "example.com", Selector: "S1", Result: "pass"}, {Domain: "esp.example", Selector: "k2", Result: "permerror"}},
			SPFResults: []report.SPFResult{{Domain: "bounce.example.com", Scope: "mfrom", Result: "softfail"}},
		}
}

func TestParse(t *testing.T) {
	t.Parallel()
	// Readers that return one byte at a time put every token across the end of the window.
	for name, r := range map[string]io.Reader{"whole": strings.NewReader(document), "bytes": oneByte{strings.NewReader(document)}} {
		got, records, err := parse(r)
		if err != nil {
			t.Fatal(err)
		}
		want, record := wanted()
		compare(t, name, got, records, want, record)
	}
}

// compare checks what was read of a report with one record.
func compare(t *testing.T, name string, got *report.Report, records []report.Record, want report.Report, record report.Record) {
	t.Helper()
	if !reflect.DeepEqual(*got, want) {
		t.Errorf("%s: the report is\n%+v, want\n%+v", name, *got, want)
	}
	if len(records) != 1 || !reflect.DeepEqual(records[0], record) {
		t.Errorf("%s: the records are\n%+v, want\n%+v", name, records, record)
	}
}

type oneByte struct{ r io.Reader }

func (o oneByte) Read(p []byte) (int, error) { return o.r.Read(p[:min(1, len(p))]) }

// deviations change the document as reporters do, and say what is read all the same, and with which
// warnings.
var deviations = map[string]struct {
	old, new string
	warnings string
	change   func(*report.Report, *report.Record)
}{
	"missing end tag of a value":    {"example.com</domain><selector>S1", "example.com<selector>S1", "missing_end_tag", same},
	"missing end tag of a section":  {"</date_range>", "", "missing_end_tag", same},
	"missing end tag of the record": {"</record>\n</feedback>", "</feedback>", "missing_end_tag", same},
	"end of the document":           {"</auth_results>\n </record>\n</feedback>\n", "", "truncated", same},
	"end in a tag":                  {"</auth_results>\n </record>\n</feedback>\n", "</auth_res", "stray_markup truncated", same},
	"end tag without an element":    {"<version>1.0", "</spf></b><version>1.0", "stray_end_tag", same},
	"address in angle brackets":     {">dmarc@receiver.example<", "><dmarc@receiver.example><", "stray_markup", func(r *report.Report, _ *report.Record) { r.Email = "<dmarc@receiver.example>" }},
	"address in an attribute":       {"<email>", `<email a="b@c.example" d='e@f'>`, "", same},
	"markup in a value":             {"<header_from>example.com", "<header_from>a<b.example.com", "stray_markup", func(_ *report.Report, r *report.Record) { r.HeaderFrom = "a<b.example.com" }},
	"unescaped ampersand":           {"&amp;", "&", "unknown_entity", same},
	"entity of HTML":                {"&amp;", "&nbsp;", "unknown_entity", func(r *report.Report, _ *report.Record) { r.Org = "Receiver &nbsp; Sons" }},
	"character reference":           {"&amp;", "&#x26;", "", same},
	"declared entity":               {"<!-- by", `<!DOCTYPE f [<!ENTITY amp2 "&amp;&amp;"> <!ELEMENT a (b)>]><!-- by`, "", same},
	"bad UTF-8":                     {"Receiver &amp;", "Receiver\xff &amp;", "invalid_encoding", func(r *report.Report, _ *report.Record) { r.Org = "Receiver\uFFFD & Sons" }},
	"NUL in a value":                {"Receiver &amp;", "Receiver\x00 &amp;", "invalid_encoding", func(r *report.Report, _ *report.Record) { r.Org = "Receiver\uFFFD & Sons" }},
	"byte order mark":               {"<?xml", "\uFEFF<?xml", "", same},
	"space before the declaration":  {"<?xml", "\r\n <?xml", "", same},
	"Latin-1":                       {"UTF-8\"?>", "iso-8859-1\"?><!-- \xe9 -->", "", same},
	"wrong declaration":             {"UTF-8", "utf-16", "", same},
	"no namespace":                  {` xmlns="urn:ietf:params:xml:ns:dmarc-2.0"`, "", "", func(r *report.Report, _ *report.Record) { r.Namespace = "" }},
	"namespace of RFC 7489":         {"urn:ietf:params:xml:ns:dmarc-2.0", "http://dmarc.org/dmarc-xml/0.1", "", func(r *report.Report, _ *report.Record) { r.Namespace = "http://dmarc.org/dmarc-xml/0.1" }},
	"another namespace":             {"urn:ietf:params:xml:ns:dmarc-2.0", "urn:x", "unknown_namespace", func(r *report.Report, _ *report.Record) { r.Namespace = "urn:x" }},
	"part of a schema before":       {"<feedback", `<xs:schema xmlns:xs="urn:schema"><feedback`, "content_before_start", same},
	"second document":               {"</feedback>\n", "</feedback><feedback/>", "content_after_end", same},
	"IPv4 in IPv6":                  {"192.0.2.7", "::ffff:192.0.2.7", "", same},
	"IPv6":                          {"192.0.2.7", "2001:DB8::1", "", func(_ *report.Report, r *report.Record) { r.SourceIP = netip.MustParseAddr("2001:db8::1") }},
	"result in capitals":            {"<dkim>pass</dkim>", "<dkim>Pass</dkim>", "", same},
	"result of the mechanism":       {"<spf>fail</spf>", "<spf>none</spf>", "invalid_result", same},
	"no aligned result":             {"<dkim>pass</dkim><spf>fail</spf>", "<dkim>pass</dkim><spf> </spf>", "invalid_result", same},
	"no aligned results":            {"<dkim>pass</dkim><spf>fail</spf>", "", "invalid_result", func(_ *report.Report, r *report.Record) { r.DKIM = false }},
	"no disposition":                {"<disposition>pass</disposition>", "", "", func(_ *report.Report, r *report.Record) { r.Disposition = "none" }},
	"other disposition":             {"<disposition>pass", "<disposition>discard", "invalid_disposition", func(_ *report.Report, r *report.Record) { r.Disposition = "none" }},
	"reason without a type":         {"<type>local_policy</type><comment><![CDATA[arc=pass & trusted]]></comment>", "\n Sampled_out ", "", func(_ *report.Report, r *report.Record) { r.Reasons = []report.Reason{{Type: "sampled_out"}} }},
	"text beside a type":            {"<reason><type>", "<reason>x<type>", "", same},
	"text behind a type":            {"</comment></reason>", "</comment>x</reason>", "", same},
	"empty reason":                  {"<type>local_policy</type><comment><![CDATA[arc=pass & trusted]]></comment>", "<type>\n</type><comment/>\n", "", func(_ *report.Report, r *report.Record) { r.Reasons = nil }},
	"tag t of the policy":           {"<testing>n</testing>", "<t>n</t>", "", same},
	"identities of the drafts":      {"identifiers>", "identities>", "", same},
	"time with a fraction":          {"1795737600", "1795737600.5", "", same},
	"end before the begin":          {"1795823999", "1795737599", "invalid_period", func(r *report.Report, _ *report.Record) { r.Begin, r.End = time.Time{}, time.Time{} }},
	"no begin":                      {"<begin>1795737600</begin>", "", "invalid_period", func(r *report.Report, _ *report.Record) { r.Begin, r.End = time.Time{}, time.Time{} }},
	"a week":                        {"1795823999", "1796342399", "long_period", func(r *report.Report, _ *report.Record) { r.End = r.End.Add(6 * 24 * time.Hour) }},
	"no domain":                     {"<domain>Example.COM.</domain>", "", "missing_domain", func(r *report.Report, one *report.Record) { r.Policy.Domain, one.Domain = "", "" }},
	"no identifier":                 {"<report_id>r-1@receiver.example</report_id>", "<report_id/>", "missing_report_id", func(r *report.Report, _ *report.Record) { r.ID = "" }},
	"figures twice": {
		"</policy_evaluated>", "<disposition>none</disposition><dkim>fail</dkim><spf>pass</spf></policy_evaluated><source_ip>192.0.2.8</source_ip><count>99</count>", "", same,
	},
	"value twice":                     {"<p>Quarantine</p>", "<p/><p>Quarantine</p><p>none</p>", "", same},
	"long value":                      {"Reporter 2.1", strings.Repeat("y", 2000), "value_too_long", func(r *report.Report, _ *report.Record) { r.Generator = strings.Repeat("y", 1024) }},
	"attribute with markup":           {`<record>`, `<record a="1 > 0 &amp; </record>" b='"'>`, "", same},
	"elements that are not known":     {"<version>1.0", "<vendor><row><count>5</count></row><v/></vendor><version>1.0", "", same},
	"foreign element of a known name": {"<version>1.0", `<record xmlns="urn:y"><row/></record><version>1.0`, "", same},
	"prefix for all":                  {"", "", "", same},
}

// same changes nothing.
func same(*report.Report, *report.Record) {}

// TestParseKeepsWhatCanBeRead reads the document with each deviation.
func TestParseKeepsWhatCanBeRead(t *testing.T) {
	t.Parallel()
	for name, test := range deviations {
		text := strings.ReplaceAll(document, test.old, test.new)
		if test.old == "" {
			text = reporttest.Prefixed(document, "d")
		} else if text == document {
			t.Errorf("%s: nothing was replaced", name)
		}
		got, records, err := parse(strings.NewReader(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want, record := wanted()
		test.change(&want, &record)
		if c := codes(got.Warnings); c != test.warnings {
			t.Errorf("%s: warnings %q, want %q: %+v", name, c, test.warnings, got.Warnings)
		}
		got.Warnings = nil
		compare(t, name, got, records, want, record)
	}
}

// TestParseLeavesRecordsOut checks that a record without a number of messages or without a source
// is a warning with what was written there, and that the others are kept.
func TestParseLeavesRecordsOut(t *testing.T) {
	t.Parallel()
	for value, code := range map[string]report.WarningCode{
		"<source_ip>192.0.2.777</source_ip><count>1</count>":  report.InvalidSourceIP,
		"<source_ip>192.0.2</source_ip><count>1</count>":      report.InvalidSourceIP,
		"<source_ip>192.0.2.1.5</source_ip><count>1</count>":  report.InvalidSourceIP,
		"<source_ip>01.0.2.1</source_ip><count>1</count>":     report.InvalidSourceIP,
		"<source_ip>fe80::1%eth0</source_ip><count>1</count>": report.InvalidSourceIP,
		"<source_ip>mail.example</source_ip><count>1</count>": report.InvalidSourceIP,
		"<count>1</count>":                                                    report.InvalidSourceIP,
		"<source_ip>192.0.2.1</source_ip>":                                    report.InvalidCount,
		"<source_ip>192.0.2.1</source_ip><count>0</count>":                    report.InvalidCount,
		"<source_ip>192.0.2.1</source_ip><count>-3</count>":                   report.InvalidCount,
		"<source_ip>192.0.2.1</source_ip><count>1e3</count>":                  report.InvalidCount,
		"<source_ip>192.0.2.1</source_ip><count>99999999999999</count>":       report.InvalidCount,
		"<source_ip>192.0.2.1</source_ip><count>18446744073709551617</count>": report.InvalidCount,
	} {
		text := strings.Replace(document, "<record>\n", "<record><row>"+value+"</row></record><record>\n", 1)
		got, records, err := parse(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if len(records) != 1 || got.Records != 1 || got.Messages != 12 || codes(got.Warnings) != string(code) {
			t.Errorf("%s: %d records, %+v", value, len(records), got)
		}
	}
}

// TestParseLeavesOutWhatIsCut ends the document at each byte of a record. Its figures are kept if its
// row is whole, and no value is a part of what the reporter wrote.
func TestParseLeavesOutWhatIsCut(t *testing.T) {
	t.Parallel()
	begin, rowEnd := strings.Index(document, "<record>\n"), strings.Index(document, "</row>\n  <identifiers>")
	_, whole := wanted()
	for end := begin; end < len(document)-len("</record>\n</feedback>\n"); end++ {
		got, records, err := parse(strings.NewReader(document[:end]))
		if err != nil || !strings.Contains(codes(got.Warnings), "truncated") {
			t.Fatalf("%q: %v, %+v", document[begin:end], err, got)
		}
		if end < rowEnd && len(records) > 0 || end >= rowEnd+len("</row>") && len(records) != 1 {
			t.Fatalf("%q: %d records", document[begin:end], len(records))
		}
		for _, r := range records {
			isWhole := r.Count == whole.Count && r.SourceIP == whole.SourceIP && r.DKIM && r.Disposition == whole.Disposition && reflect.DeepEqual(r.Reasons, whole.Reasons)
			if !isWhole || r.HeaderFrom != "" && r.HeaderFrom != whole.HeaderFrom || r.EnvelopeFrom != "" && r.EnvelopeFrom != whole.EnvelopeFrom {
				t.Fatalf("%q: read %+v", document[begin:end], r)
			}
		}
	}
}

// TestParseRefuses lists what is no report.
func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]error{
		"":                             report.ErrNotReport,
		"hello":                        report.ErrNotReport,
		"<html><body>no</body></html>": report.ErrNotReport,
		"<!-- nothing -->":             report.ErrNotReport,
		strings.Repeat("<a>", 100_000): report.ErrNotReport,
		`{"organization-name": "a", "policies": []}`: report.ErrTLSReport,
		`{"a": 1}`: report.ErrNotReport,
	} {
		if _, _, err := parse(strings.NewReader(content)); !errors.Is(err, want) {
			t.Errorf("%.40q: %v, want %v", content, err, want)
		}
	}
}

// TestParseEndsWithItsVisitor checks that an error of visit ends the report.
func TestParseEndsWithItsVisitor(t *testing.T) {
	t.Parallel()
	errVisit := errors.New("visit")
	if _, err := report.Parse(strings.NewReader(document), func(*report.Record) error { return errVisit }); !errors.Is(err, errVisit) {
		t.Error(err)
	}
	errRead := errors.New("read")
	if _, _, err := parse(io.MultiReader(strings.NewReader(document[:900]), failing{errRead})); !errors.Is(err, errRead) {
		t.Error(err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// TestHostileReports checks that documents that are made to take memory or time end with a bounded
// result.
func TestHostileReports(t *testing.T) {
	t.Parallel()
	const many = 200_000
	begin := document[:strings.Index(document, "<record>")]
	for name, body := range map[string]string{
		"depth":             strings.Repeat("<a>", many),
		"depth of sections": strings.Repeat("<record><row>", many),
		"open quotes":       strings.Repeat(`<a="`, many),
		"open brackets":     strings.Repeat("<", many),
		"names":             distinct(many, "<n%d/>"),
		"results":           "<record><row><source_ip>192.0.2.1</source_ip><count>1</count></row><auth_results>" + distinct(many, "<dkim><domain>d%d.example</domain></dkim>"),
		"namespaces":        distinct(many/10, `<a xmlns:n%d="u">`),
		"entities":          "<version>" + strings.Repeat("&amp;", many),
		"open comment":      "<!--" + strings.Repeat("-", many),
		"long tag":          "<" + strings.Repeat("a", many),
	} {
		got, records, err := parse(strings.NewReader(begin + body))
		if err != nil || len(got.Warnings) == 0 || len(got.Warnings) > 10 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		for _, r := range records {
			if len(r.Signatures) > 100 {
				t.Errorf("%s: %d signatures", name, len(r.Signatures))
			}
		}
	}
}

func distinct(n int, format string) string {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}
