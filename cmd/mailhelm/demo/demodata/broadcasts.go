package demodata

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/demo/mailhistory"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/composition"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/tags"
)

// The ids of the demo's broadcasts, which examples of the documentation name.
const (
	draftID     = "0198c7a2-5d3e-7a01-8b00-2f61c0d4b101"
	sentID      = "0198c7a2-5d3e-7a01-8b00-2f61c0d4b102"
	scheduledID = "0198c7a2-5d3e-7a01-8b00-2f61c0d4b103"
)

// scheduledAhead is how long after the start of the demo its scheduled broadcast is due.
const scheduledAhead = 5 * 24 * time.Hour

// broadcasts creates a draft to send, a scheduled broadcast, and a sent one: the last issue
// of the newsletter, whose recipients have the outcomes of its messages.
func (p Past) broadcasts(ctx context.Context, orgID string, events []messages.Event) error {
	list, err := p.DB.Lists().List(ctx, orgID, "newsletter")
	if err != nil {
		return err
	}
	now := p.Clock()
	written := broadcasts.Broadcast{
		ID: draftID, Name: "Spring news", Template: "welcome", Target: broadcasts.Target{AudienceKind: broadcasts.List, AudienceID: list.ID}, Topic: "events",
		Subject: "{{first_name}}, spring is in the roastery", PreviewText: "Two new coffees, and a tasting on Thursday.", State: broadcasts.Draft,
		CreatedAt: now.Add(-2 * time.Hour), UpdatedAt: now.Add(-time.Hour), CreatedBy: broadcasts.Author{Kind: string(core.Person), ID: "demo"}, Revision: 1,
	}
	if err := p.DB.Broadcasts().Insert(ctx, orgID, written); err != nil {
		return err
	}
	planned, at := written, now.Add(scheduledAhead).Truncate(time.Hour)
	planned.ID, planned.Name, planned.Subject, planned.PreviewText = scheduledID, "Invitation to the tasting", "Taste the new harvest with us", ""
	planned.State, planned.ScheduleAt, planned.CreatedAt = broadcasts.Scheduled, &at, now.Add(-26*time.Hour)
	if err := p.DB.Broadcasts().Insert(ctx, orgID, planned); err != nil {
		return err
	}
	if err := p.sentBroadcast(ctx, orgID, written, lastIssue(events)); err != nil {
		return err
	}
	return p.tags(ctx, orgID)
}

// tags creates two tags and gives each to a broadcast.
func (p Past) tags(ctx context.Context, orgID string) error {
	for _, one := range []struct {
		tag       tags.Tag
		broadcast string
	}{
		{tags.Tag{ID: "0198c7a2-5d3e-7a01-8b00-2f61c0d4b201", Name: "Newsletter", Color: "#2563eb"}, sentID},
		{tags.Tag{ID: "0198c7a2-5d3e-7a01-8b00-2f61c0d4b202", Name: "Spring", Color: "#16a34a"}, draftID},
	} {
		one.tag.CreatedAt = p.Clock().Add(-30 * 24 * time.Hour)
		if err := p.DB.Tags().InsertTag(ctx, orgID, one.tag); err != nil {
			return err
		}
		if err := p.DB.Tags().SetBroadcastTags(ctx, orgID, one.broadcast, []string{one.tag.ID}); err != nil {
			return err
		}
	}
	return nil
}

// lastIssue returns the send events of the last issue of the newsletter, one for each
// recipient.
func lastIssue(events []messages.Event) []messages.Event {
	var issue []messages.Event
	day := ""
	seen := map[string]bool{}
	for i := len(events) - 1; i >= 0; i-- {
		e := events[i]
		if e.Type != messages.Send || e.Mail.Template != mailhistory.Newsletter.Template || seen[e.Recipient] {
			continue
		}
		if day == "" {
			day = e.OccurredAt.Format(time.DateOnly)
		}
		if e.OccurredAt.Format(time.DateOnly) != day {
			continue
		}
		seen[e.Recipient] = true
		issue = append(issue, e)
	}
	return issue
}

