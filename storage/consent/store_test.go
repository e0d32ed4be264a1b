package consent_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/consent"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

const org = "org"

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// add returns a change that adds topics.
func add(names ...string) sending.TopicsChange {
	return func(topics []sending.Topic) ([]sending.Topic, error) {
		for _, name := range names {
			topics = append(topics, sending.Topic{Name: name, Default: sending.OptIn})
		}
		return topics, nil
	}
}

// TestConsentTakesPartInTransactions writes and reads in an open transaction. On SQLite, which has
// one connection that writes, a second transaction would wait for the first one for ever.
func TestConsentTakesPartInTransactions(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		s := db.Consent()
		must(t, s.EnsureContactList(t.Context(), org))
		undo := errors.New("undo")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := db.InTx(ctx, func(ctx context.Context) error {
			must(t, s.EnsureContactList(ctx, "other"))
			must(t, s.ChangeTopics(ctx, org, add("news")))
			must(t, s.PutContact(ctx, org, sending.Contact{Email: "ada@example.com", Preferences: map[string]sending.Subscription{"news": sending.OptOut}}))
			if c, err := s.Contact(ctx, org, "ADA@example.com"); err != nil || c.Preferences["news"] != sending.OptOut {
				t.Errorf("in the transaction the contact is %+v, %v", c, err)
			}
			if page, _, err := s.Contacts(ctx, org, ""); err != nil || len(page) != 1 {
				t.Errorf("in the transaction there are %v, %v", page, err)
			}
			must(t, s.DeleteContact(ctx, org, "nobody@example.com"))
			return undo
		})
		if !errors.Is(err, undo) {
			t.Fatal(err)
		}
		if list, err := s.ContactList(t.Context(), org); err != nil || len(list.Topics) != 0 {
			t.Errorf("after the rollback the list is %+v, %v", list, err)
		}
		if _, err := s.Contact(t.Context(), org, "ada@example.com"); !sending.IsNotFound(err) {
			t.Errorf("after the rollback the contact is there: %v", err)
		}
	})
}

// TestOutagesAreThoseOfTheDatabase calls every method while the database is away. API callers must
// get the answer that they get for every other call.
func TestOutagesAreThoseOfTheDatabase(t *testing.T) {
	t.Parallel()
	dir := enginetest.Folder(t)
	enginetest.CopySQLite(t, dir)
	db, err := storage.Open(t.Context(), storage.Config{Dir: dir})
	must(t, err)
	s := db.Consent()
	must(t, db.Close())
	ctx := t.Context()
	for name, call := range map[string]func() error{
		"ContactList":       func() error { _, err := s.ContactList(ctx, org); return err },
		"EnsureContactList": func() error { return s.EnsureContactList(ctx, org) },
		"ChangeTopics":      func() error { return s.ChangeTopics(ctx, org, add("news")) },
		"Contact":           func() error { _, err := s.Contact(ctx, org, "ada@example.com"); return err },
		"Contacts":          func() error { _, _, err := s.Contacts(ctx, org, ""); return err },
		"PutContact":        func() error { return s.PutContact(ctx, org, sending.Contact{Email: "ada@example.com"}) },
		"DeleteContact":     func() error { return s.DeleteContact(ctx, org, "ada@example.com") },
		"EraseAddress":      func() error { return s.EraseAddress(ctx, org, "ada@example.com") },
	} {
		err := call()
		f, ok := errors.AsType[*sending.Failure](err)
		if !ok || sending.IsRefusedObject(err) || sending.IsAbsent(err) || f.Kind == sending.Refused {
			t.Errorf("%s fails for good: %v", name, err)
		}
		if e := core.AsError(sending.Unavailable(err)); e.Code != core.CodeTemporarilyUnavailable || e.RetryAfter == 0 {
			t.Errorf("%s answers %v", name, e)
		}
	}
}

// TestTopicsChangeOnceInAllProcesses changes topics through several connections of two open
// databases at once. No change may be lost, and no contact may have a choice about a topic that
// is gone.
func TestTopicsChangeOnceInAllProcesses(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		s := db.Consent()
		must(t, s.EnsureContactList(t.Context(), org))
		must(t, s.ChangeTopics(t.Context(), org, add("news")))
		var writers sync.WaitGroup
		failures := make(chan error, 12)
		for i := range 6 {
			writers.Go(func() { failures <- s.ChangeTopics(t.Context(), org, add(fmt.Sprint("topic-", i))) })
			writers.Go(func() {
				c := sending.Contact{Email: fmt.Sprintf("p%d@example.com", i), Preferences: map[string]sending.Subscription{"news": sending.OptOut}}
				if err := s.PutContact(t.Context(), org, c); !sending.IsInvalid(err) { // the topic is gone
					failures <- err
				}
			})
		}
		writers.Go(func() {
			must(t, s.ChangeTopics(t.Context(), org, func(topics []sending.Topic) ([]sending.Topic, error) {
				return slices.DeleteFunc(topics, func(topic sending.Topic) bool { return topic.Name == "news" }), nil
			}))
		})
		writers.Wait()
		close(failures)
		for err := range failures {
			must(t, err)
		}
		list, err := s.ContactList(t.Context(), org)
		if err != nil || len(list.Topics) != 6 {
			t.Errorf("the list is %+v, %v", list, err)
		}
		page, _, err := s.Contacts(t.Context(), org, "")
		must(t, err)
		for _, c := range page {
			if len(c.Preferences) > 0 {
				t.Errorf("%+v has a choice about a topic that is gone", c)
			}
		}
	})
}

