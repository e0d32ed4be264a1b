package domainauth

import (
	"net/http"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth"
	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// sourceFilters are the query parameters of the list of sources.
var sourceFilters = []string{"decision", "classification", frame.ParamCursor, frame.ParamFrom}

// choice is a button that decides about a source.
type choice struct {
	Decision figures.Decision
	Verb     string
}

// choicesOf returns the buttons for a source with a decision.
func choicesOf(d figures.Decision) []choice {
	var all []choice
	for _, c := range []choice{{figures.Confirmed, "Confirm"}, {figures.Rejected, "Reject"}, {figures.Unreviewed, "Take back"}} {
		if c.Decision != d {
			all = append(all, c)
		}
	}
	return all
}

// sourceRow is a source in the table.
type sourceRow struct {
	ID, Name, Provider       string
	Kind                     kindOfSource
	Decision                 mark
	Messages, Passed, Failed string
	SPF, DKIM                string
	Finding                  string
	FindingSince             frame.When
	First, Last              string
	Addresses                []string
	// Form and Choices are those of the decision, nil for visitors who may not decide.
	Form    *frame.Form
	Choices []choice
}

// sourceList is the data of the page with the sources of a domain.
type sourceList struct {
	domainHead
	Rows      []sourceRow
	Decisions []frame.Option
	Kinds     []frame.Option
	Meanings  []kindOfSource
	// Kept are the filters that a decision keeps.
	Kept   []frame.Option
	Empty  frame.Empty
	Pager  frame.Pager
	Manage bool
}

// showSources lists who sent mail in the name of a domain in the last 30 days.
func (h sourcePages) showSources(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	p, ok := h.postureOf(w, r, v)
	if !ok {
		return
	}
	asked := r.URL.Query()
	arguments := named(r)
	arguments["limit"] = frame.PageSize
	for _, name := range sourceFilters[:3] {
		arguments[name] = asked.Get(name)
	}
	var page frame.List[domainauth.Source]
	err := h.Read(r, v, "domain_auth_sources_list", frame.SetArguments(arguments), &page)
	problem, status := labels.FilterProblem(err)
	if err != nil && problem == "" {
		h.Fail(w, r, v, err)
		return
	}
	data := sourceList{
		domainHead: newDomainHead(p.Posture, tabSources), Decisions: decisionOptions(asked.Get("decision")), Kinds: kindOptions(asked.Get("classification")), Manage: mayManage(v),
	}
	data.Pager = frame.PagerOf(data.Path+tabSources, asked, len(page.Data), page.Next(), -1)
	data.Empty = frame.Empty{Text: "No report names a source in the last 30 days. Sources appear with the first report.", Action: &frame.Action{Path: data.Path + tabSetup, Name: "See whether reports arrive"}}
	if asked.Get("decision") != "" || asked.Get("classification") != "" {
		data.Empty = frame.Empty{Text: "No source of the last 30 days matches these filters.", Action: &frame.Action{Path: data.Path + tabSources, Name: "Show all sources"}}
	}
	for _, k := range kindsOfSources {
		data.Meanings = append(data.Meanings, k.Kind)
	}
	for _, name := range sourceFilters {
		if value := asked.Get(name); value != "" {
			data.Kept = append(data.Kept, frame.Option{Name: name, Value: value})
		}
	}
	for _, s := range page.Data {
		data.Rows = append(data.Rows, h.newSourceRow(v, data, s))
	}
	h.show(w, r, v, status, p.Domain, frame.Screen{Page: "sources", Title: "Sources", Problem: problem, Data: data, Head: frame.Head{
		Lead: "Who sent mail in the name of the domain in the last 30 days. Confirm the senders that you use, and reject the others.",
	}})
}

// newSourceRow returns the row of a source. Its name may be a domain that a stranger chose.
func (h sourcePages) newSourceRow(v people.Visitor, data sourceList, s domainauth.Source) sourceRow {
	row := sourceRow{
		ID: s.ID, Name: frame.PlainName(s.Name), Kind: kindOf(s.Classification), Decision: markOfDecision(s.Decision),
		Messages: core.WithCommas(s.MessageCount), Passed: share(s.AlignedCount, s.MessageCount), Failed: core.WithCommas(s.FailingCount),
		SPF: share(s.SPFPass, s.MessageCount), DKIM: share(s.DKIMPass, s.MessageCount),
		First: s.FirstSeenAt.Format("2 Jan 2006"), Last: s.LastSeenAt.Format("2 Jan 2006"),
	}
	if s.Provider != nil && !strings.EqualFold(*s.Provider, s.Name) {
		row.Provider = *s.Provider
	}
	for _, ip := range s.SampleIPs {
		row.Addresses = append(row.Addresses, frame.PlainName(ip))
	}
	if s.Finding != nil {
		row.Finding, row.FindingSince = frame.PlainName(s.Finding.Detail), h.When(s.Finding.OpenedAt)
	}
	if data.Manage {
		form := frame.FormTo(v, data.Path+tabSources+"/"+s.ID+"/decide")
		row.Form, row.Choices = &form, choicesOf(s.Decision)
	}
	return row
}

// share formats a part of a whole.
func share(part, whole int64) string {
	rate, known := figures.Ratio{Part: part, Whole: whole}.Float()
	if !known {
		return "–"
	}
	return frame.ShortPercentage(rate)
}

// decide stores a decision about a source, and returns to the list with the same filters.
func (h sourcePages) decide(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	id := r.PathValue("source")
	if !core.IsID(id) {
		h.NoSuchPage(w, r, v)
		return
	}
	decision := r.PostForm.Get("to")
	arguments := named(r)
	arguments["source_id"], arguments["decision"] = id, decision
	if _, err := h.Do(r, v, frame.OperationCall{Operation: "domain_auth_sources_decide", Arguments: arguments}, nil); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	kept := frame.Parameters{"done": decision}
	for _, name := range sourceFilters {
		kept[name] = r.PostForm.Get(name)
	}
	frame.SeeOther(w, frame.Address(domainPath(r.PathValue("domain"))+tabSources, kept))
}
