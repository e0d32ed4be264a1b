package ses_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
)

// TestReplacedContactListIsNoticed checks calls with the cached name of a contact list that
// was replaced. After a not-found error, each call is made again with the name of the new
// list.
func TestReplacedContactListIsNoticed(t *testing.T) {
	t.Parallel()
	replaced := strings.Replace(contact, "/people/", "/subscribers/", 1)
	page := func(path string) string { return "POST " + strings.TrimSuffix(path, "/ada%40example.com") + "/list" }
	for name, test := range map[string]struct {
		do     func(*testing.T, sending.Account) error
		asked  string // the expected request, to the new contact list
		answer http.HandlerFunc
		// the age of the cached list name; a read of a contact checks a name that is at least
		// five seconds old
		after time.Duration
	}{
		"deleted": {
			do: func(t *testing.T, a sending.Account) error {
				return a.DeleteContact(t.Context(), "org", "ada@example.com")
			},
			asked: "DELETE " + replaced, answer: respondWith(`{}`),
		},
		"looked up": {
			do: func(t *testing.T, a sending.Account) error {
				_, err := a.Contact(t.Context(), "org", "ada@example.com")
				return err
			},
			asked: "GET " + replaced, answer: respondWith(`{"EmailAddress":"ada@example.com"}`), after: 5 * time.Second,
		},
		"listed": {
			do: func(t *testing.T, a sending.Account) error {
				_, _, err := a.Contacts(t.Context(), "org", "")
				return err
			},
			asked: page(replaced), answer: respondWith(`{"Contacts":[]}`),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t)
			p.handle(contactLists, answerInTurn(respondWith(oneList), respondWith(`{"ContactLists":[{"ContactListName":"subscribers"}]}`)))
			p.handle("GET "+contact, respondWith(`{"EmailAddress":"ada@example.com"}`))
			c, now := config(p), time.Unix(0, 0)
			c.Clock = func() time.Time { return now }
			a := open(t, c)
			if _, err := a.Contact(t.Context(), "org", "ada@example.com"); err != nil {
				t.Fatal(err)
			}
			for _, gone := range []string{"GET " + contact, "DELETE " + contact, page(contact)} {
				p.handle(gone, refuse(404, "NotFoundException"))
			}
			p.handle(test.asked, test.answer)
			now = now.Add(test.after)
			if err := test.do(t, a); err != nil || p.count(test.asked) != 1 {
				t.Errorf("%v, with %d calls about the new list", err, p.count(test.asked))
			}
		})
	}
}

func TestAbsentContactsDoNotEachReadTheList(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	p.handle(contactLists, respondWith(oneList))
	p.handle("GET "+contact, refuse(404, "NotFoundException"))
	c := config(p)
	c.Clock = func() time.Time { return time.Unix(0, 0) }
	a := open(t, c)
	for range 10 {
		_, err := a.Contact(t.Context(), "org", "ada@example.com")
		wantFailure(t, "an absent contact", err, sending.NotFound)
	}
	if n := p.count(contactLists); n != 1 {
		t.Errorf("the name of the list was read %d times", n)
	}
}

// TestPutContactBesideOthers checks PutContact while another writer creates, deletes or
// changes the same contact. The contact must end with the new consent and with the other
// writer's attributes.
func TestPutContactBesideOthers(t *testing.T) {
	t.Parallel()
	create := "POST " + strings.TrimSuffix(contact, "/ada%40example.com")
	absent, there := refuse(404, "NotFoundException"), respondWith(`{"EmailAddress":"ada@example.com","AttributesData":"theirs"}`)
	done := respondWith(`{}`)
	for name, test := range map[string]struct {
		get, create, update http.HandlerFunc
		last                string
		writes              int
	}{
		"created in between":  {answerInTurn(absent, there), refuse(400, "AlreadyExistsException"), done, "PUT", 2},
		"deleted in between":  {answerInTurn(there, absent), done, absent, "POST", 2},
		"written at one time": {there, nil, answerInTurn(refuse(409, "ConcurrentModificationException"), done), "PUT", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t)
			p.handle(contactLists, respondWith(oneList))
			p.handle("GET "+contact, test.get)
			p.handle(create, test.create)
			p.handle("PUT "+contact, test.update)
			consent := sending.Contact{Email: "ada@example.com", UnsubscribeAll: true}
			if err := open(t, config(p)).PutContact(t.Context(), "org", consent); err != nil {
				t.Fatal(err)
			}
			calls := p.recordedCalls()
			last := calls[len(calls)-1]
			if writes := p.count(create) + p.count("PUT "+contact); writes != test.writes || last.method != test.last ||
				!strings.Contains(last.body, `"UnsubscribeAll":true`) || last.method == http.MethodPut && !strings.Contains(last.body, "theirs") {
				t.Errorf("%d writes, at last %+v", writes, last)
			}
		})
	}
}

// TestNothingIsDeletedFromAListThatCannotBeNamed checks that DeleteContact fails if the
// current name of the contact list cannot be read. Otherwise a not-found from an old list
// would count as success.
func TestNothingIsDeletedFromAListThatCannotBeNamed(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	p.handle(contactLists, answerInTurn(respondWith(oneList), refuse(403, "AccessDeniedException")))
	p.handle("GET "+contact, respondWith(`{"EmailAddress":"ada@example.com"}`))
	p.handle("DELETE "+contact, refuse(404, "NotFoundException"))
	a := open(t, config(p))
	if _, err := a.Contact(t.Context(), "org", "ada@example.com"); err != nil {
		t.Fatal(err)
	}
	wantFailure(t, "the list's name is refused", a.DeleteContact(t.Context(), "org", "ada@example.com"), sending.Refused)
}

// TestContactListIsMadeWhereThereIsNone checks that EnsureContactList succeeds if a
// concurrent call creates the list first. If the account does not allow Mailhelm to create
// a list, the call fails with Unsupported, which is not retried.
func TestContactListIsMadeWhereThereIsNone(t *testing.T) {
	t.Parallel()
	const create, none = "POST /v2/email/contact-lists", `{"ContactLists":[]}`
	for name, test := range map[string]struct {
		lists   []http.HandlerFunc
		made    http.HandlerFunc
		want    sending.FailureKind
		creates int
	}{
		"there already":      {[]http.HandlerFunc{respondWith(oneList)}, nil, "", 0},
		"none":               {[]http.HandlerFunc{respondWith(none)}, respondWith(`{}`), "", 1},
		"made meanwhile":     {[]http.HandlerFunc{respondWith(none), respondWith(oneList)}, refuse(400, "AlreadyExistsException"), "", 1},
		"one is the limit":   {[]http.HandlerFunc{respondWith(none), respondWith(oneList)}, refuse(400, "BadRequestException"), "", 1},
		"not allowed":        {[]http.HandlerFunc{respondWith(none)}, refuse(403, "AccessDeniedException"), sending.Unsupported, 1},
		"a key that is none": {[]http.HandlerFunc{respondWith(none)}, refuse(403, "UnrecognizedClientException"), sending.Refused, 1},
		"slow down":          {[]http.HandlerFunc{respondWith(none)}, refuse(429, "TooManyRequestsException"), sending.Throttled, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t)
			p.handle(contactLists, answerInTurn(test.lists...))
			p.handle(create, test.made)
			err := open(t, config(p)).EnsureContactList(t.Context(), "org")
			if test.want != "" {
				wantFailure(t, name, err, test.want)
			} else if err != nil {
				t.Error(err)
			}
			if n := p.count(create); n != test.creates {
				t.Errorf("%d calls to make a list, want %d", n, test.creates)
			}
		})
	}
}
