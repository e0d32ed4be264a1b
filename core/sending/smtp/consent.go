package smtp

import (
	"context"
	"errors"

	"github.com/mailhelm/mailhelm/core/sending"
)

// ContactList reads the list that Consent keeps.
func (s *SMTP) ContactList(ctx context.Context, orgID string) (list sending.ContactList, err error) {
	err = s.consent(ctx, orgID, func(ctx context.Context, kept Consent) error {
		list, err = kept.ContactList(ctx, orgID)
		return err
	})
	return list, err
}

// EnsureContactList has Consent make the list.
func (s *SMTP) EnsureContactList(ctx context.Context, orgID string) error {
	return s.consent(ctx, orgID, func(ctx context.Context, kept Consent) error { return kept.EnsureContactList(ctx, orgID) })
}

// ChangeTopics hands the change to Consent.
func (s *SMTP) ChangeTopics(ctx context.Context, orgID string, change sending.TopicsChange) error {
	return s.consent(ctx, orgID, func(ctx context.Context, kept Consent) error { return kept.ChangeTopics(ctx, orgID, change) })
}

// Contact reads one contact that Consent keeps.
func (s *SMTP) Contact(ctx context.Context, orgID, email string) (c sending.Contact, err error) {
	err = s.consent(ctx, orgID, func(ctx context.Context, kept Consent) error {
		c, err = kept.Contact(ctx, orgID, email)
		return err
	})
	return c, err
}

// Contacts reads a page of the contacts that Consent keeps.
func (s *SMTP) Contacts(ctx context.Context, orgID, token string) (page []sending.Contact, next string, err error) {
	err = s.consent(ctx, orgID, func(ctx context.Context, kept Consent) error {
		page, next, err = kept.Contacts(ctx, orgID, token)
		return err
	})
	return page, next, err
}

// PutContact hands the contact to Consent.
func (s *SMTP) PutContact(ctx context.Context, orgID string, c sending.Contact) error {
	return s.consent(ctx, orgID, func(ctx context.Context, kept Consent) error { return kept.PutContact(ctx, orgID, c) })
}

// PutContacts hands the contacts to Consent.
func (s *SMTP) PutContacts(ctx context.Context, orgID string, contacts []sending.Contact) (outcomes []*sending.Failure, err error) {
	err = s.consent(ctx, orgID, func(ctx context.Context, kept Consent) error {
		outcomes, err = kept.PutContacts(ctx, orgID, contacts)
		return err
	})
	return outcomes, err
}

// DeleteContact takes the address off the list that Consent keeps. Where no list
// was set up, there is nothing to take off.
func (s *SMTP) DeleteContact(ctx context.Context, orgID, email string) error {
	err := s.consent(ctx, orgID, func(ctx context.Context, kept Consent) error {
		return kept.DeleteContact(ctx, orgID, email)
	})
	if sending.IsNotFound(err) {
		return nil
	}
	return err
}

var errNoList = errors.New("smtp: no contact list was set up")

// consent runs a call of Consent. The organization has an account, so a store that
// does not know it says no more than that it has no list there.
func (s *SMTP) consent(ctx context.Context, orgID string, call func(context.Context, Consent) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	if _, err := s.server(ctx, orgID); err != nil {
		return err
	}
	if s.cfg.Consent == nil {
		return failed(sending.NotFound, errNoList)
	}
	err := call(ctx, s.cfg.Consent)
	if f, ok := errors.AsType[*sending.Failure](err); ok && f.Kind == sending.NotConnected {
		return failed(sending.NotFound, errNoList)
	}
	return err
}
