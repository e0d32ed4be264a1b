package domainauth

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/domainauth/arrivals"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// ReceivedPath is the path of the page with the files that were received.
const ReceivedPath = ListPath + "/received"

// fileState is a state of files with its mark.
type fileState struct {
	State arrivals.State
	Mark  mark
}

// fileStates are the states of files.
var fileStates = []fileState{
	{arrivals.Read, mark{"read", "delivered"}}, {arrivals.Waiting, mark{"waits", "sent"}}, {arrivals.Held, mark{"held", "delayed"}}, {arrivals.Failed, mark{"not read", "bounced"}},
}

// fileRow is a file in the list.
type fileRow struct {
	Name, Result, Problem    string
	Sender, Reporter, Domain frame.Wrapped
	State                    mark
	Size                     string
	Received                 frame.When
	Verdicts                 []frame.Verdict
}

// reporterRow is a reporter whose files are held, or about which a person decided.
type reporterRow struct {
	Name     string
	Held     string
	LastHeld frame.When
	Decision mark
	// Form is nil for visitors who may not decide.
	Form           *frame.Form
	Accept, Reject bool
}

// receivedPage is the data of the page with the files that were received.
type receivedPage struct {
	Reporters []reporterRow
	Rows      []fileRow
	States    []frame.Option
	Domains   []frame.Option
	Empty     frame.Empty
	Pager     frame.Pager
}

// maxDomains is the number of domains among which the page offers to choose.
const maxDomains = 200

// deskOf returns the desk for a visitor. It checks the permission inside its transactions.
func (h receivedPages) deskOf(v people.Visitor) arrivals.Desk {
	return arrivals.Desk{Store: h.Arrivals, Transactor: h.TransactorWith(v, members.MayManageDomainAuth), Audit: h.Audit, Clock: h.Clock}
}

// showReceived shows what was received by mail, what was read from it, and what was not and why.
func (h receivedPages) showReceived(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	asked := r.URL.Query()
	state, domain := core.OnlyVisible(asked.Get("state")), core.OnlyVisible(asked.Get("domain"))
	domains, err := h.Store.Domains(r.Context(), v.Org.ID, "", maxDomains)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data, names, filter := receivedPage{States: stateOptions(state)}, map[string]string{}, arrivals.FileFilter{}
	options, known := []frame.Option{{Name: "Any"}}, domain == ""
	for _, d := range domains {
		names[d.ID], options = d.Domain, append(options, frame.Option{Value: d.Domain, Name: d.Domain})
		if d.Domain == domain {
			filter.DomainID, known = d.ID, true
		}
	}
	data.Domains = frame.ChooseOption(options, domain)
	if known = known && (state == "" || isState(state)); known {
		filter.State = arrivals.State(state)
	} else {
		filter.DomainID = core.NewID() // an unknown domain has no files
	}
	page, err := core.ReadPage(fmt.Sprintf("dmarc files %q %q", state, domain), asked.Get(frame.ParamCursor), frame.PageSize, func(after *core.After, limit int) ([]arrivals.File, error) {
		return h.deskOf(v).Files(r.Context(), v.Org.ID, filter, after, limit)
	}, func(f arrivals.File) core.After { return core.After{At: f.ReceivedAt, ID: f.ID} })
	problem, status := labels.FilterProblem(err)
	if err != nil && problem == "" {
		h.Fail(w, r, v, err)
		return
	}
	data.Pager = frame.PagerOf(ReceivedPath, asked, len(page.Items), page.Next, -1)
	data.Empty = frame.Empty{Text: "No report came by mail in the last 90 days. The page “Records” of a domain says whether this server receives reports, and at which address.", Action: &frame.Action{Path: ListPath, Name: "Open domains"}}
	if filter != (arrivals.FileFilter{}) {
		data.Empty = frame.Empty{Text: "No file matches these filters.", Action: &frame.Action{Path: ReceivedPath, Name: "Show all files"}}
	}
	for _, f := range page.Items {
		data.Rows = append(data.Rows, h.newFileRow(f, names[f.DomainID]))
	}
	if data.Reporters, err = h.reporterRows(r, v); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	h.Show(w, r, v, status, frame.Screen{Page: "received", Title: "Received reports", Problem: problem, Notice: notices.NoticeOf(r), Data: data, Head: frame.Head{
		Lead: "Files of the last 90 days that came to the report addresses of your domains or were imported, and what was read from them.",
	}})
}

