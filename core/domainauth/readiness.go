package domainauth

import (
	"context"
	"errors"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/domainauth/readiness"
	"github.com/mailhelm/mailhelm/core/domainauth/timeline"
	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
)

// Readiness says whether the policy of a domain may become stricter.
type Readiness struct {
	Domain                      string           `json:"domain" voice:"untrusted"`
	CurrentPolicy               *string          `json:"current_policy" jsonschema:"nullable,enum=none,enum=quarantine,enum=reject" jsonschema_description:"The weaker of the policies for the domain and its subdomains; null without a record."`
	TargetPolicy                *string          `json:"target_policy" jsonschema:"nullable,enum=none,enum=quarantine,enum=reject" jsonschema_description:"The next stricter policy; null at the last one."`
	Ready                       bool             `json:"ready" jsonschema_description:"Whether the target may be published."`
	ReadyPendingAcknowledgement bool             `json:"ready_pending_acknowledgement" jsonschema_description:"Whether only a person's acknowledgement of the mail that relays break is missing."`
	Criteria                    []Criterion      `json:"criteria"`
	RecordToPublish             *string          `json:"record_to_publish" voice:"untrusted" jsonschema:"nullable" jsonschema_description:"Text of the TXT record to publish at _dmarc and the domain; null until ready. Mailhelm never publishes it."`
	RecordDiff                  []TagChange      `json:"record_diff" jsonschema_description:"Its differences from the published record; empty until ready."`
	TTLAdvice                   int              `json:"ttl_advice" jsonschema_description:"Recommended time to live of the record, in seconds."`
	Impact                      Impact           `json:"impact"`
	Acknowledgement             *Acknowledgement `json:"acknowledgement" jsonschema:"nullable" jsonschema_description:"The one that is valid for this step."`
	MeasuredAt                  *time.Time       `json:"measured_at" jsonschema:"nullable" jsonschema_description:"When DNS last answered; null before the first measurement."`
}

// Criterion is a measured condition of a step.
type Criterion struct {
	Name      readiness.Name `json:"name" jsonschema:"enum=coverage_days,enum=message_volume,enum=distinct_providers,enum=pass_rate,enum=no_unaligned_sending,enum=acceptable_impact,enum=time_at_current_policy,enum=no_new_unknown_sources"`
	Blocking  bool           `json:"blocking"`
	Met       bool           `json:"met"`
	Value     *float64       `json:"value" jsonschema:"nullable" jsonschema_description:"Measured value; null if there was nothing to measure."`
	Threshold *float64       `json:"threshold" jsonschema:"nullable" jsonschema_description:"Limit of the value; null for a value without one."`
}

// TagChange is a difference of one tag.
type TagChange struct {
	Tag  string  `json:"tag" voice:"untrusted"`
	From *string `json:"from" voice:"untrusted" jsonschema:"nullable" jsonschema_description:"Published value; null if the tag is new."`
	To   *string `json:"to" voice:"untrusted" jsonschema:"nullable" jsonschema_description:"New value; null if the tag is removed."`
}

// Impact is the failing mail that a stricter policy concerns, in the 30 complete days before
// today.
type Impact struct {
	Completeness          *float64       `json:"completeness" jsonschema:"nullable" jsonschema_description:"Share of these days that reports cover."`
	AlignmentBreadth      *float64       `json:"alignment_breadth" jsonschema:"nullable" jsonschema_description:"Share of the organization's senders without a failing message of their own."`
	FailingMessagesPerDay *float64       `json:"failing_messages_per_day" jsonschema:"nullable"`
	Sources               []SourceImpact `json:"sources" jsonschema_description:"Sources with failing messages that are not rejected, those with most first."`
}

// SourceImpact is the failing mail of one source.
type SourceImpact struct {
	ID                  string                 `json:"id" jsonschema:"format=uuid"`
	Name                string                 `json:"name" voice:"untrusted"`
	Classification      figures.Classification `json:"classification" jsonschema:"enum=authorised,enum=forwarder,enum=unknown,enum=spoofing,enum=own"`
	Decision            figures.Decision       `json:"decision" jsonschema:"enum=confirmed,enum=rejected,enum=unreviewed"`
	FailingMessages     int64                  `json:"failing_messages"`
	RelayBrokenMessages int64                  `json:"relay_broken_messages" jsonschema_description:"Those that a forwarder broke. The organization cannot repair them."`
	Blocks              bool                   `json:"blocks" jsonschema_description:"Whether the source prevents the step alone, because it is unreviewed and has 100 failing messages or more."`
}

