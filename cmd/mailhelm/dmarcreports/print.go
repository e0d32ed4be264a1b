package dmarcreports

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/core/domainauth/report"
)

// printedShow is the object that `mailhelm dmarc show --json` prints. Scripts rely on its members.
type printedShow struct {
	Reports  []printedReport  `json:"reports"`
	Failures []printedFailure `json:"failures"`
	Totals   totals           `json:"totals"`
	// seen has the reports that were added.
	seen map[reportKey]bool
}

// reportKey identifies a report. The period is part of it, because some reporters use an
// identifier again.
type reportKey struct {
	reporter, id, domain string
	begin                time.Time
}

type totals struct {
	Reports    int `json:"reports"`
	TLSReports int `json:"tls_reports"`
	OtherFiles int `json:"other_files"`
	// Copies counts the reports that were left out because they were read before.
	Copies int `json:"copies"`
	figures
}

// read returns the number of documents that are reports of some kind.
func (t totals) read() int { return t.Reports + t.TLSReports + t.Copies }

type printedReport struct {
	File      string          `json:"file"`
	Reporter  string          `json:"reporter"`
	Email     string          `json:"email"`
	ReportID  string          `json:"report_id"`
	Begin     *time.Time      `json:"begin"`
	End       *time.Time      `json:"end"`
	Domain    string          `json:"domain"`
	Policy    string          `json:"policy"`
	Generator string          `json:"generator,omitempty"`
	Records   int             `json:"records"`
	Figures   figures         `json:"figures"`
	Sources   []printedSource `json:"sources"`
	// MoreSources is the number of sources that are not listed.
	MoreSources int              `json:"more_sources"`
	Warnings    []printedWarning `json:"warnings"`
	rest        figures
}

type printedSource struct {
	Name string `json:"name"`
	// Kind is the classification: own, authorised, forwarder, unknown or spoofing.
	Kind string `json:"classification"`
	figures
	// IPs has some of the addresses, and IPCount their number, at most 1,000.
	IPs     []string `json:"sample_ips"`
	IPCount int      `json:"ip_count"`
	// DKIM and SPF have domains that passed, at most five.
	DKIM []string `json:"dkim_domains"`
	SPF  []string `json:"spf_domains"`
}

type printedWarning struct {
	Code    report.WarningCode `json:"code"`
	Count   int                `json:"count"`
	Message string             `json:"message"`
}

type printedFailure struct {
	File  string `json:"file"`
	Error string `json:"error"`
}

// add adds a report with its sources, unless it is a copy of one that was added.
func (s *printedShow) add(file string, r *report.Report, sum *summary, sources int) {
	key := reportKey{r.Org, r.ID, r.Policy.Domain, r.Begin}
	if s.seen[key] && r.ID != "" {
		s.Totals.Copies++
		return
	}
	s.seen[key] = true
	one := printedReport{
		File: file, Reporter: r.Org, Email: r.Email, ReportID: r.ID, Domain: r.Policy.Domain, Policy: policyText(r.Policy), Generator: r.Generator,
		Records: r.Records, Figures: sum.all, Sources: []printedSource{}, Warnings: []printedWarning{},
	}
	if !r.Begin.IsZero() {
		one.Begin, one.End = &r.Begin, &r.End
	}
	list, rest, more := sum.first(sources)
	one.Sources, one.rest, one.MoreSources = append(one.Sources, list...), rest, more
	for _, w := range r.Warnings {
		one.Warnings = append(one.Warnings, printedWarning{w.Code, w.Count, warningText(w)})
	}
	s.Reports = append(s.Reports, one)
	s.Totals.Reports++
	s.Totals.figures = s.Totals.plus(sum.all)
}

// policyText returns the published policy in the form of a DMARC record.
func policyText(p report.Policy) string {
	var tags []string
	for _, tag := range [][2]string{
		{"p", p.P}, {"sp", p.SP}, {"np", p.NP}, {"adkim", p.ADKIM}, {"aspf", p.ASPF}, {"fo", p.FO}, {"pct", p.Pct}, {"t", p.Testing},
	} {
		if tag[1] != "" {
			tags = append(tags, tag[0]+"="+tag[1])
		}
	}
	return strings.Join(tags, "; ")
}

