package demodata

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/demo/mailhistory"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/topics"
)

// PeopleCount is the number of contacts in the demo.
const PeopleCount = 500

// FirstEmail is the address of the demo's first contact. The printed example commands use
// it.
const FirstEmail = "ada.almeida@example.com"

var (
	givenNames = strings.Fields(`Ada Bruno Chiara Dmitri Elif Farid Greta Hiro Ines Jonas Katya Liam Mei Nils Olga
		Pavel Quinn Rosa Samir Tove Ulla Viktor Wanda Ximena Yara Zoltan Amara Björn Carmen Désirée`)
	familyNames = strings.Fields(`Almeida Berg Castellano Dubois Eriksen Fischer García Haddad Ivanova Jansen
		Kowalski Lindqvist Moreau Novák O'Connor Petrov Quist Rossi Schäfer Tanaka Ueda Vasquez Weber Xu Yılmaz Zielinski`)
	cities  = strings.Fields("Berlin Lisboa København Wien Kraków Gent Torino Malmö Utrecht Zürich")
	domains = []string{"example.com", "example.org", "example.net"}
)

// person is a contact of the demo. lists has the keys of the static lists that the contact
// is on.
type person struct {
	contacts.Contact
	lists []string
}

// allPeople returns the demo's contacts. The random seed is fixed, so the contacts' names,
// addresses and topic choices are always the same. The contacts' dates are relative to now.
func allPeople(now time.Time) []person {
	chance := rand.New(rand.NewPCG(2606, 500)) //nolint:gosec // repeatable on purpose
	people := make([]person, PeopleCount)
	for i := range people {
		people[i] = newPerson(i, now, chance)
	}
	return people
}

// newPerson returns the contact with index i. Name and address depend on i alone. Dates,
// attributes and choices also depend on the random source chance. To get the same contacts
// each time, create all of them in order with one source.
func newPerson(i int, now time.Time, chance *rand.Rand) person {
	// With 30 given names and 26 family names, the pairs repeat after 390 people. From then
	// on, the family names are shifted by one.
	given, family := givenNames[i%len(givenNames)], familyNames[(i+i/390)%len(familyNames)]
	joined := now.Add(-time.Duration(chance.Int64N(int64(720 * 24 * time.Hour)))).Truncate(time.Second)
	p := person{Contact: contacts.Contact{
		ID: core.NewID(), Status: contacts.Active,
		Email:          fmt.Sprintf("%s.%s@%s", plainLetters(given), plainLetters(family), domains[i%len(domains)]),
		Attributes:     customer(given, family, joined, now, chance),
		UnsubscribeAll: i%37 == 36,
		CreatedAt:      joined, UpdatedAt: joined,
	}}
	// Every fifth contact has no customer number, like a person who signed up on a website.
	if i%5 != 4 {
		id := fmt.Sprintf("customer-%d", 1001+i)
		p.ExternalID = &id
	}
	p.choose(chance)
	p.join(chance)
	return p
}

// customer returns the attributes of a contact. Without orders, last_order_at is missing,
// because real data has missing values too, and spent_eur is 0. spent_eur is in euro with
// two decimals.
func customer(given, family string, joined, now time.Time, chance *rand.Rand) map[string]any {
	orders := int(chance.ExpFloat64() * 6)
	attributes := map[string]any{
		"first_name":   given,
		"last_name":    family,
		"city":         cities[chance.IntN(len(cities))],
		"subscription": plans[min(chance.IntN(8)/2, chance.IntN(len(plans)))],
		"orders":       float64(orders),
		"spent_eur":    float64(orders*1150+chance.IntN(900)) / 100 * float64(min(orders, 1)),
		"wholesale":    orders > 20,
	}
	if orders > 0 {
		since := now.Sub(joined)
		last := joined.Add(time.Duration(chance.Float64() * float64(since))).Truncate(time.Second)
		attributes["last_order_at"] = last.Format(time.RFC3339)
	}
	return attributes
}

// choose makes the person choose the opposite of the default for about one in five topics.
// For the other topics the person has no preference, so the default applies.
func (p *person) choose(chance *rand.Rand) {
	for _, t := range accountTopics {
		choice := sending.OptIn
		if t.Default == sending.OptIn {
			choice = sending.OptOut
		}
		if chance.IntN(5) == 0 {
			p.TopicPreferences = append(p.TopicPreferences, topics.Preference{Topic: t.Name, SubscriptionStatus: choice})
		}
	}
}

// join sets the lists of the contact. About two thirds are on the newsletter list. The list
// of wholesale partners has exactly the contacts whose attribute wholesale is true.
func (p *person) join(chance *rand.Rand) {
	if chance.IntN(3) > 0 {
		p.lists = append(p.lists, newsletterList)
	}
	if p.Attributes["wholesale"] == true {
		p.lists = append(p.lists, wholesaleList)
	}
	if chance.IntN(6) == 0 {
		p.lists = append(p.lists, tastingList)
	}
	if chance.IntN(20) == 0 {
		p.lists = append(p.lists, testersList)
	}
}

// consent returns the person in the form in which the sending account stores contacts.
// Topics without an explicit choice are left out; the topic's default applies to them.
func (p person) consent() sending.Contact {
	c := sending.Contact{
		Email: p.Email, UnsubscribeAll: p.UnsubscribeAll, UpdatedAt: p.UpdatedAt,
		Preferences: map[string]sending.Subscription{},
	}
	for _, choice := range p.TopicPreferences {
		c.Preferences[choice.Topic] = choice.SubscriptionStatus
	}
	return c
}

// withoutMarks replaces the diacritics in givenNames and familyNames and removes
// apostrophes. A new name with another diacritic needs another pair of arguments.
var withoutMarks = strings.NewReplacer("ö", "o", "é", "e", "í", "i", "á", "a", "ä", "a", "ı", "i", "'", "")

// plainLetters returns a name in the form used in email addresses: lower case, without
// diacritics and apostrophes.
func plainLetters(name string) string { return withoutMarks.Replace(strings.ToLower(name)) }

// audienceOf returns who received the demo's mail: everyone, and the newsletter those who signed up for
// it and did not unsubscribe.
func audienceOf(people []person) mailhistory.Audience {
	var a mailhistory.Audience
	for _, p := range people {
		a.Addresses = append(a.Addresses, p.Email)
		if !p.UnsubscribeAll && slices.Contains(p.lists, newsletterList) {
			a.Readers = append(a.Readers, p.Email)
		}
	}
	return a
}
