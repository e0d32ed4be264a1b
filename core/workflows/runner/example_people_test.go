package runner_test

import (
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/topics"
)

// travellers are the contacts of each example.
var travellers = map[string][]traveller{
	"welcome": {
		{name: "ada", about: "is a new customer and signs in on day 6", values: in("new-customers"), acts: []act{does(6*day, "login")}},
		{name: "bob", about: "is a new customer and never signs in", values: in("new-customers")},
		{name: "cem", about: "buys on day 2", values: in("new-customers"), acts: []act{does(2*day, "purchase")}},
		{name: "dia", about: "has opted out of news", values: in("new-customers"), out: []string{"news"}},
		{name: "eva", about: "lives in Tokyo, where it is 9 in the evening", values: with(in("new-customers"), "timezone", "Asia/Tokyo")},
		{name: "fay", about: "is no new customer"},
	},
	"trial-ending": {
		{name: "ada", about: "lets the trial end on day 5", values: trial("trial", 5*day), acts: []act{nothing(2 * day)}},
		{name: "bob", about: "upgrades on day 3", values: trial("trial", 5*day), acts: []act{becomes(3*day, "plan", "pro")}},
		{name: "cem", about: "is no trial user", values: trial("free", 5*day)},
		{name: "dia", about: "has opted out of all mail", values: trial("trial", 5*day), out: []string{"all"}},
		{name: "eva", about: "gets five more days of trial on day 4", values: trial("trial", 5*day), acts: []act{becomes(4*day, "trial_ends", start.Add(10*day).Format(time.RFC3339))}},
	},
	"win-back": {
		{name: "ada", about: "does not react", values: in("lapsed-customers")},
		{name: "bob", about: "clicks on day 3", values: in("lapsed-customers"), acts: []act{reads(3*day, messages.Click, "we-miss-you")}},
		{name: "cem", about: "clicks in the second message", values: in("lapsed-customers"), acts: []act{reads(12*day, messages.Click, "come-back-offer")}},
		{name: "dia", about: "buys on day 12, and lapses again on day 60", values: in("lapsed-customers"), acts: []act{
			does(12*day, "purchase"), becomes(12*day+time.Hour, "group", ""), becomes(60*day, "group", "lapsed-customers"),
		}},
		{name: "eva", about: "buys on day 2, and lapses again on day 8, while the exit still matches", values: in("lapsed-customers"), acts: []act{
			does(2*day, "purchase"), becomes(2*day+time.Hour, "group", ""), becomes(8*day, "group", "lapsed-customers"),
		}},
	},
	"renewal": {
		{name: "ada", about: "opens the announcement, and renews for 60 days", values: contract("pro"), acts: []act{
			nothing(2 * day), reads(4*day, messages.Open, "renewal-announcement"), becomes(32*day+time.Hour, "renewal", start.Add(92*day).Format(time.RFC3339)), nothing(62 * day),
		}},
		{name: "bob", about: "does not open the announcement", values: contract("team")},
		{name: "cem", about: "cancels on day 20", values: contract("pro"), acts: []act{becomes(20*day, "plan", "free")}},
		{name: "dia", about: "has no paid plan", values: contract("free")},
	},
	"onboarding": {
		{name: "ada", about: "is on the plan team and creates a project on day 1", values: with(nil, "plan", "team"), acts: []act{does(time.Minute, "signup"), does(day, "project_created")}},
		{name: "bob", about: "is on the plan pro and creates no project", values: with(nil, "plan", "pro"), acts: []act{does(time.Minute, "signup")}},
		{name: "cem", about: "is on the plan free and creates three projects", values: with(nil, "plan", "free"), acts: []act{
			does(time.Minute, "signup"), does(day, "project_created"), does(2*day, "project_created"), does(3*day, "project_created"),
		}},
		{name: "dia", about: "has no plan and signs up at 8 in the evening", acts: []act{does(8*time.Hour, "signup"), does(2*day, "project_created")}},
		{name: "eva", about: "opts out of all mail on day 1", values: with(nil, "plan", "free"), acts: []act{does(time.Minute, "signup"), unsubscribes(day), nothing(day + time.Hour)}},
		{name: "fay", about: "signs up twice", values: with(nil, "plan", "pro"), acts: []act{does(time.Minute, "signup"), does(time.Hour, "project_created"), does(10*day, "signup")}},
	},
	"spring-offer": {
		{name: "ada", about: "buys on day 3", values: in("engaged-readers"), acts: []act{does(3*day, "purchase")}},
		{name: "bob", about: "does not buy", values: in("engaged-readers")},
		{name: "cem", about: "is in the tenth that gets nothing", values: in("engaged-readers")},
		{name: "dia", about: "has opted out of offers, and buys on day 1", values: in("engaged-readers"), out: []string{"offers"}, acts: []act{does(day, "purchase")}},
		{name: "eva", about: "buys on day 13", values: in("engaged-readers"), acts: []act{does(13*day, "purchase")}},
		{name: "fay", about: "does not buy", values: in("engaged-readers")},
		{name: "gil", about: "buys on day 20, too late", values: in("engaged-readers"), acts: []act{does(20*day, "purchase")}},
	},
}

// in returns the values of a member of a segment.
func in(segment string) map[string]any { return map[string]any{"group": segment} }

// with returns the values with one more.
func with(values map[string]any, name string, value any) map[string]any {
	if values == nil {
		values = map[string]any{}
	}
	values[name] = value
	return values
}

// trial returns the values of a contact whose trial ends a time after the activation.
func trial(plan string, after time.Duration) map[string]any {
	return map[string]any{"plan": plan, "trial_ends": start.Add(after).Format(time.RFC3339)}
}

// contract returns the values of a contact whose contract is renewed on day 32.
func contract(plan string) map[string]any {
	return map[string]any{"plan": plan, "renewal": start.Add(32 * day).Format(time.RFC3339)}
}

// optOut opts a contact out of topics; "all" stands for all mail.
func (w *exampleWorld) optOut(t testing.TB, name string, out []string) {
	t.Helper()
	w.edit(t, w.ids[name], func(c *contacts.Contact) {
		for _, topic := range out {
			if topic == "all" {
				c.UnsubscribeAll = true
				continue
			}
			c.TopicPreferences = append(c.TopicPreferences, topics.Preference{Topic: topic, SubscriptionStatus: sending.OptOut})
		}
	})
}
