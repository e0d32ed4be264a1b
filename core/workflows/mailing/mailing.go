package mailing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core/composition"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/workflows"
)

// mailing is a send as package handover drives it. It is for one goroutine.
type mailing struct {
	*Config
	send workflows.Send

	// mail is the compiled content, and mailAt the time at which it was read.
	mail   *composition.Mail
	mailAt time.Time
	// recipients are those of the current step, by key; only Filter writes them.
	recipients map[string]workflows.Recipient
}

var _ handover.Mailing = (*mailing)(nil)

// contentTime is how long the content of a template is used before it is read again.
const contentTime = 10 * time.Second

// Running lets messages leave while the workflow is active.
func (m *mailing) Running(ctx context.Context, orgID string, want int, _ time.Time) (handover.Allowance, error) {
	send, err := m.Store.Send(ctx, orgID, m.send.ID) // it locks the workflow
	if err != nil || send.Status != workflows.Active {
		return handover.Allowance{}, err
	}
	return handover.Allowance{Recipients: want}, nil
}

// Claimed does nothing: a workflow has no rate of its own.
func (m *mailing) Claimed(context.Context, string, int, time.Time) error { return nil }

// Application returns "": the messages of a workflow count for no application.
func (m *mailing) Application() string { return "" }

// Filter judges the contacts as they are in the transaction of the claim, and keeps them for
// rendering. A contact that was deleted counts as opted out of all mail.
func (m *mailing) Filter(ctx context.Context, orgID string, recipients []handover.Recipient) (map[string]handover.Tier, error) {
	keys := make([]string, len(recipients))
	for i, r := range recipients {
		keys[i] = r.Key
	}
	var err error
	if m.recipients, err = m.Store.Recipients(ctx, orgID, m.send, keys); err != nil {
		return nil, err
	}
	tiers := map[string]handover.Tier{}
	for _, key := range keys {
		if r, known := m.recipients[key]; !known {
			tiers[key] = handover.ByAccount
		} else if r.Tier != "" {
			tiers[key] = handover.Tier(r.Tier)
		}
	}
	return tiers, nil
}

// Message renders the message. It goes to the contact's address of now.
func (m *mailing) Message(_ context.Context, orgID string, r handover.Recipient) (sending.Message, error) {
	to, known := m.recipients[r.Key]
	if !known {
		return sending.Message{}, fmt.Errorf("workflows: no data of recipient %s", r.Key)
	}
	var values map[string]any
	if err := json.Unmarshal(to.Attributes, &values); err != nil {
		return sending.Message{}, fmt.Errorf("workflows: attributes of a contact: %w", err)
	}
	links, err := m.Links.Links(orgID, to.ContactID, m.send.Topic, m.send.ID)
	if err != nil {
		return sending.Message{}, err
	}
	return m.mail.Message(composition.Recipient{Email: to.Email, Attributes: values, Links: links})
}

// errNoSender is the error of an organization without a verified domain.
var errNoSender = errors.New("workflows: the organization has no verified domain to send from")

// refresh reads and compiles the content of the template, unless that was done shortly before.
// Message must not be called before.
func (m *mailing) refresh(ctx context.Context, orgID string) error {
	now := m.Clock()
	if m.mail != nil && now.Sub(m.mailAt) < contentTime {
		return nil
	}
	content, name, err := m.Templates.Content(ctx, orgID, m.send.Template)
	if err != nil {
		return err
	}
	if content, err = m.Finish(ctx, orgID, content); err != nil {
		return err
	}
	c := composition.Content{Subject: content.Subject, HTML: content.HTML, Text: content.Text, Template: name}
	if c.From, err = m.Senders.Default(ctx, orgID); err != nil {
		return err
	}
	if c.From == "" {
		return errNoSender
	}
	if c.Channel, err = m.Senders.Channel(ctx, orgID); err != nil {
		return err
	}
	if m.mail, err = c.Compile(); err != nil {
		return err
	}
	m.mailAt = now
	return nil
}
