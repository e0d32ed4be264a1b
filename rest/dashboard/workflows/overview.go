package workflows

import (
	"net/http"
	"strconv"
	"time"

	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/diagram"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/chart"
	"github.com/mailhelm/mailhelm/rest/dashboard/workflows/wording"
)

// overviewPage is the data of the overview of a workflow.
type overviewPage struct {
	about
	Reason   string // why an invalid workflow cannot run
	Held     string // the messages that wait for a person, "" for none
	HeldPath string
	// Draft is the number of a draft beside the current version, 0 for none.
	Draft     int
	DraftPath string
	// Counts are the runs by status, nil before the first activation.
	Counts   []tab
	Approval bool
	// Version is the number of the shown version. Versions are those to choose from.
	Version  int
	Versions []frame.Option
	Path     string
	Active   frame.When
	Journey  *wording.Journey
	Steps    []funnelRow
	Exits    []exitRow
	Entered  *chart.Panel
	Backfill bool // earlier contacts are still entering
	ReadOnly bool
	File     string
	FileURL  string // page of the file, "" for none
}

// funnelRow is a step with its numbers.
type funnelRow struct {
	Path, Words string
	Runs        string
	Share       int // of the runs that came to the busiest step, in percent
	Here        string
	HerePath    string // the runs at the step
	// Sends is true for a step that sends, with the numbers after it.
	Sends                            bool
	Sent, Filtered, Failed, Deferred string
}

// exitRow is a number of runs that ended in one way.
type exitRow struct{ Words, Count string }

// showOverview shows the state, the journey and the numbers of a workflow.
func (h *Room) showOverview(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	found, ok := h.read(w, r, v)
	if !ok {
		return
	}
	data, err := h.overviewOf(r, v, found)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	h.show(w, r, v, frame.Screen{Page: "overview", Title: data.Name, Head: headOf(found, data.about), Data: data})
}

func (h *Room) overviewOf(r *http.Request, v people.Visitor, w workflows.Workflow) (overviewPage, error) {
	top, err := h.aboutOf(r, v, w, tabOverview)
	if err != nil {
		return overviewPage{}, err
	}
	shown, err := h.shownVersion(r, v, w, currentOrDraft(w))
	if err != nil {
		return overviewPage{}, err
	}
	data := overviewPage{
		about: top, Reason: frame.PlainName(w.InvalidReason), Approval: w.RequireApproval, Version: shown.Number, Path: pathOf(w, ""), Backfill: w.Backfill != nil,
		HeldPath: pathOf(w, tabHeld), ReadOnly: isReadOnly(w), File: frame.PlainName(w.SourcePath), FileURL: w.SourceURL,
	}
	for _, t := range top.Tabs {
		if t.Path == data.HeldPath {
			data.Held = t.Count
		}
	}
	if w.DraftVersion > 0 && w.CurrentVersion > 0 {
		data.Draft, data.DraftPath = w.DraftVersion, comparePath(w, w.CurrentVersion, w.DraftVersion)
	}
	if w.ActivatedAt != nil {
		data.Active = h.When(*w.ActivatedAt)
	}
	if data.Versions, err = h.versionOptions(r, v, w, shown.Number); err != nil {
		return data, err
	}
	return data, h.addNumbers(r, v, w, shown, &data)
}

// isReadOnly reports whether a repository defines the source.
func isReadOnly(w workflows.Workflow) bool { return w.Origin == workflows.FromGit }

// mayEdit reports whether the visitor may write the source of a workflow here.
func mayEdit(v people.Visitor, w workflows.Workflow) bool {
	return v.Member.Has(members.MayManageCampaigns) && !isReadOnly(w) && w.Status != workflows.Archived
}

// addNumbers adds the journey with the numbers of its runs.
func (h *Room) addNumbers(r *http.Request, v people.Visitor, w workflows.Workflow, shown workflows.Version, data *overviewPage) error {
	review, err := h.Editor.Review(r.Context(), v.Org.ID, shown.Source)
	if err != nil {
		return err
	}
	here, err := h.Editor.Runs.At(r.Context(), v.Org.ID, w.ID, shown.Number)
	if err != nil {
		return err
	}
	tree := wording.TreeOf(shown.Source)
	data.Journey = wording.JourneyOf(tree, review.Checked, diagram.Options{Counts: here, CountLabel: "runs are here"})
	if w.CurrentVersion == 0 {
		return nil
	}
	counts, err := h.Editor.Runs.Counts(r.Context(), v.Org.ID, []string{w.ID})
	if err != nil {
		return err
	}
	for _, s := range wording.RunOrder {
		data.Counts = append(data.Counts, tab{Path: pathOf(w, tabRuns) + "?status=" + string(s), Name: wording.RunStatuses[s].Name, Count: count(counts[w.ID][s])})
	}
	if err := h.addFunnel(r, v, w, shown.Number, here, wording.OfSteps(tree), data); err != nil {
		return err
	}
	exits, err := h.Editor.Runs.Exits(r.Context(), v.Org.ID, w.ID, shown.Number)
	if err != nil {
		return err
	}
	for _, e := range exits {
		data.Exits = append(data.Exits, exitRow{wording.ExitWords(e.Type, e.Kind, e.Name), count(e.Count)})
	}
	days, err := h.enteredDays(r, v, w, chartDays)
	if err == nil && wording.Sum(days) > 0 {
		panel := enteredChart("Entered per day", frame.DayStart(h.Clock()), days)
		data.Entered = &panel
	}
	return err
}

// chartDays is the number of days for which the overview shows who entered.
const chartDays = 30

// enteredChart returns a chart with one bar for each day until the last one.
func enteredChart(title string, last time.Time, numbers []float64) chart.Panel {
	days := make([]time.Time, len(numbers))
	for i := range days {
		days[i] = last.AddDate(0, 0, i+1-len(numbers))
	}
	return chart.Plan{
		ID: "entered", Title: title, Draw: chart.StackedBars, Write: frame.Count, Axis: frame.Count, Days: days,
		Series:  []chart.Series{{Name: "Entered", Values: numbers}},
		Summary: frame.Quantity(int64(wording.Sum(numbers)), "contact", "contacts") + " entered in " + strconv.Itoa(len(days)) + " days, over all versions. Days are in UTC.",
	}.Panel()
}

// addFunnel adds the steps of the version with their numbers. A draft has none.
func (h *Room) addFunnel(r *http.Request, v people.Visitor, w workflows.Workflow, version int, here map[string]int, words map[string]string, data *overviewPage) error {
	if version > w.CurrentVersion {
		return nil
	}
	funnel, err := h.Editor.Funnel(r.Context(), v.Org.ID, w, version)
	if err != nil {
		return err
	}
	sends := map[string]workflows.SendRecord{}
	for _, s := range funnel.Sends {
		sends[s.NodePath] = s
	}
	most := 1
	for _, n := range funnel.Nodes {
		most = max(most, n.Runs)
	}
	const all = 100
	for _, n := range funnel.Nodes {
		row := funnelRow{Path: n.NodePath, Words: words[n.NodePath], Runs: count(n.Runs), Share: all * n.Runs / most}
		if here[n.NodePath] > 0 {
			row.Here = count(here[n.NodePath])
			row.HerePath = frame.Address(pathOf(w, tabRuns), frame.Parameters{"status": string(engine.Active), "step": n.NodePath})
		}
		if s, known := sends[n.NodePath]; known {
			row.Sends, row.Sent, row.Filtered, row.Failed, row.Deferred = true, count(s.Sent), count(s.Filtered), count(s.Failed), count(s.Deferred)
		}
		data.Steps = append(data.Steps, row)
	}
	return nil
}
