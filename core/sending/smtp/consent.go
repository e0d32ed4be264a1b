package smtp

import (
	"context"
	"errors"

	"github.com/mailhelm/mailhelm/core/sending"
)

// ContactList returns the organization's contact list from Config.Consent. It fails with
// NotFound if there is none.
func (s *SMTP) ContactList(ctx context.Context, orgID string) (list sending.ContactList, err error) {
	err = s.consent(ctx, orgID, func(ctx context.Context, kept Consent) error {
		list, err = kept.ContactList(ctx, orgID)
		return err
	})
	return list, err
}

// EnsureContactList creates a contact list in Config.Consent if the organization has none.
func (s *SMTP) EnsureContactList(ctx context.Context, orgID string) error {
	return s.consent(ctx, orgID, func(ctx context.Context, kept Consent) error { return kept.EnsureContactList(ctx, orgID) })
}

// ChangeTopics changes the organization's topics in Config.Consent.
func (s *SMTP) ChangeTopics(ctx context.Context, orgID string, change sending.TopicsChange) error {
	return s.consent(ctx, orgID, func(ctx context.Context, kept Consent) error { return kept.ChangeTopics(ctx, orgID, change) })
}

// Contact returns one of the organization's contacts from Config.Consent.
func (s *SMTP) Contact(ctx context.Context, orgID, email string) (c sending.Contact, err error) {
	err = s.consent(ctx, orgID, func(ctx context.Context, kept Consent) error {
		c, err = kept.Contact(ctx, orgID, email)
		return err
	})
	return c, err
}

// Contacts returns a page of the organization's contacts from Config.Consent.
func (s *SMTP) Contacts(ctx context.Context, orgID, token string) (page []sending.Contact, next string, err error) {
	err = s.consent(ctx, orgID, func(ctx context.Context, kept Consent) error {
		page, next, err = kept.Contacts(ctx, orgID, token)
		return err
	})
	return page, next, err
}

// PutContact stores the contact in Config.Consent.
func (s *SMTP) PutContact(ctx context.Context, orgID string, c sending.Contact) error {
	return s.consent(ctx, orgID, func(ctx context.Context, kept Consent) error { return kept.PutContact(ctx, orgID, c) })
}

// PutContacts stores the contacts in Config.Consent and returns the outcomes that
// Config.Consent reports.
func (s *SMTP) PutContacts(ctx context.Context, orgID string, contacts []sending.Contact) (outcomes []*sending.Failure, err error) {
	err = s.consent(ctx, orgID, func(ctx context.Context, kept Consent) error {
		outcomes, err = kept.PutContacts(ctx, orgID, contacts)
		return err
	})
	return outcomes, err
}

// DeleteContact removes the address from the contact list in Config.Consent. It succeeds if
// there is no contact list.
func (s *SMTP) DeleteContact(ctx context.Context, orgID, email string) error {
	err := s.consent(ctx, orgID, func(ctx context.Context, kept Consent) error {
		return kept.DeleteContact(ctx, orgID, email)
	})
	if sending.IsNotFound(err) {
		return nil
	}
	return err
}

// EraseAddress erases the address in Config.Consent. The server itself stores no addresses.
func (s *SMTP) EraseAddress(ctx context.Context, orgID, email string) error {
	err := s.consent(ctx, orgID, func(ctx context.Context, kept Consent) error {
		return kept.EraseAddress(ctx, orgID, email)
	})
	if sending.IsNotFound(err) {
		return nil
	}
	return err
}

var errNoList = errors.New("smtp: no contact list was set up")

// consent calls the function call with Config.Consent. If Consent has no account for the
// organization (NotConnected), consent fails with NotFound. The organization has a sending
// account in this case, and only the contact list is missing.
func (s *SMTP) consent(ctx context.Context, orgID string, call func(context.Context, Consent) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	if _, err := s.server(ctx, orgID); err != nil {
		return err
	}
	if s.cfg.Consent == nil {
		return newFailure(sending.NotFound, errNoList)
	}
	err := call(ctx, s.cfg.Consent)
	if f, ok := errors.AsType[*sending.Failure](err); ok && f.Kind == sending.NotConnected {
		return newFailure(sending.NotFound, errNoList)
	}
	return err
}
