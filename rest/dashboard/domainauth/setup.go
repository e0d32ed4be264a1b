package domainauth

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth"
	"github.com/mailhelm/mailhelm/core/domainauth/readiness"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// remeasuring says when the records were read last, and has the form that has them read again.
type remeasuring struct {
	At frame.When
	// Again is the time from which on a measurement can be asked for, the zero When for now.
	Again   frame.When
	AgainAt string
	// Form is nil for visitors who may not ask, and while it is too early.
	Form *frame.Form
	// Back is the last part of the path of the page with the form.
	Back string
}

// remeasuringOf returns when a domain was measured, and whether the visitor may ask for another
// measurement now.
func (h *Room) remeasuringOf(r *http.Request, v people.Visitor, name string) (remeasuring, error) {
	d, err := h.Store.Domain(r.Context(), v.Org.ID, name)
	if err != nil {
		return remeasuring{}, err
	}
	m := remeasuring{Back: r.URL.Path[strings.LastIndexByte(r.URL.Path, '/'):]}
	if d.MeasuredAt != nil {
		m.At = h.When(*d.MeasuredAt)
	}
	now, wait := h.Clock(), time.Duration(0)
	if d.RequestedAt != nil {
		wait = readiness.RetryAfter(*d.RequestedAt, now)
	}
	switch {
	case wait > 0:
		m.Again, m.AgainAt = h.When(now.Add(wait)), now.Add(wait).UTC().Add(time.Minute-1).Truncate(time.Minute).Format("15:04 UTC")
	case mayManage(v):
		form := frame.FormTo(v, domainPath(name)+"/remeasure")
		m.Form = &form
	}
	return m, nil
}

// remeasure asks for a measurement, and returns to the page with the form.
func (h setupPages) remeasure(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	var asked domainauth.Remeasured
	if _, err := h.Do(r, v, frame.OperationCall{Operation: "domain_auth_domains_remeasure", Arguments: named(r)}, &asked); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	back, notice := tabSetup, "queued"
	if r.PostForm.Get("back") == tabPolicy {
		back = tabPolicy
	}
	if !asked.Queued {
		notice = "early"
	}
	frame.RedirectWithNotice(w, domainPath(r.PathValue("domain"))+back, notice)
}

// neededRecord is a record that reports need.
type neededRecord struct {
	recordToPublish
	Verified bool
	// Consent marks the record with which the host of the report address agrees.
	Consent bool
}

// setupPage is the data of the page about the records of a domain.
type setupPage struct {
	domainHead
	Verdict  verdict
	Present  string
	Asks     string
	Address  string
	Needed   []neededRecord
	Measured remeasuring
	Mails    mailing
	Guide    *frame.Link
}

// showSetup shows which records the reports of a domain need.
func (h setupPages) showSetup(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	p, ok := h.postureOf(w, r, v)
	if !ok {
		return
	}
	data := setupPage{
		domainHead: newDomainHead(p.Posture, tabSetup), Verdict: reportingVerdict(p), Present: plain(p.Record), Asks: whatPolicyAsks(p.Policy), Guide: h.Guide(reportsGuide, "Read DMARC reports"),
	}
	if p.RUA != nil {
		data.Address = strings.TrimPrefix(*p.RUA, "mailto:")
	}
	for i, record := range p.Records {
		needed := neededRecord{recordToPublish: recordToPublish{Name: frame.PlainName(record.Name), Value: frame.PlainName(record.Value)}, Verified: record.Verified, Consent: i > 0}
		if !needed.Consent && !needed.Verified && data.Present != "" {
			needed.Changes = differences(data.Present, needed.Value)
		}
		data.Needed = append(data.Needed, needed)
	}
	var err error
	if data.Measured, err = h.remeasuringOf(r, v, p.Domain); err == nil {
		data.Mails, err = h.mailingOf(r, v, p.Domain)
	}
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	h.show(w, r, v, http.StatusOK, p.Domain, frame.Screen{Page: "setup", Title: "Records", Data: data, Head: frame.Head{
		Lead:    "The DMARC record of the domain, and what reports need to arrive here.",
		Actions: []frame.Action{{Path: frame.Address(ReceivedPath, frame.Parameters{"domain": p.Domain}), Name: "View received reports"}},
	}})
}

// reportingVerdict says whether reports can arrive.
func reportingVerdict(p domainauth.PostureDetail) verdict {
	consent := !slices.ContainsFunc(p.Records, func(r domainauth.DNSRecord) bool { return !r.Verified })
	switch {
	case p.RUA == nil:
		return verdict{"delayed", "This server receives no reports by mail", "It has no receiver for mail. Reports can come from files instead."}
	case p.LastMeasuredAt == nil:
		return verdict{"", "The records were not read yet", "This happens within a few minutes."}
	case p.ReportingEnabled && consent:
		return verdict{"delivered", "Reports are sent here", "The record asks receivers to send their reports to Mailhelm. They send one a day."}
	case p.ReportingEnabled:
		return verdict{"delayed", "Reports are asked for, but consent is missing", "The record sends reports here, but receivers ignore that until the second record below exists."}
	case p.Policy == nil:
		return verdict{"bounced", "Receivers send no reports", "The domain has no DMARC record. Publish the one below: it changes nothing about the delivery of your mail."}
	default:
		return verdict{"bounced", "Reports do not come here", "The record does not name the report address of Mailhelm. Publish the one below: it keeps your policy and the addresses that are there."}
	}
}

// differences returns the tags in which two records differ, in the order of the new record, then
// those that it lacks.
func differences(from, to string) []tagChange {
	before, after := tagsOf(from), tagsOf(to)
	var changes []tagChange
	for _, tag := range after {
		if old := valueOf(before, tag[0]); old != tag[1] {
			changes = append(changes, tagChange{tag[0], old, tag[1]})
		}
	}
	for _, tag := range before {
		if valueOf(after, tag[0]) == "" {
			changes = append(changes, tagChange{tag[0], tag[1], ""})
		}
	}
	return changes
}

// tagsOf returns the names and values of the tags of a record.
func tagsOf(record string) [][2]string {
	var tags [][2]string
	for part := range strings.SplitSeq(record, ";") {
		name, value, ok := strings.Cut(part, "=")
		if ok {
			tags = append(tags, [2]string{strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)})
		}
	}
	return tags
}

// valueOf returns the value of a tag, "" if it is absent.
func valueOf(tags [][2]string, name string) string {
	for _, tag := range tags {
		if tag[0] == name {
			return tag[1]
		}
	}
	return ""
}
