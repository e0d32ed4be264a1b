package demodata

import (
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/contacts"
)

var plainAddress = regexp.MustCompile(`^[a-z]+\.[a-z]+@example\.(com|org|net)$`)

var someTime = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestPeopleAreVariedAndUnique(t *testing.T) {
	t.Parallel()
	people := allPeople(someTime)
	addresses, externalIDs, onLists, kinds := map[string]bool{}, map[string]bool{}, map[string]int{}, map[string]int{}
	for _, p := range people {
		if !plainAddress.MatchString(p.Email) {
			t.Errorf("%q is no plain address of a reserved domain", p.Email)
		}
		if addresses[p.Email] {
			t.Errorf("%q occurs twice", p.Email)
		}
		addresses[p.Email] = true
		if p.ExternalID != nil {
			if externalIDs[*p.ExternalID] {
				t.Errorf("%q occurs twice", *p.ExternalID)
			}
			externalIDs[*p.ExternalID] = true
		}
		if p.CreatedAt.After(someTime) {
			t.Errorf("%s was created in the future", p.Email)
		}
		for _, key := range p.lists {
			onLists[key]++
		}
		kinds[p.Attributes["subscription"].(string)]++
	}
	if len(people) != 500 || people[0].Email != FirstEmail {
		t.Errorf("got %d people, the first is %s", len(people), people[0].Email)
	}
	if len(onLists) != 4 || len(kinds) != 4 {
		t.Errorf("lists %v and subscriptions %v, want all four of each in use", onLists, kinds)
	}
}

func TestPeopleAreTheSameEachTime(t *testing.T) {
	t.Parallel()
	ignoreID := cmpopts.IgnoreFields(contacts.Contact{}, "ID")
	if diff := cmp.Diff(allPeople(someTime), allPeople(someTime), cmp.AllowUnexported(person{}), ignoreID); diff != "" {
		t.Error(diff)
	}
}

func TestRegistryCoversEveryTypeAndEveryAttributeInUse(t *testing.T) {
	t.Parallel()
	registered, types := map[string]bool{}, map[attributes.Type]bool{}
	for _, a := range registeredAttributes(someTime) {
		registered[a.Name], types[a.Type] = true, true
	}
	if len(types) != 5 {
		t.Errorf("types in use: %v, want all five", types)
	}
	for _, p := range allPeople(someTime) {
		for name := range p.Attributes {
			if !registered[name] {
				t.Fatalf("attribute %q of %s is not in the registry", name, p.Email)
			}
		}
	}
}
