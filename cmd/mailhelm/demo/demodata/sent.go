package demodata

import (
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/demo/mailhistory"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

// accountOf returns the simulated account after the events: its templates, its suppression
// list, and the number of messages sent in the last 24 hours. Production access is granted.
func accountOf(events []messages.Event, now time.Time) simulator.Setup {
	setup := simulator.Setup{Templates: letters}
	yesterday, sent := now.Add(-24*time.Hour), int64(0)
	for _, e := range events {
		if e.Type == messages.Send && e.OccurredAt.After(yesterday) {
			sent++
		}
		if entry, on := suppressionEntry(e); on {
			setup.Suppressed = append(setup.Suppressed, entry)
		}
	}
	setup.Account = overview(sent)
	setup.Account.Review = sending.ReviewGranted
	return setup
}

// suppressionEntry returns the entry that the event adds to the account's suppression list
// under the policy of the message's channel. It returns false if the event adds none.
func suppressionEntry(e messages.Event) (sending.Suppressed, bool) {
	entry := sending.Suppressed{Email: e.Recipient, At: e.OccurredAt}
	word := ""
	switch {
	case isPermanentBounce(e):
		entry.Reason, word = sending.SuppressedByBounce, "BOUNCE"
	case e.Type == messages.Complaint:
		entry.Reason, word = sending.SuppressedByComplaint, "COMPLAINT"
	}
	at := slices.IndexFunc(configurationSets, func(c sending.ConfigurationSet) bool { return c.Name == e.Mail.Channel })
	return entry, word != "" && at >= 0 && slices.Contains(configurationSets[at].SuppressionPolicy, word)
}

// letters are the templates of the mail in the demo's history.
var letters = []sending.Template{
	letter(mailhistory.Newsletter, "A washed coffee from Huila is in, and the tasting on Thursday has two seats left."),
	letter(mailhistory.Receipt, "Thank you for your order {{order}}. It leaves the roastery tomorrow."),
	letter(mailhistory.Reopening, "After a pause we deliver to cafés, shops and offices again."),
	letter(mailhistory.Onboarding[0], "Thank you for coming to Fernhill. Here is how we roast."),
	letter(mailhistory.Onboarding[1], "Sixty grams to the litre, water just off the boil, four minutes."),
	letter(mailhistory.Onboarding[2], "Take ten per cent off your first order with the code FIRST."),
}

// letter returns the template for a kind of mail. Its plain text and its HTML each greet
// the recipient by first name and contain the parameter text.
func letter(l mailhistory.Letter, text string) sending.Template {
	return sending.Template{
		Name: l.Template, Subject: l.Subject,
		Text: "Hello {{first_name}},\n\n" + text + "\n\nFernhill Coffee\n",
		HTML: "<p>Hello {{first_name}},</p>\n<p>" + text + "</p>\n<p>Fernhill Coffee</p>\n",
	}
}
