package sending

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	port "github.com/mailhelm/mailhelm/core/sending"
)

// errTopicExists is the error of the function that addTopic returns. The function fails
// with it if the topic exists already. ChangeTopics must return this error unchanged.
var errTopicExists = errors.New("there is such a topic")

// topicOf returns a valid topic with the name, to which contacts are subscribed by default.
func topicOf(name string) port.Topic {
	return port.Topic{Name: name, DisplayName: "About " + name, Description: "What is said of " + name, Default: port.OptIn}
}

// addTopic returns a change that adds the named topic. The change fails with errTopicExists
// if the account has the topic already.
func addTopic(name string) port.TopicsChange {
	return func(topics []port.Topic) ([]port.Topic, error) {
		if slices.ContainsFunc(topics, func(t port.Topic) bool { return t.Name == name }) {
			return nil, errTopicExists
		}
		return append(topics, topicOf(name)), nil
	}
}

// removeTopic returns a change that removes the topic if it exists.
func removeTopic(name string) port.TopicsChange {
	return func(topics []port.Topic) ([]port.Topic, error) {
		return slices.DeleteFunc(topics, func(t port.Topic) bool { return t.Name == name }), nil
	}
}

// replaceTopics returns a change that replaces all topics by the given ones.
func replaceTopics(topics ...port.Topic) port.TopicsChange {
	return func([]port.Topic) ([]port.Topic, error) { return topics, nil }
}

