package ses_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/sending"
)

const (
	getList = "GET /v2/email/contact-lists/people"
	putList = "PUT /v2/email/contact-lists/people"
)

var errTaken = errors.New("there is such a topic")

// addWeather is a sending.TopicsChange that adds the topic "weather". It fails if the topic
// exists.
func addWeather(topics []sending.Topic) ([]sending.Topic, error) {
	if slices.ContainsFunc(topics, func(t sending.Topic) bool { return t.Name == "weather" }) {
		return nil, errTaken
	}
	return append(topics, sending.Topic{Name: "weather", DisplayName: "Weather", Default: sending.OptOut}), nil
}

// listOf returns a handler of the fake SES API that responds with a contact list with these
// topics.
func listOf(topics ...string) http.HandlerFunc {
	all := make([]string, len(topics))
	for i, name := range topics {
		all[i] = `{"TopicName":"` + name + `","DisplayName":"` + name + `","DefaultSubscriptionStatus":"OPT_IN"}`
	}
	return respondWith(`{"ContactListName":"people","Description":"Everybody","Topics":[` + strings.Join(all, ",") + `]}`)
}

// writes returns the bodies of all requests that wrote the topics.
func (p *provider) writes() []string {
	var bodies []string
	for _, c := range p.recordedCalls() {
		if c.method+" "+c.path == putList {
			bodies = append(bodies, c.body)
		}
	}
	return bodies
}

// TestTopicsAreChangedBesideOthers checks ChangeTopics while another writer changes the
// topics. After a success, the last write must have the change and the topics of the other
// writer.
func TestTopicsAreChangedBesideOthers(t *testing.T) {
	t.Parallel()
	taken, collided := respondWith(`{}`), refuse(409, "ConcurrentModificationException")
	for name, test := range map[string]struct {
		read, write []http.HandlerFunc
		want        sending.FailureKind
		writes      int
		last        string // the topic of another writer that the body of our last write must contain
	}{
		"alone":             {read: []http.HandlerFunc{listOf("news"), listOf("news", "weather")}, write: []http.HandlerFunc{taken}, writes: 1, last: "news"},
		"undone in between": {read: []http.HandlerFunc{listOf("news"), listOf("news", "sport"), listOf("news", "sport", "weather")}, write: []http.HandlerFunc{taken}, writes: 2, last: "sport"},
		"at the same time":  {read: []http.HandlerFunc{listOf("news"), listOf("sport"), listOf("sport", "weather")}, write: []http.HandlerFunc{collided, taken}, writes: 2, last: "sport"},
		"always another":    {read: []http.HandlerFunc{listOf("news")}, write: []http.HandlerFunc{collided}, want: sending.Throttled, writes: 4, last: "news"},
		"always undone":     {read: []http.HandlerFunc{listOf("news")}, write: []http.HandlerFunc{taken}, want: sending.TimedOut, writes: 4, last: "news"},
		"cannot look again": {read: []http.HandlerFunc{listOf("news"), refuse(403, "AccessDeniedException")}, write: []http.HandlerFunc{taken}, writes: 1, last: "news"},
		"refused after undone": {
			read: []http.HandlerFunc{listOf("news")}, write: []http.HandlerFunc{taken, refuse(429, "TooManyRequestsException")},
			want: sending.TimedOut, writes: 3, last: "news", // 3 writes, because a throttled API call is tried twice
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t)
			p.handle(contactLists, respondWith(oneList))
			p.handle(getList, answerInTurn(test.read...))
			p.handle(putList, answerInTurn(test.write...))
			err := open(t, config(p)).ChangeTopics(t.Context(), "org", addWeather)
			if test.want == "" && err != nil {
				t.Fatal(err)
			}
			if test.want != "" {
				wantFailure(t, "the change", err, test.want)
			}
			writes := p.writes()
			if len(writes) != test.writes {
				t.Fatalf("%d writes, want %d", len(writes), test.writes)
			}
			last := writes[len(writes)-1]
			for _, kept := range []string{`"Description":"Everybody"`, `"TopicName":"weather"`, `"TopicName":"` + test.last + `"`} {
				if !strings.Contains(last, kept) {
					t.Errorf("the last write %s lacks %s", last, kept)
				}
			}
		})
	}
}

func TestTopicsThatAreNotWritten(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	p.handle(contactLists, respondWith(oneList))
	p.handle(getList, listOf(strings.Split("abcdefghijklmnopqrst", "")...))
	a := open(t, config(p))
	wantFailure(t, "a 21st topic", a.ChangeTopics(t.Context(), "org", addWeather), sending.Full)
	p.handle(getList, listOf("weather"))
	if err := a.ChangeTopics(t.Context(), "org", addWeather); !errors.Is(err, errTaken) {
		t.Errorf("a topic that there is: %v", err)
	}
	p.handle(contactLists, respondWith(`{"ContactLists":[]}`))
	wantFailure(t, "no list", a.ChangeTopics(t.Context(), "org", addWeather), sending.NotFound)
	if writes := p.writes(); len(writes) != 0 {
		t.Errorf("wrote %v", writes)
	}
}
