package domainauth

import (
	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/domainauth/timeline"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// kindOfSource is a classification in words.
type kindOfSource struct {
	Mark mark
	// Meaning says what the reports prove.
	Meaning string
}

// kindsOfSources are the classifications, those with most proof first.
var kindsOfSources = []struct {
	Classification figures.Classification
	Kind           kindOfSource
}{
	{figures.Own, kindOfSource{mark{"own", "delivered"}, "Your own servers and keys, and your sending account."}},
	{figures.Authorised, kindOfSource{mark{"authorised", "delivered"}, "A service that may send for you: it signs with a key of your domain, or is in your SPF record."}},
	{figures.Forwarder, kindOfSource{mark{"forwarder", "sent"}, "Passes on mail that others sent, such as a mailing list, or a mailbox with forwarding."}},
	{figures.Unknown, kindOfSource{mark{"unknown", "delayed"}, "A sender without your authorization, of which something is known. It may be a service that you use and did not set up."}},
	{figures.Spoofing, kindOfSource{mark{"spoofing", "bounced"}, "An address of which nothing is known, and which your SPF record excludes. Mostly, a stranger uses your name."}},
}

// kindOf returns a classification in words.
func kindOf(c figures.Classification) kindOfSource {
	for _, k := range kindsOfSources {
		if k.Classification == c {
			return k.Kind
		}
	}
	return kindOfSource{Mark: mark{string(c), "sent"}}
}

// decisions are the decisions about sources with their marks.
var decisions = []struct {
	Decision figures.Decision
	Mark     mark
}{
	{figures.Unreviewed, mark{"unreviewed", "delayed"}}, {figures.Confirmed, mark{"confirmed", "delivered"}}, {figures.Rejected, mark{"rejected", "bounced"}},
}

// markOfDecision returns the mark of a decision.
func markOfDecision(d figures.Decision) mark {
	for _, one := range decisions {
		if one.Decision == d {
			return one.Mark
		}
	}
	return mark{string(d), "sent"}
}

// decisionOptions returns the options of the filter by decision.
func decisionOptions(chosen string) []frame.Option {
	options := []frame.Option{{Name: "Any"}}
	for _, d := range decisions {
		options = append(options, frame.Option{Value: string(d.Decision), Name: d.Mark.Name})
	}
	return frame.ChooseOption(options, chosen)
}

// kindOptions returns the options of the filter by classification.
func kindOptions(chosen string) []frame.Option {
	options := []frame.Option{{Name: "Any"}}
	for _, k := range kindsOfSources {
		options = append(options, frame.Option{Value: string(k.Classification), Name: k.Kind.Mark.Name})
	}
	return frame.ChooseOption(options, chosen)
}

// kindsOfEvents are the kinds of events with their marks.
var kindsOfEvents = []struct {
	Kind timeline.Kind
	Mark mark
}{
	{timeline.PolicyChange, mark{"policy changed", "clicked"}},
	{timeline.SetupChange, mark{"record changed", "opened"}},
	{timeline.SourceDecisions, mark{"decision", "delivered"}},
	{timeline.Acknowledgement, mark{"cost accepted", "delivered"}},
	{timeline.Note, mark{"note", "sent"}},
}

// markOfEvent returns the mark of a kind of events.
func markOfEvent(kind timeline.Kind) mark {
	for _, k := range kindsOfEvents {
		if k.Kind == kind {
			return k.Mark
		}
	}
	return mark{string(kind), "sent"}
}

// eventOptions returns the options of the filter by kind of event.
func eventOptions(chosen string) []frame.Option {
	options := []frame.Option{{Name: "Any"}}
	for _, k := range kindsOfEvents {
		options = append(options, frame.Option{Value: string(k.Kind), Name: k.Mark.Name})
	}
	return frame.ChooseOption(options, chosen)
}