// sentBroadcast stores a broadcast that was sent by the events, with the results of its
// recipients. Members of the list who opted out of the topic are filtered.
func (p Past) sentBroadcast(ctx context.Context, orgID string, like broadcasts.Broadcast, issue []messages.Event) error {
	recipients, answers, err := p.recipients(ctx, orgID, issue)
	if err != nil || len(recipients) == 0 {
		return err
	}
	at := issue[len(issue)-1].OccurredAt
	out, err := p.optedOut(ctx, orgID, like)
	if err != nil {
		return err
	}
	var filtered []handover.Recipient
	for _, m := range out {
		if answers[m.ContactID].MessageID == "" {
			recipients = append(recipients, handover.Recipient{Key: m.ContactID, Email: m.Email})
			filtered = append(filtered, handover.Recipient{Key: m.ContactID, CreatedAt: at, Tier: m.Tier})
		}
	}
	store := p.DB.Handover()
	if err := store.Add(ctx, orgID, sentID, recipients, at); err != nil {
		return err
	}
	if err := store.Filter(ctx, orgID, sentID, filtered, at); err != nil {
		return err
	}
	var claimed []handover.Recipient
	var all []handover.Answer
	for key, answer := range answers {
		answer.CreatedAt = at
		claimed, all = append(claimed, handover.Recipient{Key: key, CreatedAt: at}), append(all, answer)
	}
	if err := store.Claim(ctx, orgID, sentID, claimed, "demo", at); err != nil {
		return err
	}
	ended := at.Add(3 * time.Minute)
	if err := store.Answer(ctx, orgID, sentID, all, ended); err != nil {
		return err
	}
	frozen, err := json.Marshal(composition.Content{Subject: mailhistory.Newsletter.Subject, HTML: letters[0].HTML, Text: letters[0].Text, From: issue[0].Mail.From, Template: mailhistory.Newsletter.Template})
	if err != nil {
		return err
	}
	size := len(recipients)
	like.ID, like.Name, like.Template, like.Subject, like.PreviewText, like.Frozen = sentID, "Newsletter of the week", mailhistory.Newsletter.Template, "", "", string(frozen)
	like.State, like.AudienceSize, like.Sent, like.Filtered = broadcasts.Sent, &size, len(answers), len(filtered)
	like.StartedAt, like.CompletedAt, like.CreatedAt, like.UpdatedAt = &at, &ended, at.Add(-time.Hour), ended
	return p.DB.Broadcasts().Insert(ctx, orgID, like)
}

// recipients returns the contacts to whom the events were sent, and for each the answer of
// the account, by contact id.
func (p Past) recipients(ctx context.Context, orgID string, issue []messages.Event) ([]handover.Recipient, map[string]handover.Answer, error) {
	var recipients []handover.Recipient
	answers := map[string]handover.Answer{}
	for _, e := range issue {
		contact, err := p.DB.Contacts().ContactByEmail(ctx, orgID, e.Recipient)
		if core.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		recipients = append(recipients, handover.Recipient{Key: contact.ID, Email: contact.Email})
		answers[contact.ID] = handover.Answer{Key: contact.ID, Attempt: 1, Verdict: handover.Accepted, MessageID: e.MessageID}
	}
	return recipients, answers, nil
}

// maxOptedOut is the number of filtered recipients of the sent broadcast.
const maxOptedOut = 25

// optedOut returns members of the audience that the checks of a send filter.
func (p Past) optedOut(ctx context.Context, orgID string, of broadcasts.Broadcast) ([]broadcasts.Member, error) {
	members, err := p.DB.ListMembers().ListMembers(ctx, orgID, of.AudienceID, nil, core.DefaultLimit)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, m := range members {
		ids = append(ids, m.ContactID)
	}
	judged, err := p.DB.Audiences().Members(ctx, orgID, of.Topic, ids)
	var out []broadcasts.Member
	for _, m := range judged {
		if m.Tier != "" && len(out) < maxOptedOut {
			out = append(out, m)
		}
	}
	return out, err
}
