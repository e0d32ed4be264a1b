package workflows

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// ActivationPreview says what an activation would do. A caller confirms exactly this.
type ActivationPreview struct {
	WorkflowID  string `json:"workflow_id"`
	Name        string `json:"name"`
	Version     int    `json:"version"`
	ContentHash string `json:"content_hash"`
	// Trigger is written as in the source.
	Trigger string `json:"trigger"`
	// WouldEnroll is the number of contacts that enter soon after the activation. EntersExisting
	// is false if only contacts enter for whom the trigger happens afterwards.
	WouldEnroll    int  `json:"would_enroll"`
	EntersExisting bool `json:"enrolls_existing"`
	// PerDay is the number of contacts that would have entered on an average day of the last
	// Days days.
	PerDay float64       `json:"future_per_day"`
	Days   int           `json:"days"`
	Sends  []PlannedSend `json:"sends"`
	// Exits are the names of the named exits.
	Exits           []string `json:"exits"`
	RequireApproval bool     `json:"require_send_approval"`
	Warnings        []string `json:"warnings"`
	// Sampled is true if the numbers are projections from a part of the contacts.
	Sampled bool `json:"sampled"`
	// Replaces is the version that is current now, 0 for none. Its runs go on with it.
	Replaces int `json:"replaces_version"`
}

// PlannedSend is a send step that contacts of the workflow meet.
type PlannedSend struct {
	NodePath      string  `json:"node_path"`
	Template      string  `json:"template"`
	Topic         *string `json:"topic"`
	Transactional bool    `json:"transactional"`
	// PerDay is the number of messages on an average day of the last days.
	PerDay float64 `json:"per_day"`
}

// estimateDays is the number of past days from which an activation preview projects.
const estimateDays = 28

// ActivationPreview returns what an activation would do now. It fails as [Editor.Activate] does.
func (e *Editor) ActivationPreview(ctx context.Context, orgID, id string, a Activation) (ActivationPreview, error) {
	w, err := e.Store.Workflow(ctx, orgID, id)
	if err != nil {
		return ActivationPreview{}, err
	}
	return e.previewOf(ctx, orgID, w, a)
}

func (e *Editor) previewOf(ctx context.Context, orgID string, w Workflow, a Activation) (ActivationPreview, error) {
	plan, err := e.activatable(ctx, orgID, w)
	if err != nil {
		return ActivationPreview{}, err
	}
	estimate, err := e.project(ctx, orgID, w.ID, plan)
	if err != nil {
		return ActivationPreview{}, err
	}
	settings := plan.checked.Tree().Settings
	p := ActivationPreview{
		WorkflowID: w.ID, Name: plan.checked.Tree().Name, Version: plan.draft.Number, ContentHash: plan.draft.ContentHash, Trigger: settings.Trigger.String(),
		PerDay: rounded(estimate.PerDay), Days: estimateDays, Sends: sendsOf(plan.checked, estimate), Exits: exitsOf(settings), RequireApproval: a.RequireApproval,
		Sampled: estimate.Sampled, Replaces: w.CurrentVersion, Warnings: []string{},
	}
	p.Warnings = activationWarnings(plan, p)
	existing, _ := ExistingOf(settings, e.Clock())
	if p.EntersExisting = existing && plan.starts; !p.EntersExisting {
		return p, nil
	}
	entering, err := e.Estimates.Estimate(ctx, orgID, plan.checked, w.ID, 0, e.Clock())
	p.WouldEnroll = entering.EnterNow
	return p, err
}

// projection names what was estimated.
type projection struct{ orgID, workflowID, contentHash string }

const (
	// maxProjections is the maximum number of estimates that are kept.
	maxProjections = 200
	// projectionLife is how long an estimate is kept: for as long as a caller can confirm it.
	projectionLife = 10 * time.Minute
)

// project returns the estimate of a draft by the last days. It is kept for some minutes: it
// takes long, and must be the same when the caller confirms it.
func (e *Editor) project(ctx context.Context, orgID, workflowID string, plan plannedActivation) (Estimate, error) {
	key, now := projection{orgID, workflowID, plan.draft.ContentHash}, e.Clock()
	if kept, found := e.projections.Get(key, now); found {
		return kept, nil
	}
	epoch := e.projections.Epoch()
	estimate, err := e.Estimates.Estimate(ctx, orgID, plan.checked, workflowID, estimateDays, now)
	if err == nil {
		e.projections.Put(key, estimate, now.Add(projectionLife), epoch)
	}
	return estimate, err
}

