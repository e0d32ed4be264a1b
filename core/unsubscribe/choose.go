package unsubscribe

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/consent"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/sending"
)

// patience limits the time for recording one choice.
const patience = time.Minute

// Unsubscribe opts the recipient out of the topic of the link, or of all mail if the link
// has no topic. It returns the visit after the change. It may be repeated. For a test link,
// and for a contact that does not exist, it changes nothing.
func (u *Unsubscribe) Unsubscribe(ctx context.Context, v Visit) (Visit, error) {
	return u.record(ctx, v, statementOf(v.Token.Topic, true))
}

// Resubscribe undoes Unsubscribe. It keeps a global opt-out if the link has a topic.
func (u *Unsubscribe) Resubscribe(ctx context.Context, v Visit) (Visit, error) {
	return u.record(ctx, v, statementOf(v.Token.Topic, false))
}

// statementOf returns the choice for or against a topic, or all mail if the topic is "".
func statementOf(topic string, out bool) consent.Statement {
	if topic == "" {
		return consent.Statement{UnsubscribeAll: &out}
	}
	return consent.Statement{Topics: map[string]sending.Subscription{topic: subscription(!out)}}
}

// subscription returns the choice for a topic (in is true) or against it.
func subscription(in bool) sending.Subscription {
	if in {
		return sending.OptIn
	}
	return sending.OptOut
}

// Preferences are the choices on a submitted page of preferences.
type Preferences struct {
	// None is true if the recipient wants no mail at all. The choices about topics then stay
	// as they are, so that the recipient can come back to them.
	None bool
	// Shown has the names of the topics that the page showed, In those that the recipient
	// selected, and Before those that were selected when the page was shown.
	Shown, In, Before []string
}

// SavePreferences records the choices, and returns the visit after the change. It ignores
// topics that the organization does not have. A topic that was selected before and still is
// does not undo an opt-out that was made after the page was shown. For a test link, and for
// a contact that does not exist, it changes nothing.
func (u *Unsubscribe) SavePreferences(ctx context.Context, v Visit, p Preferences) (Visit, error) {
	s := consent.Statement{UnsubscribeAll: &p.None, Topics: map[string]sending.Subscription{}}
	for _, t := range v.Topics {
		in := slices.Contains(p.In, t.Name)
		isOutdated := in && t.optedOut && slices.Contains(p.Before, t.Name)
		if !p.None && slices.Contains(p.Shown, t.Name) && !isOutdated {
			s.Topics[t.Name] = subscription(in)
		}
	}
	return u.record(ctx, v, s)
}

// record records what the recipient states. It continues when the client disconnects,
// because mailbox providers do not wait long for an answer.
func (u *Unsubscribe) record(ctx context.Context, v Visit, s consent.Statement) (Visit, error) {
	if !v.IsKnown {
		return v, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	after, err := u.Choices.RecordChoice(ctx, u.Transactor, v.Token.OrgID, contacts.RecipientChoice{
		ContactID: v.contactID, Statement: s,
		OnStore: func(ctx context.Context, before, after contacts.Contact) error {
			return u.report(ctx, v, before, after)
		},
	})
	if err != nil && !core.IsNotFound(err) {
		return Visit{}, err
	}
	return u.withContact(ctx, v, after)
}

// report calls Config.OnUnsubscribe for what the recipient no longer receives after the
// change.
func (u *Unsubscribe) report(ctx context.Context, v Visit, before, after contacts.Contact) error {
	if u.OnUnsubscribe == nil || before.UnsubscribeAll {
		return nil
	}
	event := Unsubscription{ContactID: after.ID, Email: after.Email, SendID: v.Token.SendID, At: after.UpdatedAt}
	if after.UnsubscribeAll {
		return u.OnUnsubscribe(ctx, v.Token.OrgID, event)
	}
	was, is := contacts.ConsentOf(before).Preferences, contacts.ConsentOf(after).Preferences
	for _, topic := range slices.Sorted(maps.Keys(is)) {
		if is[topic] != sending.OptOut || !v.receives(topic, was) {
			continue
		}
		event.Topic = topic
		if err := u.OnUnsubscribe(ctx, v.Token.OrgID, event); err != nil {
			return err
		}
	}
	return nil
}

// receives reports whether a contact with these choices receives mail about the topic. A
// topic that the database does not have counts as received without a choice.
func (v Visit) receives(topic string, choices map[string]sending.Subscription) bool {
	if choice, chosen := choices[topic]; chosen {
		return choice == sending.OptIn
	}
	at := slices.IndexFunc(v.Topics, func(t Topic) bool { return t.Name == topic })
	return at < 0 || v.Topics[at].onByDefault
}