// TestContactsAreAddedBehindEveryToken begins to add a contact, and adds another one from another
// connection. The second must wait, because a page with it and without the first would end behind
// the first.
func TestContactsAreAddedBehindEveryToken(t *testing.T) {
	t.Parallel()
	db := storagetest.Postgres(t)
	s := db.Consent()
	must(t, s.EnsureContactList(t.Context(), org))
	second := make(chan error, 1)
	must(t, db.InTx(t.Context(), func(ctx context.Context) error {
		if err := s.PutContact(ctx, org, sending.Contact{Email: "first@example.com"}); err != nil {
			return err
		}
		go func() { second <- s.PutContact(t.Context(), org, sending.Contact{Email: "second@example.com"}) }()
		for waiting := 0; waiting == 0; {
			if err := db.Reader().QueryRowContext(t.Context(), `SELECT count(*) FROM pg_locks WHERE NOT granted`).Scan(&waiting); err != nil {
				return err
			}
		}
		if page, _, err := s.Contacts(t.Context(), org, ""); err != nil || len(page) != 0 {
			t.Errorf("before the first is committed, a page has %v, %v", page, err)
		}
		return nil
	}))
	must(t, <-second)
	page, _, err := s.Contacts(t.Context(), org, "")
	if err != nil || len(page) != 2 || page[0].Email != "first@example.com" {
		t.Errorf("the page has %v, %v", page, err)
	}
}

// moved returns a list with contacts to adopt.
func moved(hash string, topics []sending.Topic, contacts ...sending.Contact) consent.Moved {
	return consent.Moved{
		List: sending.ContactList{Name: "people", Description: "All", Topics: topics, UpdatedAt: start}, Hash: hash,
		Contacts: func() iter.Seq2[[]sending.Contact, error] {
			return func(yield func([]sending.Contact, error) bool) { yield(contacts, nil) }
		},
	}
}

// TestAdoptedListsChangeNothing adopts lists from two files. Stored topics and contacts must not
// change. A list that was adopted already must add nothing, so that an erased contact stays
// erased.
func TestAdoptedListsChangeNothing(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		s := db.Consent()
		news, offers := sending.Topic{Name: "news", DisplayName: "News", Default: sending.OptIn}, sending.Topic{Name: "offers", Default: sending.OptOut}
		optedOut := map[string]sending.Subscription{"news": sending.OptOut}
		first := moved("one", []sending.Topic{news}, sending.Contact{Email: "Ada@example.com", Preferences: optedOut, UpdatedAt: start}, sending.Contact{Email: "gone@example.com", UnsubscribeAll: true, UpdatedAt: start})
		must(t, s.Adopt(t.Context(), org, first))
		list, err := s.ContactList(t.Context(), org)
		if diff := cmp.Diff(first.List, list); err != nil || diff != "" {
			t.Errorf("%v, the list (-want +got):\n%s", err, diff)
		}
		must(t, s.DeleteContact(t.Context(), org, "gone@example.com"))
		must(t, s.Adopt(t.Context(), org, first))
		changed := news
		changed.DisplayName = "Other"
		must(t, s.Adopt(t.Context(), org, moved("two", []sending.Topic{changed, offers}, sending.Contact{Email: "ada@EXAMPLE.com", UnsubscribeAll: true, UpdatedAt: start.Add(time.Hour)}, sending.Contact{Email: "bob@example.com", UpdatedAt: start})))
		page, _, err := s.Contacts(t.Context(), org, "")
		must(t, err)
		want := []sending.Contact{
			{Email: "Ada@example.com", Preferences: optedOut, UpdatedAt: start},
			{Email: "bob@example.com", Preferences: map[string]sending.Subscription{}, UpdatedAt: start},
		}
		if diff := cmp.Diff(want, page); diff != "" {
			t.Errorf("the contacts (-want +got):\n%s", diff)
		}
		if list, err := s.ContactList(t.Context(), org); err != nil || !slices.Equal(list.Topics, []sending.Topic{news, offers}) {
			t.Errorf("the list is %+v, %v", list, err)
		}
	})
}
