package domainauth

import (
	"net/http"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// verdict is the answer to the question of a page: a heading with a sentence. Class is its
// color.
type verdict struct{ Class, Heading, Text string }

// impactRow is a source whose failing mail a stricter policy concerns.
type impactRow struct {
	Path, Name     string
	Kind, Decision mark
	Failing, Relay string
	Blocks         bool
}

// acceptance is the cost that a person accepted, or may accept.
type acceptance struct {
	Policy   string
	Messages string
	PerDay   string
	Sources  []impactRow
	At       frame.When
}

// readinessPage is the data of the page about the next policy.
type readinessPage struct {
	domainHead
	Verdict    verdict
	Conditions []condition
	Record     *recordToPublish
	TTL        int
	Impact     []impactRow
	PerDay     string
	Breadth    string
	Accept     *acceptForm
	Accepted   *acceptance
	Measured   remeasuring
}

// acceptForm is the form with which a person accepts the cost of a step. Form is nil for
// visitors who may not.
type acceptForm struct {
	acceptance
	Form   *frame.Form
	Target string
	Note   string
}

// recordToPublish is a record to copy with its differences from the published one.
type recordToPublish struct {
	Name, Value string
	Changes     []tagChange
}

// tagChange is a difference of one tag. An empty text stands for an absent tag.
type tagChange struct{ Tag, From, To string }

// showReadiness shows whether the policy may become stricter.
func (h readinessPages) showReadiness(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	h.readinessPage(w, r, v, "", nil)
}

// readinessPage writes the page. note is the text of the form, and refused its error or nil.
func (h readinessPages) readinessPage(w http.ResponseWriter, r *http.Request, v people.Visitor, note string, refused error) {
	problem, status := labels.Correctable(refused)
	if refused != nil && problem == "" {
		h.Fail(w, r, v, refused)
		return
	}
	p, ok := h.postureOf(w, r, v)
	if !ok {
		return
	}
	var measured domainauth.Readiness
	if err := h.Read(r, v, "domain_auth_readiness_get", named(r), &measured); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data := readinessPage{
		domainHead: newDomainHead(p.Posture, tabPolicy), Verdict: verdictOf(measured), TTL: measured.TTLAdvice,
		PerDay: rate(measured.Impact.FailingMessagesPerDay), Breadth: percentage(measured.Impact.AlignmentBreadth),
	}
	data.Conditions = conditionsOf(measured, data.Path)
	data.Impact = narrowed(impactRows(measured.Impact.Sources, data.Path), measured.Impact.Sources, data.Path)
	if measured.RecordToPublish != nil {
		data.Record = &recordToPublish{Name: "_dmarc." + p.Domain, Value: plain(measured.RecordToPublish), Changes: changesOf(measured.RecordDiff)}
	}
	if a := measured.Acknowledgement; a != nil {
		data.Accepted = &acceptance{
			Policy: a.TargetPolicy, Messages: frame.Quantity(a.Frozen.Messages, "message", "messages"), PerDay: rate(a.Frozen.PerDay),
			Sources: impactRows(a.Frozen.Sources, data.Path), At: h.When(a.AcknowledgedAt),
		}
	}
	if measured.ReadyPendingAcknowledgement {
		data.Accept = h.acceptFormOf(v, data.Path, measured, note)
	}
	var err error
	if data.Measured, err = h.remeasuringOf(r, v, p.Domain); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	h.show(w, r, v, status, p.Domain, frame.Screen{Page: "readiness", Title: "Next policy", Problem: problem, Data: data, Head: frame.Head{
		Lead: "Whether the policy may become stricter without losing mail that you want.",
	}})
}

// acceptFormOf returns the form with which the visitor accepts the cost of the next step.
func (h readinessPages) acceptFormOf(v people.Visitor, path string, r domainauth.Readiness, note string) *acceptForm {
	accept := &acceptForm{Target: *r.TargetPolicy, Note: note}
	var messages int64
	for _, s := range r.Impact.Sources {
		if s.RelayBrokenMessages > 0 {
			messages += s.RelayBrokenMessages
			one := []domainauth.SourceImpact{s}
			accept.Sources = append(accept.Sources, narrowed(impactRows(one, path), one, path)...)
		}
	}
	accept.Messages = frame.Quantity(messages, "message", "messages")
	if mayManage(v) {
		form := frame.FormTo(v, path+tabPolicy+"/acknowledge")
		accept.Form = &form
	}
	return accept
}

// verdictOf says whether the next policy may be published.
func verdictOf(r domainauth.Readiness) verdict {
	if r.TargetPolicy == nil {
		return verdict{"delivered", "The policy is the strictest one", "There is no further step. Keep an eye on the sources: a service that you begin to use must sign for your domain."}
	}
	target := *r.TargetPolicy
	switch {
	case target == "none" && r.Ready:
		return verdict{"delivered", "Publish a first record", "The policy none asks for reports and changes nothing about the delivery of your mail."}
	case r.Ready:
		return verdict{"delivered", "Ready for " + target, "All conditions are met. The record to publish is below."}
	case r.ReadyPendingAcknowledgement:
		return verdict{"delayed", "Ready for " + target + ", except for one decision", "All conditions are met, but forwarded mail would be lost that you cannot repair. Accept this below to see the record."}
	}
	missing := int64(0)
	for _, c := range r.Criteria {
		if c.Blocking && !c.Met {
			missing++
		}
	}
	return verdict{"bounced", "Not ready for " + target, frame.Quantity(missing, "condition is", "conditions are") + " not met. The record is shown here once all are."}
}

// impactRows returns the rows of sources with failing mail.
func impactRows(all []domainauth.SourceImpact, path string) []impactRow {
	rows := make([]impactRow, 0, len(all))
	for _, s := range all {
		rows = append(rows, impactRow{
			Path: path + tabSources + "#source-" + s.ID, Name: frame.PlainName(s.Name), Kind: kindOf(s.Classification).Mark, Decision: markOfDecision(s.Decision),
			Failing: core.WithCommas(s.FailingMessages), Relay: core.WithCommas(s.RelayBrokenMessages), Blocks: s.Blocks,
		})
	}
	return rows
}

// narrowed returns rows whose links lead to the list of sources of the same kind and decision, in
// which a source with few messages is on the first page. The source may have others later.
func narrowed(rows []impactRow, all []domainauth.SourceImpact, path string) []impactRow {
	for i, s := range all {
		rows[i].Path = frame.Address(path+tabSources, frame.Parameters{"decision": string(s.Decision), "classification": string(s.Classification)}) + "#source-" + s.ID
	}
	return rows
}

// changesOf returns the differences between two records as texts.
func changesOf(diff []domainauth.TagChange) []tagChange {
	changes := make([]tagChange, 0, len(diff))
	for _, d := range diff {
		changes = append(changes, tagChange{core.OnlyVisible(d.Tag), plain(d.From), plain(d.To)})
	}
	return changes
}

// rate formats a number of messages a day.
func rate(v *float64) string {
	if v == nil {
		return "an unknown number of"
	}
	return amount(*v)
}

// acknowledge stores that the visitor accepts the cost of the next step.
func (h readinessPages) acknowledge(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	note := strings.TrimSpace(r.PostForm.Get("note"))
	arguments := named(r)
	arguments["target_policy"], arguments["note"] = r.PostForm.Get("target_policy"), note
	_, err := h.Do(r, v, frame.OperationCall{Operation: "domain_auth_readiness_acknowledge", Arguments: frame.SetArguments(arguments)}, nil)
	if core.IsConflict(err) { // the text of the operation is for programs
		err = core.Conflict("There is nothing to accept now.", "The figures changed, or another member accepted the cost before. The page shows how it is now.")
	}
	if err != nil {
		h.readinessPage(w, r, v, note, err)
		return
	}
	frame.RedirectWithNotice(w, domainPath(r.PathValue("domain"))+tabPolicy, "acknowledged")
}
