package domainauth

import (
	"context"
	"errors"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth/comparison"
	"github.com/mailhelm/mailhelm/core/domainauth/figures"
)

// ComparisonIn names an event to compare around.
type ComparisonIn struct {
	DomainIn
	AnnotationID string `json:"annotation_id" jsonschema:"minLength=1,maxLength=128" jsonschema_description:"Member id of an event of the timeline."`
	WindowDays   int    `json:"window_days,omitempty" jsonschema:"minimum=7,maximum=30,default=14" jsonschema_description:"Days of each side."`
}

// Comparison has the figures before and after one event.
type Comparison struct {
	AnnotationID        string       `json:"annotation_id" voice:"ours"`
	Before              Side         `json:"before"`
	After               Side         `json:"after" jsonschema_description:"Begins two days after the event, because receivers keep the old record for a while."`
	Delta               *Delta       `json:"delta" jsonschema:"nullable" jsonschema_description:"after less before; null if the sides must not be compared."`
	NoDeltaReason       *string      `json:"no_delta_reason" jsonschema:"nullable,enum=insufficient_volume,enum=attribution_declined,enum=after_incomplete"`
	AfterIncomplete     bool         `json:"after_incomplete" jsonschema_description:"Whether days of after are not over yet."`
	AttributionDeclined bool         `json:"attribution_declined" jsonschema_description:"Whether another change happened in the window, so that a difference could be of either."`
	Neighbours          []Event      `json:"neighbours" jsonschema_description:"These other changes."`
	Truncations         []Truncation `json:"truncations" jsonschema_description:"Days whose messages are not counted."`
}

// Side has the figures of the days before or after an event.
type Side struct {
	From     time.Time `json:"from"`
	To       time.Time `json:"to" jsonschema_description:"End; this day is not part of the side."`
	Days     int       `json:"days" jsonschema_description:"Days that are counted."`
	Total    int64     `json:"total"`
	PassRate *float64  `json:"pass_rate" jsonschema:"nullable"`
	Failing  int64     `json:"failing"`
	Groups   []Group   `json:"groups" jsonschema_description:"The same by classification and decision of the sources, as they are now."`
}

// Group has the messages of the sources with one classification and decision.
type Group struct {
	Classification figures.Classification `json:"classification" jsonschema:"enum=authorised,enum=forwarder,enum=unknown,enum=spoofing,enum=own"`
	Decision       figures.Decision       `json:"decision" jsonschema:"enum=confirmed,enum=rejected,enum=unreviewed"`
	Total          int64                  `json:"total"`
	Failing        int64                  `json:"failing"`
}

// Delta is the difference of two sides.
type Delta struct {
	PassRate       float64 `json:"pass_rate"`
	FailingPerDay  float64 `json:"failing_per_day"`
	MessagesPerDay float64 `json:"messages_per_day"`
}

// Truncation has consecutive days that are not counted, and why.
type Truncation struct {
	Reason comparison.Reason `json:"reason" jsonschema:"enum=present,enum=retention,enum=earlier_change,enum=no_reports"`
	From   time.Time         `json:"from"`
	To     time.Time         `json:"to" jsonschema_description:"End; this day is not part of it."`
	Days   int               `json:"days"`
}

func (a *DomainAuth) comparisonGet() core.Operation {
	return core.Declare(core.Op[ComparisonIn, Comparison]{
		Name:    "domain_auth_comparison_get",
		Title:   "Compare the figures before and after an event",
		Purpose: "Compares the reported mail before and after one event of the timeline. Returns both sides, and their difference if the figures allow one. It states no cause.",
		Example: `{"domain": "example.com", "annotation_id": "0198c5a0-0000-7000-8000-00000000de01"}`,
		Effect:  core.Reads,
		Cost:    core.Heavy,
		Scopes:  []core.Scope{core.DomainAuthView},
		Fails:   []core.Code{core.CodeNotFound},
		Do:      a.compare,
	})
}

func (a *DomainAuth) compare(ctx context.Context, c *core.Call, in ComparisonIn) (Comparison, error) {
	d, err := a.domainOf(ctx, c, in.Domain)
	if err != nil {
		return Comparison{}, err
	}
	org := c.Principal.Org.ID
	event, err := a.Timeline.Event(ctx, org, d.ID, in.AnnotationID)
	if err != nil {
		return Comparison{}, err
	}
	input := comparison.Input{Now: c.Now, Change: event.plain(), WindowDays: in.WindowDays, KeptFrom: keptFrom(c.Now)}
	if err := a.fill(ctx, org, d.ID, &input); err != nil {
		return Comparison{}, err
	}
	result, err := comparison.Compare(input)
	if errors.Is(err, comparison.ErrWindowDays) {
		return Comparison{}, core.Invalid("window_days", "must be between 7 and 30")
	}
	if err != nil {
		return Comparison{}, err
	}
	return a.comparisonOf(ctx, org, d.ID, event.ID, result)
}

// fill reads the figures for a comparison.
func (a *DomainAuth) fill(ctx context.Context, orgID, domainID string, in *comparison.Input) error {
	days := around(in.Change.OccurredAt)
	var err error
	if in.Rows, err = a.Figures.Rows(ctx, orgID, domainID, days); err != nil {
		return err
	}
	coverage, err := a.Figures.Coverage(ctx, orgID, domainID, days)
	if err != nil {
		return err
	}
	for _, c := range coverage {
		in.Covered = append(in.Covered, c.Day)
	}
	if in.Events, err = a.Timeline.Changes(ctx, orgID, domainID); err != nil {
		return err
	}
	registry, err := a.Sources.Registry(ctx, orgID, domainID)
	for _, s := range registry {
		in.Sources = append(in.Sources, s.Source)
	}
	return err
}

// comparisonOf returns a result as an answer.
func (a *DomainAuth) comparisonOf(ctx context.Context, orgID, domainID, id string, r comparison.Result) (Comparison, error) {
	c := Comparison{
		AnnotationID: id, Before: sideOf(r.Before), After: sideOf(r.After), NoDeltaReason: optional(string(r.NoDelta)),
		AfterIncomplete: r.AfterIncomplete, AttributionDeclined: r.AttributionDeclined, Neighbours: []Event{}, Truncations: []Truncation{},
	}
	if r.Delta != nil {
		c.Delta = &Delta{PassRate: r.Delta.PassRate, FailingPerDay: r.Delta.FailingPerDay, MessagesPerDay: r.Delta.MessagesPerDay}
	}
	for _, n := range r.Neighbours {
		event, err := a.Timeline.Event(ctx, orgID, domainID, n.ID)
		if core.IsNotFound(err) { // computed again in between
			continue
		}
		if err != nil {
			return Comparison{}, err
		}
		c.Neighbours = append(c.Neighbours, event)
	}
	for _, t := range r.Truncations {
		c.Truncations = append(c.Truncations, Truncation{Reason: t.Reason, From: t.From, To: t.To, Days: t.Days()})
	}
	return c, nil
}

func sideOf(s comparison.Side) Side {
	side := Side{From: s.From, To: s.To, Days: s.Days, Total: s.Total, PassRate: number(s.PassRate()), Failing: s.Failing, Groups: []Group{}}
	for _, g := range s.Groups {
		side.Groups = append(side.Groups, Group{Classification: g.Classification, Decision: g.Decision, Total: g.Total, Failing: g.Failing})
	}
	return side
}
