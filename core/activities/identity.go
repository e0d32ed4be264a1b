package activities

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// maxLooks is how often a batch of activities looks up and stores its contacts before it
// fails. A try fails when another call creates or changes one of the contacts at the same
// time. The next try reads what the other call stored, so the second try nearly always
// succeeds.
const maxLooks = 5

// identify sets the contact of each item. It creates stubs and binds external ids as the
// items require. The rules:
//   - A known external id selects its contact, and the item's address is ignored.
//   - Otherwise an address selects its contact, or a new stub.
//   - An unknown external id that came with an address is bound to the contact of the
//     address. If that contact has another external id, the item fails with
//     external_id_conflict.
//   - An unknown external id without an address fails with unknown_external_id.
//
// Items of a batch are handled in order: a later item finds the contacts that an earlier
// item created. An archived contact is found like any other and stays archived.
func (a *Activities) identify(ctx context.Context, orgID string, items []sent, now time.Time) error {
	emails, externals := identitiesOf(items)
	if len(emails)+len(externals) == 0 {
		return nil
	}
	for range maxLooks {
		known, err := a.Store.Identify(ctx, orgID, emails, externals)
		if err != nil {
			return err
		}
		people := newPeople(known)
		for i := range items {
			if items[i].reason == "" || items[i].reason == UnknownExternalID || items[i].reason == ExternalIDConflict {
				items[i].contactID, items[i].reason = people.contactOf(&items[i])
			}
		}
		settled, err := a.settle(ctx, orgID, people, now)
		if err != nil || settled {
			return err
		}
	}
	return &core.Error{
		Code: core.CodeContactClaimRace, RetryAfter: time.Second,
		Message: "Other calls created or changed the contacts of these activities at the same moment. No activity was recorded.",
	}
}

// settle stores the new contacts and the newly bound external ids in p. A new contact is a
// stub, known only from activities. settle returns false if another call has created one of
// these contacts, or bound one of these ids, since p was read.
func (a *Activities) settle(ctx context.Context, orgID string, p *people, now time.Time) (bool, error) {
	made, bound := p.createdPeople(), p.boundPeople()
	if len(made) > 0 {
		n, err := a.Store.InsertStubs(ctx, orgID, made, now)
		if err != nil || n < len(made) {
			return false, err
		}
	}
	if len(bound) > 0 {
		n, err := a.Store.BindExternalIDs(ctx, orgID, bound, now)
		if err != nil || n < len(bound) {
			return false, err
		}
	}
	return true, nil
}

// identitiesOf returns the keys by which to find the contacts of the items that were not
// refused: the distinct email keys and the distinct external ids.
func identitiesOf(items []sent) ([]string, []string) {
	var emails, externals []string
	for i := range items {
		if items[i].reason != "" {
			continue
		}
		if items[i].emailKey != "" {
			emails = append(emails, items[i].emailKey)
		}
		if items[i].externalID != "" {
			externals = append(externals, items[i].externalID)
		}
	}
	return distinct(emails), distinct(externals)
}

func distinct(texts []string) []string {
	slices.Sort(texts)
	return slices.Compact(texts)
}

// people has the contacts of a batch of activities, existing and new ones, by email key and
// by external id.
type people struct {
	byEmail, byExternal map[string]*identity
}

type identity struct {
	Person
	isNew, binds bool
}

func newPeople(known []Person) *people {
	p := &people{byEmail: make(map[string]*identity, len(known)), byExternal: make(map[string]*identity, len(known))}
	for _, person := range known {
		p.add(&identity{Person: person})
	}
	return p
}

func (p *people) add(i *identity) {
	p.byEmail[i.EmailKey] = i
	if i.ExternalID != "" {
		p.byExternal[i.ExternalID] = i
	}
}

// contactOf returns the id of the item's contact, or the reason for which the item is
// refused.
func (p *people) contactOf(s *sent) (string, Reason) {
	if s.externalID != "" {
		if known, ok := p.byExternal[s.externalID]; ok {
			return known.ID, ""
		}
		if s.emailKey == "" {
			return "", UnknownExternalID
		}
	}
	known, ok := p.byEmail[s.emailKey]
	switch {
	case !ok:
		known = &identity{isNew: true, Person: Person{
			ID: core.NewID(), Email: s.email, EmailKey: s.emailKey, ExternalID: s.externalID,
		}}
		p.add(known)
	case s.externalID == "":
	case known.ExternalID != "":
		return "", ExternalIDConflict
	default:
		known.ExternalID, known.binds = s.externalID, true
		p.add(known)
	}
	return known.ID, ""
}

func (p *people) createdPeople() []Person {
	return p.sortedPeople(func(i *identity) bool { return i.isNew })
}

func (p *people) boundPeople() []Person {
	return p.sortedPeople(func(i *identity) bool { return i.binds && !i.isNew })
}

// sortedPeople returns the contacts for which the function in the parameter are returns
// true. They are sorted by email key, so that two batches lock the same contacts in the
// same order.
func (p *people) sortedPeople(are func(*identity) bool) []Person {
	var found []Person
	for _, i := range p.byEmail {
		if are(i) {
			found = append(found, i.Person)
		}
	}
	slices.SortFunc(found, func(a, b Person) int { return strings.Compare(a.EmailKey, b.EmailKey) })
	return found
}