// Acknowledgement is a person's acceptance of what one step of the policy costs.
type Acknowledgement struct {
	AcknowledgedAt time.Time `json:"acknowledged_at"`
	TargetPolicy   string    `json:"target_policy" jsonschema:"enum=none,enum=quarantine,enum=reject"`
	Frozen         Cost      `json:"frozen" jsonschema_description:"The figures at the acceptance. They do not change."`
}

// Cost is the mail that a step loses because relays broke it.
type Cost struct {
	From     time.Time      `json:"from"`
	To       time.Time      `json:"to" jsonschema_description:"End of the window; this day is not part of it."`
	Messages int64          `json:"messages"`
	PerDay   *float64       `json:"per_day" jsonschema:"nullable"`
	Sources  []SourceImpact `json:"sources"`
}

func (a *DomainAuth) readinessGet() core.Operation {
	return core.Declare(core.Op[DomainIn, Readiness]{
		Name:    "domain_auth_readiness_get",
		Title:   "Read whether the policy may become stricter",
		Purpose: "Measures whether the DMARC policy of a domain may go up by one step. Returns each criterion with its value, the failing mail that the step concerns, and the record to publish once it is ready. It publishes nothing.",
		Example: `{"domain": "example.com"}`,
		Effect:  core.Reads,
		Cost:    core.Heavy,
		Scopes:  []core.Scope{core.DomainAuthView},
		Fails:   []core.Code{core.CodeNotFound},
		Do: func(ctx context.Context, c *core.Call, in DomainIn) (Readiness, error) {
			d, err := a.domainOf(ctx, c, in.Domain)
			if err != nil {
				return Readiness{}, err
			}
			assessed, err := a.assess(ctx, c.Principal.Org.ID, d, c.Now)
			if err != nil {
				return Readiness{}, err
			}
			names, err := a.Sources.Names(ctx, c.Principal.Org.ID, d.ID)
			return readinessOf(d, assessed, names), err
		},
	})
}

// assess measures a domain.
func (a *DomainAuth) assess(ctx context.Context, orgID string, d Domain, now time.Time) (readiness.Assessment, error) {
	f := readiness.Figures{Now: now, ReportAddress: a.address(d), Acknowledgement: d.Acknowledgement, Published: dmarc.Discovery{Author: d.Domain}}
	if d.Snapshot != nil {
		f.Published = d.Snapshot.Discovery
	}
	days := window(now)
	var err error
	if f.Rows, err = a.Figures.Rows(ctx, orgID, d.ID, days); err != nil {
		return readiness.Assessment{}, err
	}
	if f.Coverage, err = a.Figures.Coverage(ctx, orgID, d.ID, days); err != nil {
		return readiness.Assessment{}, err
	}
	if f.Sources, err = a.Sources.Registry(ctx, orgID, d.ID); err != nil {
		return readiness.Assessment{}, err
	}
	if f.PolicySince, err = a.policySince(ctx, orgID, d, f.Published); err != nil {
		return readiness.Assessment{}, err
	}
	return readiness.Assess(f), nil
}

// policySince returns since when the present policy is published, zero if that is unknown.
func (a *DomainAuth) policySince(ctx context.Context, orgID string, d Domain, published dmarc.Discovery) (time.Time, error) {
	if published.Domain == "" {
		return time.Time{}, nil
	}
	changes, err := a.Timeline.Changes(ctx, orgID, d.ID)
	if err != nil {
		return time.Time{}, err
	}
	stated, err := a.Timeline.Stated(ctx, orgID, d.ID, "_dmarc."+published.Domain)
	if err != nil {
		return time.Time{}, err
	}
	first := time.Time{}
	for _, s := range stated {
		if readiness.SameHandling(published, s.Text) && (first.IsZero() || s.Seen.Before(first)) {
			first = s.Seen
		}
	}
	return readiness.PolicySince(published, changes, first), nil
}

func readinessOf(d Domain, a readiness.Assessment, names map[string]string) Readiness {
	r := Readiness{
		Domain: d.Domain, CurrentPolicy: word(a.Current), TargetPolicy: word(a.Target), Ready: a.Ready, ReadyPendingAcknowledgement: a.PendingAcknowledgement,
		Criteria: []Criterion{}, RecordDiff: []TagChange{}, TTLAdvice: int(a.TTL / time.Second), MeasuredAt: d.MeasuredAt,
		Impact: Impact{
			Completeness: number(a.Impact.Completeness), AlignmentBreadth: number(a.Impact.AlignmentBreadth),
			FailingMessagesPerDay: number(a.Impact.FailingMessagesPerDay), Sources: impactsOf(a.Impact.Sources, names),
		},
	}
	for _, c := range a.Criteria {
		r.Criteria = append(r.Criteria, Criterion{Name: c.Name, Blocking: c.Blocking, Met: c.Met, Value: number(c.Value), Threshold: number(c.Threshold)})
	}
	if a.Record != "" {
		r.RecordToPublish = &a.Record
	}
	for _, change := range a.Changes {
		r.RecordDiff = append(r.RecordDiff, TagChange(change))
	}
	if a.Acknowledgement != nil {
		known := acknowledgementOf(*a.Acknowledgement, names)
		r.Acknowledgement = &known
	}
	return r
}