// stateOptions returns the options of the filter by state.
func stateOptions(chosen string) []frame.Option {
	options := []frame.Option{{Name: "Any"}}
	for _, s := range fileStates {
		options = append(options, frame.Option{Value: string(s.State), Name: s.Mark.Name})
	}
	return frame.ChooseOption(options, chosen)
}

func isState(name string) bool {
	return slices.ContainsFunc(fileStates, func(s fileState) bool { return string(s.State) == name })
}

// newFileRow returns the row of a file. Its texts are those of outsiders.
func (h receivedPages) newFileRow(f arrivals.File, domain string) fileRow {
	row := fileRow{
		Name: frame.PlainName(f.Name), Sender: frame.Wrapped(frame.PlainName(f.Sender)), Reporter: frame.Wrapped(frame.PlainName(f.Reporter)), Domain: frame.Wrapped(domain),
		Size: core.WithCommas(f.Size) + " bytes", Received: h.When(f.ReceivedAt), Problem: frame.PlainName(f.Problem), Result: resultOf(f.Counts),
	}
	if row.Name == "" {
		row.Name = "(no name)"
	}
	for _, s := range fileStates {
		if s.State == f.State {
			row.State = s.Mark
		}
	}
	if f.Verdicts != nil {
		row.Verdicts = frame.VerdictsOf(map[string]string{"spf": string(f.Verdicts.SPF), "dkim": string(f.Verdicts.DKIM), "dmarc": string(f.Verdicts.DMARC)})
	}
	return row
}

// resultOf says in words what a file had, "" for nothing.
func resultOf(c arrivals.Counts) string {
	var parts []string
	for _, part := range []struct {
		n         int
		one, many string
	}{
		{c.Reports, "new report", "new reports"},
		{c.Duplicates, "report that was known", "reports that were known"},
		{c.TLSReports, "report about encryption (TLS), which is not read", "reports about encryption (TLS), which are not read"},
		{c.Foreign, "report about another domain, which is not read", "reports about other domains, which are not read"},
	} {
		if part.n > 0 {
			parts = append(parts, frame.Quantity(int64(part.n), part.one, part.many))
		}
	}
	return strings.Join(parts, ", ")
}

// reporterRows returns the reporters to decide about, then those about which a person decided.
func (h receivedPages) reporterRows(r *http.Request, v people.Visitor) ([]reporterRow, error) {
	all, err := h.deskOf(v).Reporters(r.Context(), v.Org.ID)
	rows := make([]reporterRow, 0, len(all))
	for _, one := range all {
		row := reporterRow{Name: frame.PlainName(one.Name), Held: core.WithCommas(one.Held), Accept: one.Decision != arrivals.Accepted, Reject: one.Decision != arrivals.Rejected}
		switch one.Decision {
		case arrivals.Accepted:
			row.Decision = mark{"accepted", "delivered"}
		case arrivals.Rejected:
			row.Decision = mark{"rejected", "bounced"}
		default:
			row.Decision = mark{"waits for a decision", "delayed"}
		}
		if one.LastHeldAt != nil {
			row.LastHeld = h.When(*one.LastHeldAt)
		}
		if mayManage(v) && row.Name == one.Name { // a name that cannot be shown cannot be decided about
			form := frame.FormTo(v, ReceivedPath+"/decide")
			row.Form = &form
		}
		rows = append(rows, row)
	}
	waits := func(r reporterRow) int {
		if r.Accept && r.Reject {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(rows, func(a, b reporterRow) int { return waits(a) - waits(b) })
	return rows, err
}

// decide accepts or rejects a reporter.
func (h receivedPages) decide(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	desk, actor, reporter := h.deskOf(v), access.ActorOf(v.User.ID), r.PostForm.Get("reporter")
	var err error
	notice := "reporter_rejected"
	switch r.PostForm.Get("to") {
	case string(arrivals.Accepted):
		notice = "reporter_accepted"
		_, err = desk.Accept(r.Context(), actor, v.Org.ID, reporter)
	case string(arrivals.Rejected):
		err = desk.Reject(r.Context(), actor, v.Org.ID, reporter)
	default:
		h.NoSuchPage(w, r, v)
		return
	}
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.RedirectWithNotice(w, ReceivedPath, notice)
}
