package notices

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/domainauth/sources"
)

// digestMail returns the digest of the seven days from a day, beside the seven days before. page
// is the address of the dashboard's page of the domain.
func digestMail(domain, page string, from time.Time, week, before Week) *mail {
	last := figures.AddDays(from, 6)
	m := &mail{subject: fmt.Sprintf("%s: your mail in the week to %s", domain, last.Format("2 January 2006"))}
	m.paragraph(fmt.Sprintf("This is what receivers such as Google and Microsoft reported about mail in the name of %s from %s to %s.", domain, from.Format("Monday 2 January"), last.Format("Monday 2 January 2006")))
	if week.Messages == 0 {
		m.paragraph("No report about these days has arrived. Receivers send reports only if the DMARC record of the domain asks for them, and if the domain sent mail.")
	}
	m.table([][3]string{
		{"", "This week", "Week before"},
		{"Messages", number(week.Messages), number(before.Messages)},
		{"Passed the check (DMARC)", share(week.Passing, week.Messages), share(before.Passing, before.Messages)},
		{"Failed the check", share(week.Messages-week.Passing, week.Messages), share(before.Messages-before.Passing, before.Messages)},
		{"Put into spam or refused", number(week.Stopped), number(before.Stopped)},
	})
	m.senders(domain, from, week)
	opened, closed := split(week.Findings, from)
	m.findings(domain, "What is new", opened)
	m.findings(domain, "What is over", closed)
	if len(week.Changes) > 0 {
		m.heading("Changes of your DNS records")
		items := make([]item, len(week.Changes))
		for i, c := range week.Changes {
			items[i] = item{c.At.UTC().Format("2 January"), m.outside(c.Title, longestSentence, domain)}
		}
		m.list(items)
	}
	m.whatNext(page, week, opened)
	m.end(domain, page)
	return m
}

// share writes a part of messages with its percentage.
func share(part, whole int64) string {
	if whole == 0 {
		return number(part)
	}
	return fmt.Sprintf("%s (%.1f %%)", number(part), 100*float64(part)/float64(whole))
}

// senders writes who failed and waits for a decision.
func (m *mail) senders(domain string, from time.Time, week Week) {
	if len(week.Senders) == 0 {
		return
	}
	m.heading("Senders that wait for your decision")
	m.paragraph("Most of the mail that failed and about which you did not decide came from:")
	items := make([]item, len(week.Senders))
	for i, s := range week.Senders {
		text := fmt.Sprintf("%s of %s failed", number(s.Failing), quantity(s.Messages, "message", "messages"))
		if !s.FirstDay.Before(from) {
			text += ", seen for the first time this week"
		}
		items[i] = item{m.name(s.Name, domain), text + ". " + kindOf(s.Classification)}
	}
	m.list(items)
}

// kindOf says in words what the reports prove about a sender.
func kindOf(c figures.Classification) string {
	switch c {
	case figures.Own:
		return "It is one of your own servers, or your sending account."
	case figures.Authorised:
		return "Your DNS records allow it to send for you."
	case figures.Forwarder:
		return "It passes on mail that was sent to its users."
	case figures.Spoofing:
		return "Nothing shows that it is yours."
	default:
		return "Your DNS records do not allow it to send for you."
	}
}

// split divides the findings of a week into those that opened in it, and those that closed. One
// that did both is over.
func split(findings []Finding, from time.Time) (opened, closed []Finding) {
	for _, f := range findings {
		if f.ClosedAt.IsZero() && !f.OpenedAt.Before(from) {
			opened = append(opened, f)
		} else if !f.ClosedAt.IsZero() {
			closed = append(closed, f)
		}
	}
	return opened, closed
}

// findings writes findings under a heading, nothing without any. Those that are over have no
// details, which are of the last day on which they were open.
func (m *mail) findings(domain, heading string, found []Finding) {
	if len(found) == 0 {
		return
	}
	m.heading(heading)
	var items []item
	for _, f := range found[:min(len(found), MaxFindings)] {
		text := m.outside(f.Detail, longestSentence, domain)
		if !f.ClosedAt.IsZero() {
			text = over(f.Code) + " (" + f.ClosedAt.Format("2 January") + ")"
		}
		name := m.name(f.Name, domain)
		if strings.HasPrefix(text, name) {
			name = "" // the text says it
		}
		items = append(items, item{name, text})
	}
	m.list(items)
	if more := len(found) - MaxFindings; more > 0 {
		m.paragraph(fmt.Sprintf("There are %d more on the dashboard.", more))
	}
}

// over says that what a finding is about has ended.
func over(c sources.Code) string {
	switch c {
	case sources.FailingVolume:
		return "hardly any of its mail fails now"
	case sources.UnalignedDKIM:
		return "its mail is signed for your domain now, or it sends none"
	case sources.UnalignedSPF:
		return "SPF confirms its mail for your domain now, or it sends none"
	default:
		return "it is no new sender any more"
	}
}

// whatNext says what to do, with the address of the page where that is done.
func (m *mail) whatNext(page string, week Week, opened []Finding) {
	m.heading("What to do next")
	switch {
	case week.Messages == 0:
		m.paragraph("Check that the DMARC record of your domain asks for reports:")
		m.link(page + "/setup")
	case week.Unreviewed > 0:
		m.paragraph(quantity(int64(week.Unreviewed), "sender waits", "senders wait") + " for your decision. Say which of them you use:")
		m.link(page + "/sources")
	case len(opened) > 0:
		m.paragraph("Look at the senders with a new finding:")
		m.link(page + "/sources")
	default:
		m.paragraph("No sender waits for you. See whether your domain is ready for a stricter policy:")
		m.link(page + "/policy")
	}
}

// end says why the member gets the mail, and where to turn it off.
func (m *mail) end(domain, page string) {
	m.explainDots()
	m.paragraph("You get this mail because you asked for it for " + domain + ". Turn it off here:")
	m.link(page + "/setup")
}

// alertMail returns the alert about findings of unknown senders. page is the address of
// the dashboard's page of the domain.
func alertMail(domain, page string, news []Finding) *mail {
	failing := slices.ContainsFunc(news, func(f Finding) bool { return f.Code == sources.FailingVolume })
	senders := map[string]bool{}
	for _, f := range news {
		senders[f.Source] = true
	}
	m, who, these := &mail{subject: domain + ": an unknown sender uses your domain"}, "from a sender", "this sender"
	if len(senders) > 1 {
		m.subject = fmt.Sprintf("%s: %d unknown senders use your domain", domain, len(senders))
		who, these = "from senders", "these senders"
	}
	if failing {
		m.paragraph("Mail in the name of " + domain + " fails the check (DMARC) in quantity. It comes " + who + " about which you did not decide yet.")
	} else {
		m.paragraph("Mail in the name of " + domain + " comes " + who + " not seen before.")
	}
	m.findings(domain, "What reports say", news)
	m.heading("What to do next")
	m.paragraph("Do you use " + these + ", for example for newsletters or invoices? Then confirm, and turn on signatures (DKIM) for your domain there. If you do not, reject: once your policy is stricter, receivers stop such mail. Decide here:")
	m.link(page + "/sources")
	m.end(domain, page)
	return m
}