func impactsOf(all []readiness.SourceImpact, names map[string]string) []SourceImpact {
	impacts := []SourceImpact{}
	for _, s := range all {
		impacts = append(impacts, SourceImpact{
			ID: s.ID, Name: names[s.ID], Classification: s.Classification, Decision: s.Decision,
			FailingMessages: s.Failing, RelayBrokenMessages: s.RelayBroken, Blocks: s.Blocks,
		})
	}
	return impacts
}

func acknowledgementOf(a readiness.Acknowledgement, names map[string]string) Acknowledgement {
	return Acknowledgement{
		AcknowledgedAt: a.At, TargetPolicy: string(a.Target),
		Frozen: Cost{From: a.Frozen.From, To: a.Frozen.To, Messages: a.Frozen.Messages, PerDay: number(a.Frozen.PerDay), Sources: impactsOf(a.Frozen.Sources, names)},
	}
}

// AcknowledgeIn has the step whose cost a person accepts.
type AcknowledgeIn struct {
	DomainIn
	TargetPolicy dmarc.Policy `json:"target_policy" jsonschema:"enum=none,enum=quarantine,enum=reject" jsonschema_description:"The next policy, as readiness names it."`
	Note         string       `json:"note,omitempty" jsonschema:"maxLength=2000" jsonschema_description:"Text for the timeline."`
}

func (a *DomainAuth) readinessAcknowledge() core.Operation {
	return core.Declare(core.Op[AcknowledgeIn, Acknowledgement]{
		Name:    "domain_auth_readiness_acknowledge",
		Title:   "Accept what the next policy costs",
		Purpose: "Stores that a person accepts that forwarded mail which relays broke will be lost under the next policy. Call it only when readiness has ready_pending_acknowledgement. Returns the figures as accepted, which stay valid for this one step. It publishes nothing and changes no policy. It needs a person: a token of an application that acts for itself is refused.",
		Example: `{"domain": "example.com", "target_policy": "quarantine"}`,
		Effect:  core.Writes,
		Scopes:  []core.Scope{core.DomainAuthManage},
		Fails:   []core.Code{core.CodeNotFound, core.CodeConflict},
		Do:      a.acknowledge,
	})
}

func (a *DomainAuth) acknowledge(ctx context.Context, c *core.Call, in AcknowledgeIn) (Acknowledgement, error) {
	who, err := personOf(c.Principal)
	if err != nil {
		return Acknowledgement{}, err
	}
	d, err := a.domainOf(ctx, c, in.Domain)
	if err != nil {
		return Acknowledgement{}, err
	}
	org := c.Principal.Org.ID
	assessed, err := a.assess(ctx, org, d, c.Now)
	if err != nil {
		return Acknowledgement{}, err
	}
	accepted, err := assessed.Acknowledge(in.TargetPolicy, c.Now)
	switch {
	case errors.Is(err, readiness.ErrNothingToAcknowledge):
		return Acknowledgement{}, core.Conflict("There is nothing to acknowledge for "+core.Quote(d.Domain)+".", "Read domain_auth_readiness_get: an acknowledgement is possible only while ready_pending_acknowledgement is true.")
	case errors.Is(err, readiness.ErrOtherTarget):
		return Acknowledgement{}, core.Invalid("target_policy", "is not the next policy of the domain, which is "+string(assessed.Target))
	case err != nil:
		return Acknowledgement{}, err
	}
	c.SetSubject(d.ID)
	if err := a.Store.SaveAcknowledgement(ctx, org, d.ID, accepted); err != nil {
		return Acknowledgement{}, err
	}
	names, err := a.Sources.Names(ctx, org, d.ID)
	if err != nil {
		return Acknowledgement{}, err
	}
	return acknowledgementOf(accepted, names), a.Timeline.InsertEvent(ctx, org, d.ID, Event{
		ID: core.NewID(), Kind: timeline.Acknowledgement, OccurredAt: c.Now, ObservedAt: c.Now,
		Title: "The cost of the policy " + string(in.TargetPolicy) + " was accepted", Note: optional(in.Note),
	}, who)
}

// optional returns nil for "".
func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