// rounded returns a number of things a day with two significant digits, so that it does not
// change with every event.
func rounded(perDay float64) float64 {
	if perDay <= 0 {
		return 0
	}
	digits := math.Pow(10, math.Floor(math.Log10(perDay))-1)
	return math.Round(perDay/digits) * digits
}

func sendsOf(checked *language.Checked, estimate Estimate) []PlannedSend {
	perDay := map[string]float64{}
	for _, s := range estimate.Sends {
		perDay[s.Path] = s.PerDay
	}
	sends := []PlannedSend{}
	for located := range checked.Tree().All() {
		if s, ok := located.Step.(*language.Send); ok {
			sends = append(sends, PlannedSend{
				NodePath: located.Path, Template: s.Template, Topic: orNull(s.Topic), Transactional: s.Transactional, PerDay: rounded(perDay[located.Path]),
			})
		}
	}
	return sends
}

func exitsOf(s language.Settings) []string {
	names := []string{}
	for _, exit := range s.Exits {
		names = append(names, exit.Name)
	}
	return names
}

// activationWarnings returns what a person should know before the activation, as sentences.
func activationWarnings(plan plannedActivation, p ActivationPreview) []string {
	warnings := []string{}
	for _, w := range plan.checked.Warnings() {
		warnings = append(warnings, fmt.Sprintf("Line %d: %s.", w.Line, strings.TrimSuffix(w.Message, ".")))
	}
	var bare, transactional []string
	for _, s := range p.Sends {
		switch {
		case s.Transactional && !slices.Contains(transactional, s.Template):
			transactional = append(transactional, s.Template)
		case !s.Transactional && s.Topic == nil && !slices.Contains(bare, s.Template):
			bare = append(bare, s.Template)
		}
	}
	if len(bare) > 0 {
		warnings = append(warnings, "Sent without a topic, so that the unsubscribe link ends all mail: "+core.QuotedList(bare)+".")
	}
	if len(transactional) > 0 {
		warnings = append(warnings, "Sent also to contacts that opted out of all mail, because it is transactional: "+core.QuotedList(transactional)+".")
	}
	return warnings
}

// Sentence says in a few sentences what the activation would do. Agents and people see the
// same text.
func (p ActivationPreview) Sentence() string {
	var s strings.Builder
	fmt.Fprintf(&s, "Activate version %d of the workflow %s, which contacts enter on %s.", p.Version, core.Quote(p.Name), core.Quotable(p.Trigger, maxTrigger))
	about := ""
	if p.Sampled {
		about = "about "
	}
	if p.EntersExisting {
		fmt.Fprintf(&s, " %s%d existing contacts enter at once.", capital(about), p.WouldEnroll)
	} else {
		s.WriteString(" No existing contact enters at once.")
	}
	fmt.Fprintf(&s, " By the last %d days, %s%s contacts enter a day.", p.Days, about, number(p.PerDay))
	switch templates := p.templates(); len(templates) {
	case 0:
		s.WriteString(" It sends no message.")
	case 1:
		fmt.Fprintf(&s, " It sends the template %s.", templates[0])
	default:
		fmt.Fprintf(&s, " It sends the templates %s.", core.ShortList(templates))
	}
	if p.Replaces > 0 {
		fmt.Fprintf(&s, " It replaces version %d, with which the runs of before go on.", p.Replaces)
	}
	switch {
	case len(p.Sends) == 0:
	case p.RequireApproval:
		s.WriteString(" Each message waits until a person approves it.")
	default:
		s.WriteString(" The messages are sent without the approval of a person.")
	}
	return s.String()
}

// templates returns the quoted name of each template that a step sends, in the order of the
// first steps, with the number of its steps if there are several.
func (p ActivationPreview) templates() []string {
	var names []string
	steps := map[string]int{}
	for _, send := range p.Sends {
		if steps[send.Template]++; steps[send.Template] == 1 {
			names = append(names, send.Template)
		}
	}
	for i, name := range names {
		names[i] = core.Quote(name)
		if n := steps[name]; n > 1 {
			names[i] += fmt.Sprintf(" (%d steps)", n)
		}
	}
	return names
}

// maxTrigger is the length to which the sentence cuts a trigger.
const maxTrigger = 200

// capital returns the beginning of a sentence.
func capital(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// number returns a number without superfluous digits.
func number(n float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", n), ".0") }

// orNull returns nil for the zero value.
func orNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}
