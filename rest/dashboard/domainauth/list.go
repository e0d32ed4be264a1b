package domainauth

import (
	"net/http"

	"github.com/mailhelm/mailhelm/core/domainauth"
	"github.com/mailhelm/mailhelm/core/domainauth/readiness"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// accountPath is the page on which a sending account is connected. Another room has it.
const accountPath = frame.Path + "/account"

// domainRow is a domain in the list.
type domainRow struct {
	Path       string
	Name       frame.Wrapped
	Ladder     ladder
	Passed     string
	Days       int
	Findings   int
	Next       nextStep
	LastReport frame.When
}

// domainList is the data of the page that lists the domains.
type domainList struct {
	Rows       []domainRow
	WindowDays int
	Empty      frame.Empty
	Pager      frame.Pager
	Guide      *frame.Link
}

// showDomains lists the domains with their posture.
func (h *Room) showDomains(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	asked := r.URL.Query()
	var page frame.List[domainauth.Posture]
	err := h.Read(r, v, "domain_auth_domains_list", frame.SetArguments(map[string]any{"limit": frame.PageSize, "cursor": asked.Get(frame.ParamCursor)}), &page)
	problem, status := labels.FilterProblem(err)
	if err != nil && problem == "" {
		h.Fail(w, r, v, err)
		return
	}
	data := domainList{
		WindowDays: readiness.WindowDays, Pager: frame.PagerOf(ListPath, asked, len(page.Data), page.Next(), -1), Guide: h.Guide(guide, "From none to reject"),
		Empty: frame.Empty{
			Text:  "Domains appear here once your sending account has verified them. Then you see who sends mail in their name.",
			Guide: h.Guide(reportsGuide, "Read DMARC reports"),
		},
	}
	if h.MayOpen(v, accountPath) {
		data.Empty.Action = &frame.Action{Path: accountPath, Name: "Open sending account"}
	}
	for _, p := range page.Data {
		row := domainRow{
			Path: domainPath(p.Domain), Name: frame.Wrapped(p.Domain), Ladder: ladderOf(p), Passed: percentage(p.PassRate), Days: p.CoverageDays,
			Findings: p.OpenFindings, Next: nextStepOf(p),
		}
		if p.LastReportAt != nil {
			row.LastReport = h.When(*p.LastReportAt)
		}
		data.Rows = append(data.Rows, row)
	}
	h.Show(w, r, v, status, frame.Screen{Page: "domains", Title: "Domain authentication", Problem: problem, Data: data, Head: frame.Head{
		Lead:    "Who sends mail in the name of your domains, by the reports of receivers, and whether a stricter DMARC policy would lose mail you want.",
		Actions: []frame.Action{{Path: ReceivedPath, Name: "View received reports"}},
	}})
}

// nextStep is the most useful thing to do for a domain. Path is the page for it; Why explains it.
type nextStep struct{ Path, Text, Why string }

// nextStepOf returns the next step for a domain.
func nextStepOf(p domainauth.Posture) nextStep {
	path := domainPath(p.Domain)
	unreviewed, findings := int64(p.SourceCounts.Unreviewed), int64(p.OpenFindings)
	switch {
	case p.LastMeasuredAt == nil:
		return nextStep{path + tabSetup, "Wait for the first look at DNS", "The records of a new domain are read within a few minutes."}
	case p.Policy == nil:
		return nextStep{path + tabSetup, "Publish a DMARC record", "Without a record, receivers send no reports. A record with the policy none changes nothing about the delivery of your mail."}
	case p.LastReportAt == nil:
		return nextStep{path + tabSetup, "Wait for the first report", "Receivers send one report a day, so the first one can take two days. Until then, check that the record sends reports to you."}
	case p.CoverageDays < readiness.MinCoverageDays:
		return nextStep{path + tabPolicy, "Collect reports for " + frame.Quantity(int64(readiness.MinCoverageDays-p.CoverageDays), "more day", "more days"), "A stricter policy needs the figures of two weeks. Use the time to decide about sources."}
	case findings > 0:
		return nextStep{path + tabSources, "Look at " + frame.Quantity(findings, "finding", "findings"), "A finding is something about a source that you should know, such as mail that fails."}
	case unreviewed > 0:
		return nextStep{path + tabSources + "?decision=unreviewed", "Decide about " + frame.Quantity(unreviewed, "source", "sources"), "Confirm the senders that you use, and reject the others."}
	case p.NextPolicy != nil:
		return nextStep{path + tabPolicy, "Check whether " + *p.NextPolicy + " is possible", "Nothing waits for a decision. See which conditions for the next policy are met."}
	default:
		return nextStep{path, "Nothing to do", "The policy is the strictest one. Look here again when you begin to use a new service."}
	}
}
