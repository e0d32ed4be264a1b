package workflows

import (
	"net/http"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/workflows/wording"
)

// listPage is the data of the list of workflows.
type listPage struct {
	All, Query, Status string
	Tabs               []tab
	Narrow             bool
	// Waiting is the number of messages that wait for a person, "" for none. Held is the page
	// with them.
	Waiting, Held string
	// Invalid is the number of workflows that cannot run, "" for none. InvalidPath is the list of
	// them.
	Invalid, InvalidPath string
	Rows                 []row
	Pager                frame.Pager
	Empty                frame.Empty
	// Cap says how many messages a contact gets from all workflows. CapPath is the page that
	// changes it, "" if the visitor may not.
	Cap, CapPath string
}

// row is the data of one workflow in the list. The numbers are "" before the first activation.
type row struct {
	Path, Name, Key   string
	State             wording.State
	Reason            string // why an invalid workflow cannot run
	Draft             bool   // a draft waits beside the current version
	UnderWay, Through string
	Entered           string
	Days              wording.Spark
	Held              string
	HeldPath          string
	Changed           frame.When
}

// maxQuery is the maximum length of a text to search for, in bytes.
const maxQuery = 100

// showWorkflows lists the workflows that match the filters in the page's address.
func (h *Room) showWorkflows(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	query := r.URL.Query()
	text := query.Get("q")
	f := workflows.Filter{Query: strings.ToValidUTF8(text[:min(len(text), maxQuery)], ""), Status: workflows.Status(query.Get("status")), Limit: frame.PageSize}
	data := listPage{All: Path, Query: f.Query, Status: string(f.Status), Narrow: f.Query != "" || f.Status != "", Held: HeldPath}
	page, err := h.Editor.Search(r.Context(), v.Org.ID, f, query.Get(frame.ParamCursor))
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	held, err := h.Editor.Holds.CountHeld(r.Context(), v.Org.ID)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	total, err := h.addCounts(r, v, &data, held)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	if data.Rows, err = h.rowsOf(r, v, page.Items, held); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data.Pager = frame.PagerOf(Path, query, len(data.Rows), page.Next, int64(page.Total))
	data.Empty = h.emptyOf(v, data.Narrow)
	head := frame.Head{Title: "Workflows", Count: count(total), Lead: "A workflow is a journey that contacts take one by one: messages, waits and branches."}
	if mayWrite(v) {
		head.Actions = []frame.Action{{Path: newPath, Name: "New workflow", Primary: true}}
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "workflows", Title: "Workflows", Head: head, Notice: notices.NoticeOf(r), Data: data})
}

// mayWrite reports whether the visitor may write sources here.
func mayWrite(v people.Visitor) bool {
	return v.Member.Has(members.MayManageCampaigns) && !v.Org.GitConnected
}

// addCounts adds what waits for a person, the links to the statuses with their numbers, and the
// limit of messages. It returns the number of all workflows.
func (h *Room) addCounts(r *http.Request, v people.Visitor, data *listPage, held map[string]int) (int, error) {
	waiting := 0
	for _, n := range held {
		waiting += n
	}
	if waiting > 0 {
		data.Waiting = frame.Quantity(int64(waiting), "message waits", "messages wait")
	}
	address := func(status workflows.Status) string {
		return frame.Address(Path, frame.Parameters{"status": string(status), "q": data.Query})
	}
	total, tabs := 0, []tab{}
	for _, s := range statusOrder {
		n, err := h.Editor.Store.Count(r.Context(), v.Org.ID, workflows.Filter{Status: s})
		if err != nil {
			return 0, err
		}
		total += n
		if n > 0 || data.Status == string(s) {
			tabs = append(tabs, tab{address(s), statuses[s].Name, count(n), data.Status == string(s)})
		}
		if s == workflows.Invalid && n > 0 {
			data.Invalid, data.InvalidPath = frame.Quantity(int64(n), "workflow cannot run", "workflows cannot run"), address(s)
		}
	}
	data.Tabs = append([]tab{{address(""), "All", count(total), data.Status == ""}}, tabs...)
	limit, err := h.Editor.Cap(r.Context(), v.Org.ID)
	data.Cap = wording.LimitWords(limit)
	if v.Member.Has(members.MayManageCampaigns) {
		data.CapPath = limitPath
	}
	return total, err
}

// shownDays is the number of days for which the list shows who entered.
const shownDays = 7

// rowsOf returns the rows of workflows.
func (h *Room) rowsOf(r *http.Request, v people.Visitor, page []workflows.Workflow, held map[string]int) ([]row, error) {
	var ids []string
	for _, w := range page {
		ids = append(ids, w.ID)
	}
	counts, err := h.Editor.Runs.Counts(r.Context(), v.Org.ID, ids)
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, w := range page {
		shown := row{
			Path: pathOf(w, ""), Name: frame.PlainName(w.Name), Key: w.Key, State: statuses[w.Status], Reason: frame.PlainName(w.InvalidReason),
			Draft: w.DraftVersion > 0 && w.CurrentVersion > 0, Changed: h.When(w.UpdatedAt),
		}
		if w.CurrentVersion > 0 {
			of := counts[w.ID]
			shown.UnderWay, shown.Through = count(of[engine.Active]), count(of[engine.Completed]+of[engine.Exited]+of[engine.Failed])
			days, err := h.enteredDays(r, v, w, shownDays)
			if err != nil {
				return nil, err
			}
			shown.Entered, shown.Days = count(int(wording.Sum(days))), wording.SparkOf(days)
		}
		if held[w.ID] > 0 {
			shown.Held, shown.HeldPath = count(held[w.ID]), pathOf(w, tabHeld)
		}
		rows = append(rows, shown)
	}
	return rows, nil
}

// enteredDays returns the numbers of contacts that entered on each of the last days, today
// included.
func (h *Room) enteredDays(r *http.Request, v people.Visitor, w workflows.Workflow, days int) ([]float64, error) {
	first := frame.DayStart(h.Clock()).AddDate(0, 0, 1-days)
	started, err := h.Editor.Runs.Started(r.Context(), v.Org.ID, w.ID, first)
	numbers := make([]float64, days)
	for _, d := range started {
		if at := int(d.Day.Sub(first) / (24 * time.Hour)); at >= 0 && at < days {
			numbers[at] = float64(d.Count)
		}
	}
	return numbers, err
}

// emptyOf returns the text in place of a list without workflows.
func (h *Room) emptyOf(v people.Visitor, narrow bool) frame.Empty {
	if narrow {
		return frame.Empty{Text: "No workflow matches these filters."}
	}
	empty := frame.Empty{Text: "There are no workflows. A workflow sends messages to each contact at the right time: a welcome, a reminder, a request for a review.", Guide: h.Guide("/guides/workflow-language", "Learn the language of workflows")}
	if mayWrite(v) {
		empty.Action = &frame.Action{Path: newPath, Name: "New workflow"}
	}
	return empty
}
