package contacts

import (
	"context"
	"slices"

	"github.com/mailhelm/mailhelm/core/consent"
	audience "github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/rest/dashboard/actors"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// consentSection has a contact's choices about topics.
type consentSection struct {
	UnsubscribeAll bool
	// All says since when the global opt-out is set, or since when it is removed; nil if it
	// was never set.
	All    *choice
	Topics []topicRow
	// Old says that the choices are those of the last sync, and why. It is "" for the present
	// choices of the sending account.
	Old string
	// None stands in place of the topics.
	None frame.Empty
}

// topicRow is the data of one topic: whether the contact gets it, and what decides that.
type topicRow struct {
	Name, Key string
	In        bool
	Reason    string
	Choice    *choice // the contact's explicit choice, nil for none
}

// choice says what was chosen, when and by whom. When is the zero time if that is unknown;
// By then says so.
type choice struct {
	What string
	When frame.When
	By   string
}

// consentView builds the data of a contact's consent. stored is the contact with the consent
// in the database, shown the contact with the consent that the page shows.
type consentView struct {
	h             contactHandlers
	names         *actors.Names
	stored, shown audience.Contact
}

// consentOf returns the contact's choices, and for each topic what decides whether the
// contact gets it. It fails if the names of credentials cannot be read.
func (v consentView) consentOf(ctx context.Context, known choices, old string) (consentSection, error) {
	c := v.shown
	shown := consentSection{
		UnsubscribeAll: c.UnsubscribeAll, Old: old,
		None: frame.Empty{Text: "The sending account has no topics, or did not answer.", Action: &frame.Action{Path: topicsPath, Name: "Open topics"}},
	}
	recorded := v.stored.ConsentChanges.UnsubscribeAll
	if c.UnsubscribeAll || recorded != nil || v.stored.UnsubscribeAll {
		what := "The global opt-out was removed"
		if c.UnsubscribeAll {
			what = "Opted out"
		}
		made, err := v.choiceOf(ctx, what, recorded, c.UnsubscribeAll != v.stored.UnsubscribeAll)
		if err != nil {
			return shown, err
		}
		shown.All = &made
	}
	for _, t := range known.Topics {
		row, err := v.topicRow(ctx, t)
		if err != nil {
			return shown, err
		}
		shown.Topics = append(shown.Topics, row)
	}
	return shown, nil
}

// topicRow returns the data of one topic.
func (v consentView) topicRow(ctx context.Context, t topic) (topicRow, error) {
	c := v.shown
	in, explicit := isIn(c, t)
	row := topicRow{Name: t.title(), Key: frame.PlainName(t.Name), In: in}
	switch {
	case c.UnsubscribeAll:
		row.Reason = "The contact opted out of everything."
	case !c.Mailable:
		row.Reason = c.MailableNote()
	case explicit:
	case t.Default == sending.OptIn:
		row.Reason = "No choice: it is on by default."
	default:
		row.Reason = "No choice: it is off by default."
	}
	at := slices.IndexFunc(c.TopicPreferences, func(p topics.Preference) bool { return p.Topic == t.Name })
	if at < 0 {
		return row, nil
	}
	what := "Opted out"
	if c.TopicPreferences[at].SubscriptionStatus == sending.OptIn {
		what = "Opted in"
	}
	var recorded *consent.Change
	if change, is := v.stored.ConsentChanges.Topics[t.Name]; is {
		recorded = &change
	}
	made, err := v.choiceOf(ctx, what, recorded, !slices.Contains(v.stored.TopicPreferences, c.TopicPreferences[at]))
	row.Choice = &made
	return row, err
}

// choiceOf returns the data of a choice. newer is true if the sending account has another
// choice than the database.
func (v consentView) choiceOf(ctx context.Context, what string, recorded *consent.Change, newer bool) (choice, error) {
	switch {
	case newer:
		return choice{What: what, By: "in the sending account, after the last sync"}, nil
	case recorded == nil:
		return choice{What: what, By: "before Mailhelm recorded such times"}, nil
	}
	by, err := v.sourceWords(ctx, recorded.By)
	return choice{what, v.h.When(recorded.Time()), by}, err
}

// sourceWords returns the source of a change in words that begin with "by" or "in".
func (v consentView) sourceWords(ctx context.Context, source consent.Source) (string, error) {
	switch source {
	case consent.ByAccount:
		return "in the sending account: by the recipient, or by a program that writes there", nil
	case consent.ByRecipient:
		return "by the recipient, with the unsubscribe link of a mail", nil
	case consent.ByCommand:
		return "by the command mailhelm import contacts", nil
	}
	if userID, imported := source.ImportedBy(); imported {
		person, err := v.names.Person(ctx, userID)
		return "by an import of " + person, err
	}
	credentialID, userID, called := source.Caller()
	if called && credentialID == userID {
		person, err := v.names.Person(ctx, userID)
		return "by " + person, err
	}
	credential, err := v.names.Credential(ctx, credentialID, userID)
	if err != nil || userID == "" {
		return "by " + credential, err
	}
	person, err := v.names.Person(ctx, userID)
	return "by " + credential + " for " + person, err
}
