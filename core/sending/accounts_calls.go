package sending

import (
	"context"
	"time"
)

// The methods below implement [Account]. Each finds the organization's account and calls
// the same method of that account.

// Overview returns quota and state of the organization's account; see [Account].
func (a *Accounts) Overview(ctx context.Context, orgID string) (Overview, error) {
	account, err := a.accountOf(ctx, orgID)
	if err != nil {
		return Overview{}, err
	}
	return account.Overview(ctx, orgID)
}

// Identities returns the domains and addresses that the organization's account may send
// from; see [Account].
func (a *Accounts) Identities(ctx context.Context, orgID string) ([]Identity, error) {
	account, err := a.accountOf(ctx, orgID)
	if err != nil {
		return nil, err
	}
	return account.Identities(ctx, orgID)
}

// ConfigurationSets returns the configuration sets of the organization's account; see
// [Account].
func (a *Accounts) ConfigurationSets(ctx context.Context, orgID string) ([]ConfigurationSet, error) {
	account, err := a.accountOf(ctx, orgID)
	if err != nil {
		return nil, err
	}
	return account.ConfigurationSets(ctx, orgID)
}

// ContactList returns the contact list of the organization's account; see [Account].
func (a *Accounts) ContactList(ctx context.Context, orgID string) (ContactList, error) {
	account, err := a.accountOf(ctx, orgID)
	if err != nil {
		return ContactList{}, err
	}
	return account.ContactList(ctx, orgID)
}

// EnsureContactList creates a contact list in the organization's account if it has none;
// see [Account].
func (a *Accounts) EnsureContactList(ctx context.Context, orgID string) error {
	account, err := a.accountOf(ctx, orgID)
	if err != nil {
		return err
	}
	return account.EnsureContactList(ctx, orgID)
}

// ChangeTopics replaces the topics in the organization's account; see [Account].
func (a *Accounts) ChangeTopics(ctx context.Context, orgID string, change TopicsChange) error {
	account, err := a.accountOf(ctx, orgID)
	if err != nil {
		return err
	}
	return account.ChangeTopics(ctx, orgID, change)
}

// Contact returns the consent of a contact in the organization's account; see [Account].
func (a *Accounts) Contact(ctx context.Context, orgID, email string) (Contact, error) {
	account, err := a.accountOf(ctx, orgID)
	if err != nil {
		return Contact{}, err
	}
	return account.Contact(ctx, orgID, email)
}

// Contacts returns a page of contacts of the organization's account; see [Account].
func (a *Accounts) Contacts(ctx context.Context, orgID, token string) ([]Contact, string, error) {
	account, err := a.accountOf(ctx, orgID)
	if err != nil {
		return nil, "", err
	}
	return account.Contacts(ctx, orgID, token)
}

// PutContact creates or replaces a contact in the organization's account; see [Account].
func (a *Accounts) PutContact(ctx context.Context, orgID string, c Contact) error {
	account, err := a.accountOf(ctx, orgID)
	if err != nil {
		return err
	}
	return account.PutContact(ctx, orgID, c)
}

// PutContacts creates or replaces several contacts in the organization's account; see
// [Account].
func (a *Accounts) PutContacts(ctx context.Context, orgID string, contacts []Contact) ([]*Failure, error) {
	account, err := a.accountOf(ctx, orgID)
	if err != nil {
		return nil, err
	}
	return account.PutContacts(ctx, orgID, contacts)
}

// DeleteContact removes a contact from the organization's account; see [Account].
func (a *Accounts) DeleteContact(ctx context.Context, orgID, email string) error {
	account, err := a.accountOf(ctx, orgID)
	if err != nil {
		return err
	}
	return account.DeleteContact(ctx, orgID, email)
}

// FindSuppressed returns an entry of the suppression list of the organization's account;
// see [Suppressions].
func (a *Accounts) FindSuppressed(ctx context.Context, orgID, email string) (Suppressed, error) {
	account, err := a.accountOf(ctx, orgID)
	if err != nil {
		return Suppressed{}, err
	}
	return account.FindSuppressed(ctx, orgID, email)
}

// SuppressedPage returns a page of the suppression list of the organization's account; see
// [Suppressions].
func (a *Accounts) SuppressedPage(ctx context.Context, orgID string, since, until time.Time, token string) ([]Suppressed, string, error) {
	account, err := a.accountOf(ctx, orgID)
	if err != nil {
		return nil, "", err
	}
	return account.SuppressedPage(ctx, orgID, since, until, token)
}

// TemplatesPage returns a page of template names of the organization's account; see
// [Templates].
func (a *Accounts) TemplatesPage(ctx context.Context, orgID, token string) ([]TemplateName, string, error) {
	account, err := a.accountOf(ctx, orgID)
	if err != nil {
		return nil, "", err
	}
	return account.TemplatesPage(ctx, orgID, token)
}

// Template returns a template of the organization's account; see [Templates].
func (a *Accounts) Template(ctx context.Context, orgID, name string) (Template, error) {
	account, err := a.accountOf(ctx, orgID)
	if err != nil {
		return Template{}, err
	}
	return account.Template(ctx, orgID, name)
}

// PutTemplate creates or replaces a template in the organization's account; see
// [Templates].
func (a *Accounts) PutTemplate(ctx context.Context, orgID string, t Template) error {
	account, err := a.accountOf(ctx, orgID)
	if err != nil {
		return err
	}
	return account.PutTemplate(ctx, orgID, t)
}

// DeleteTemplate removes a template from the organization's account; see [Templates].
func (a *Accounts) DeleteTemplate(ctx context.Context, orgID, name string) error {
	account, err := a.accountOf(ctx, orgID)
	if err != nil {
		return err
	}
	return account.DeleteTemplate(ctx, orgID, name)
}

// RequestProductionAccess requests production access for the organization's account; see
// [ProductionAccess].
func (a *Accounts) RequestProductionAccess(ctx context.Context, orgID string, r ProductionRequest) error {
	account, err := a.accountOf(ctx, orgID)
	if err != nil {
		return err
	}
	return account.RequestProductionAccess(ctx, orgID, r)
}

// Send sends a message through the organization's account; see [Sender].
func (a *Accounts) Send(ctx context.Context, orgID string, m Message) (string, error) {
	account, err := a.accountOf(ctx, orgID)
	if err != nil {
		return "", err
	}
	return account.Send(ctx, orgID, m)
}

// SendBulk sends a templated message to several recipients through the organization's
// account; see [Sender].
func (a *Accounts) SendBulk(ctx context.Context, orgID string, b Bulk) ([]BulkOutcome, error) {
	account, err := a.accountOf(ctx, orgID)
	if err != nil {
		return nil, err
	}
	return account.SendBulk(ctx, orgID, b)
}