// print prints everything, as JSON with --json.
func (s *Show) print(p *cli.Program, all printedShow) error {
	if s.JSON {
		return p.PrintJSON(all)
	}
	for _, r := range all.Reports {
		if err := printReport(p, r); err != nil {
			return err
		}
	}
	for _, f := range all.Failures {
		fmt.Fprintf(p.Stderr, "%s: %s\n", safe(f.File), safe(f.Error))
	}
	t := all.Totals
	if t.Reports != 1 || t.TLSReports+t.OtherFiles+t.Copies > 0 {
		fmt.Fprintf(p.Stdout, "%s, %s: %s passed, %s failed\n", counted(uint64(t.Reports), "report"), counted(t.Messages, "message"), share(t.Passed, t.Messages), share(t.Failed, t.Messages))
	}
	if t.Copies > 0 {
		fmt.Fprintf(p.Stdout, "%s left out\n", countedAs(uint64(t.Copies), "copy of a report", "copies of reports"))
	}
	if t.TLSReports > 0 {
		fmt.Fprintf(p.Stdout, "%s about SMTP TLS left out\n", counted(uint64(t.TLSReports), "report"))
	}
	if t.OtherFiles > 0 {
		fmt.Fprintf(p.Stdout, "%s without a report\n", counted(uint64(t.OtherFiles), "file"))
	}
	return nil
}

// printReport prints one report for a person.
func printReport(p *cli.Program, r printedReport) error {
	fmt.Fprintln(p.Stdout, safe(r.File))
	f := r.Figures
	rows := [][]string{
		{"reporter", safe(strings.TrimSpace(r.Reporter + " " + angled(r.Email)))},
		{"report", safe(r.ReportID)},
		{"period", period(r.Begin, r.End)},
		{"domain", safe(r.Domain)},
		{"policy", safe(r.Policy)},
		{"messages", fmt.Sprintf("%s in %s", number(f.Messages), counted(uint64(r.Records), "record"))},
		{"passed", share(f.Passed, f.Messages)},
		{"failed", share(f.Failed, f.Messages)},
	}
	if handled := handling(f); handled != "" {
		rows[len(rows)-1][1] += ": " + handled
	}
	for _, w := range r.Warnings {
		rows = append(rows, []string{"warning", safe(w.Message)})
	}
	if err := p.PrintTable("  ", rows); err != nil {
		return err
	}
	if err := printSources(p, r); err != nil {
		return err
	}
	_, err := fmt.Fprintln(p.Stdout)
	return err
}

// handling says what receivers did with the messages that failed.
func handling(f figures) string {
	var parts []string
	for _, part := range []struct {
		n    uint64
		verb string
	}{{f.FailedAccepted, "accepted"}, {f.FailedQuarantined, "quarantined"}, {f.FailedRejected, "rejected"}} {
		if part.n > 0 {
			parts = append(parts, number(part.n)+" "+part.verb)
		}
	}
	return strings.Join(parts, ", ")
}

// printSources prints the table of sources.
func printSources(p *cli.Program, r printedReport) error {
	if len(r.Sources) == 0 {
		return nil
	}
	fmt.Fprintln(p.Stdout)
	rows := [][]string{{"source", "kind", "passed", "failed", "addresses"}}
	for _, s := range r.Sources {
		rows = append(rows, []string{safe(s.Name), s.Kind, number(s.Passed), number(s.Failed), s.addresses()})
	}
	if r.MoreSources > 0 {
		rows = append(rows, []string{number(uint64(r.MoreSources)) + " more", "", number(r.rest.Passed), number(r.rest.Failed)})
	}
	return p.PrintTable("  ", rows)
}

// addresses returns the first address, and how many others there are.
func (s printedSource) addresses() string {
	if s.IPCount == 1 {
		return s.IPs[0]
	}
	return s.IPs[0] + " and " + number(uint64(s.IPCount-1)) + " more"
}

func angled(address string) string {
	if address == "" {
		return ""
	}
	return "<" + address + ">"
}

// period returns a range of times, in UTC. A range within a day has the date once.
func period(begin, end *time.Time) string {
	if begin == nil {
		return "unknown"
	}
	const day, minute = "2006-01-02 15:04", "15:04"
	layout := day
	if begin.Truncate(24 * time.Hour).Equal(end.Truncate(24 * time.Hour)) {
		layout = minute
	}
	return begin.Format(day) + " to " + end.Format(layout) + " UTC"
}

// number returns a number with separators of thousands.
func number(n uint64) string {
	text := strconv.FormatUint(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// counted returns a number with a noun, whose plural ends with "s".
func counted(n uint64, noun string) string { return countedAs(n, noun, noun+"s") }

// countedAs returns a number with the noun for one or for several.
func countedAs(n uint64, one, several string) string {
	if n == 1 {
		return number(n) + " " + one
	}
	return number(n) + " " + several
}

// share returns a number with its part of a whole. It rounds away from 0 and 100 %, so that a few
// failures are seen.
func share(n, of uint64) string {
	if of == 0 {
		return number(n)
	}
	tenths := n * 1000 / of
	if n > 0 && tenths == 0 {
		tenths = 1
	}
	return fmt.Sprintf("%s (%d.%d %%)", number(n), tenths/10, tenths%10)
}

// safe returns a text of a report without characters that change the terminal or the order of the
// text.
func safe(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}