// readList returns the contact list of the organization "org", with its topics sorted by
// name. It ends the test on an error.
func readList(t *testing.T, a port.Account) port.ContactList {
	t.Helper()
	list, err := a.ContactList(t.Context(), "org")
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(list.Topics, func(a, b port.Topic) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// changeTopics changes the topics of the organization "org". It ends the test on an
// error.
func changeTopics(t *testing.T, a port.Account, change port.TopicsChange) {
	t.Helper()
	if err := a.ChangeTopics(t.Context(), "org", change); err != nil {
		t.Fatalf("changing the topics: %v", err)
	}
}

// topicsAreChanged adds, changes and removes topics. If a topic is removed, the choices
// about it must be deleted, and must not come back when it is added again.
func topicsAreChanged(t *testing.T, s Subject) {
	const email = "person@example.com"
	setup := people(port.Contact{Email: email, Preferences: map[string]port.Subscription{"news": port.OptOut, "offers": port.OptIn}})
	setup.List.Description = "Everybody"
	s.Seed(t, "org", setup)
	before := readList(t, s.Account)

	changeTopics(t, s.Account, addTopic("weather"))
	put(t, s.Account, port.Contact{Email: "fan@example.com", Preferences: choices("weather", port.OptOut)})
	renamed := port.Topic{Name: "news", DisplayName: "Daily news – grüße", Default: port.OptOut}
	changeTopics(t, s.Account, replaceTopics(renamed, topicOf("weather")))

	after := readList(t, s.Account)
	if diff := cmp.Diff([]port.Topic{renamed, topicOf("weather")}, after.Topics); diff != "" {
		t.Errorf("the topics (-want +got):\n%s", diff)
	}
	if after.Name != "people" || after.Description != "Everybody" || !after.UpdatedAt.After(before.UpdatedAt) {
		t.Errorf("the list became %+v from %+v", after, before)
	}
	wantContact(t, get(t, s.Account, email), port.Contact{Email: email, Preferences: choices("news", port.OptOut)})

	changeTopics(t, s.Account, removeTopic("news"))
	changeTopics(t, s.Account, addTopic("news"))
	wantContact(t, get(t, s.Account, email), port.Contact{Email: email})
	wantContact(t, get(t, s.Account, "fan@example.com"), port.Contact{Email: "fan@example.com", Preferences: choices("weather", port.OptOut)})
}

// unchangedTopics makes changes of topics that have no effect. They must not change the
// contact list, not even its update time.
func unchangedTopics(t *testing.T, s Subject) {
	s.Seed(t, "org", people())
	before := readList(t, s.Account)
	changeTopics(t, s.Account, func(topics []port.Topic) ([]port.Topic, error) { return topics, nil })
	changeTopics(t, s.Account, removeTopic("weather"))
	if diff := cmp.Diff(before, readList(t, s.Account)); diff != "" {
		t.Errorf("the same topics changed the list (-before +after):\n%s", diff)
	}
}

// refusedChange calls ChangeTopics with a change function that returns an error. The
// account must return that error and keep the topics.
func refusedChange(t *testing.T, s Subject) {
	s.Seed(t, "org", people())
	before := readList(t, s.Account)
	if err := s.Account.ChangeTopics(t.Context(), "org", addTopic("news")); !errors.Is(err, errTopicExists) || kindOf(err) != "untyped" {
		t.Errorf("a change that refuses is %v", err)
	}
	if diff := cmp.Diff(before, readList(t, s.Account)); diff != "" {
		t.Errorf("a refused change (-before +after):\n%s", diff)
	}
}

// invalidTopics makes changes that every account must refuse with Invalid. If one topic is
// invalid, valid topics of the change must not be stored either.
func invalidTopics(t *testing.T, s Subject) {
	s.Seed(t, "org", people())
	before := readList(t, s.Account)
	named := func(name string) port.Topic { return port.Topic{Name: name, DisplayName: "x", Default: port.OptIn} }
	for name, bad := range map[string][]port.Topic{
		"no name":              {named("")},
		"a name with a space":  {named("a b")},
		"a name of 65":         {named(strings.Repeat("x", 65))},
		"no default":           {{Name: "weather", DisplayName: "x"}},
		"a default that is no": {{Name: "weather", DisplayName: "x", Default: "MAYBE"}},
		"a long display name":  {{Name: "weather", DisplayName: strings.Repeat("ü", 129), Default: port.OptIn}},
		"a long description":   {{Name: "weather", DisplayName: "x", Description: strings.Repeat("ü", 501), Default: port.OptIn}},
		"one name twice":       {named("weather"), named("weather")},
		"a good and a bad one": {named("weather"), named("a\x00")},
	} {
		WantKind(t, name, s.Account.ChangeTopics(t.Context(), "org", replaceTopics(bad...)), port.Invalid)
	}
	if diff := cmp.Diff(before, readList(t, s.Account)); diff != "" {
		t.Errorf("refused topics (-before +after):\n%s", diff)
	}
}

// topicsHaveALimit adds topics until the account refuses one. Every account must allow at
// least 20 topics, refuse the 51st at the latest, and fail with Full.
func topicsHaveALimit(t *testing.T, s Subject) {
	const least, most = 20, 50
	s.Seed(t, "org", people())
	changeTopics(t, s.Account, replaceTopics())
	for n := range most + 1 {
		err := s.Account.ChangeTopics(t.Context(), "org", addTopic(fmt.Sprint("topic-", n)))
		if err == nil {
			continue
		}
		WantKind(t, fmt.Sprint("topic ", n+1), err, port.Full)
		wantShown(t, "ChangeTopics", err, 422, 0)
		if list := readList(t, s.Account); n < least || len(list.Topics) != n {
			t.Errorf("a list of %d topics is full, after %d were added", len(list.Topics), n)
		}
		return
	}
	t.Errorf("a list took %d topics", most+1)
}

// concurrentTopics adds topics from several goroutines at once. All of them must be stored.
func concurrentTopics(t *testing.T, s Subject) {
	const writers = 8
	s.Seed(t, "org", people())
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			if err := s.Account.ChangeTopics(t.Context(), "org", addTopic(fmt.Sprint("topic-", w))); err != nil {
				t.Errorf("adding topic %d: %v", w, err)
			}
		})
	}
	wg.Wait()
	if list := readList(t, s.Account); len(list.Topics) != writers+2 {
		t.Errorf("%d topics after all writers, want %d", len(list.Topics), writers+2)
	}
}
