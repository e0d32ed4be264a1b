package sending

import (
	"context"
	"time"
)

// The methods below implement the port. Each finds the organization's account and calls
// the same method of it.

// Overview calls Overview of the organization's account.
func (a *Accounts) Overview(ctx context.Context, orgID string) (Overview, error) {
	account, err := a.accountOf(ctx, orgID)
	if err != nil {
		return Overview{}, err
	}
	return account.Overview(ctx, orgID)
}

// Identities calls Identities of the organization's account.
func (a *Accounts) Identities(ctx context.Context, orgID string) ([]Identity, error) {
	account, err := a.accountOf(ctx, orgID)
	if err != nil {
		return nil, err
	}
	return account.Identities(ctx, orgID)
}

// ConfigurationSets calls ConfigurationSets of the organization's account.
func (a *Accounts) ConfigurationSets(ctx context.Context, orgID string) ([]ConfigurationSet, error) {
	account, err := a.accountOf(ctx, orgID)
	if err != nil {
		return nil, err
	}
	return account.ConfigurationSets(ctx, orgID)
}

// ContactList calls ContactList of the organization's account.
func (a *Accounts) ContactList(ctx context.Context, orgID string) (ContactList, error) {
	account, err := a.accountOf(ctx, orgID)
	if err != nil {
		return ContactList{}, err
	}
	return account.ContactList(ctx, orgID)
}

// EnsureContactList calls EnsureContactList of the organization's account.
func (a *Accounts) EnsureContactList(ctx context.Context, orgID string) error {
	account, err := a.accountOf(ctx, orgID)
	if err != nil {
		return err
	}
	return account.EnsureContactList(ctx, orgID)
}

// ChangeTopics calls ChangeTopics of the organization's account.
func (a *Accounts) ChangeTopics(ctx context.Context, orgID string, change TopicsChange) error {
	account, err := a.accountOf(ctx, orgID)
	if err != nil {
		return err
	}
	return account.ChangeTopics(ctx, orgID, change)
}

// Contact calls Contact of the organization's account.
func (a *Accounts) Contact(ctx context.Context, orgID, email string) (Contact, error) {
	account, err := a.accountOf(ctx, orgID)
	if err != nil {
		return Contact{}, err
	}
	return account.Contact(ctx, orgID, email)
}

// Contacts calls Contacts of the organization's account.
func (a *Accounts) Contacts(ctx context.Context, orgID, token string) ([]Contact, string, error) {
	account, err := a.accountOf(ctx, orgID)
	if err != nil {
		return nil, "", err
	}
	return account.Contacts(ctx, orgID, token)
}

// PutContact calls PutContact of the organization's account.
func (a *Accounts) PutContact(ctx context.Context, orgID string, c Contact) error {
	account, err := a.accountOf(ctx, orgID)
	if err != nil {
		return err
	}
	return account.PutContact(ctx, orgID, c)
}

// PutContacts calls PutContacts of the organization's account.
func (a *Accounts) PutContacts(ctx context.Context, orgID string, contacts []Contact) ([]*Failure, error) {
	account, err := a.accountOf(ctx, orgID)
	if err != nil {
		return nil, err
	}
	return account.PutContacts(ctx, orgID, contacts)
}

// DeleteContact calls DeleteContact of the organization's account.
func (a *Accounts) DeleteContact(ctx context.Context, orgID, email string) error {
	account, err := a.accountOf(ctx, orgID)
	if err != nil {
		return err
	}
	return account.DeleteContact(ctx, orgID, email)
}

// FindSuppressed calls Suppressed of the organization's account.
func (a *Accounts) FindSuppressed(ctx context.Context, orgID, email string) (Suppressed, error) {
	account, err := a.accountOf(ctx, orgID)
	if err != nil {
		return Suppressed{}, err
	}
	return account.FindSuppressed(ctx, orgID, email)
}

// SuppressedPage calls SuppressedPage of the organization's account.
func (a *Accounts) SuppressedPage(ctx context.Context, orgID string, since, until time.Time, token string) ([]Suppressed, string, error) {
	account, err := a.accountOf(ctx, orgID)
	if err != nil {
		return nil, "", err
	}
	return account.SuppressedPage(ctx, orgID, since, until, token)
}

// TemplatesPage calls TemplatesPage of the organization's account.
func (a *Accounts) TemplatesPage(ctx context.Context, orgID, token string) ([]TemplateName, string, error) {
	account, err := a.accountOf(ctx, orgID)
	if err != nil {
		return nil, "", err
	}
	return account.TemplatesPage(ctx, orgID, token)
}

// Template calls Template of the organization's account.
func (a *Accounts) Template(ctx context.Context, orgID, name string) (Template, error) {
	account, err := a.accountOf(ctx, orgID)
	if err != nil {
		return Template{}, err
	}
	return account.Template(ctx, orgID, name)
}

// PutTemplate calls PutTemplate of the organization's account.
func (a *Accounts) PutTemplate(ctx context.Context, orgID string, t Template) error {
	account, err := a.accountOf(ctx, orgID)
	if err != nil {
		return err
	}
	return account.PutTemplate(ctx, orgID, t)
}

// DeleteTemplate calls DeleteTemplate of the organization's account.
func (a *Accounts) DeleteTemplate(ctx context.Context, orgID, name string) error {
	account, err := a.accountOf(ctx, orgID)
	if err != nil {
		return err
	}
	return account.DeleteTemplate(ctx, orgID, name)
}

// RequestProductionAccess calls RequestProductionAccess of the organization's account.
func (a *Accounts) RequestProductionAccess(ctx context.Context, orgID string, r ProductionRequest) error {
	account, err := a.accountOf(ctx, orgID)
	if err != nil {
		return err
	}
	return account.RequestProductionAccess(ctx, orgID, r)
}

// Send calls Send of the organization's account.
func (a *Accounts) Send(ctx context.Context, orgID string, m Message) (string, error) {
	account, err := a.accountOf(ctx, orgID)
	if err != nil {
		return "", err
	}
	return account.Send(ctx, orgID, m)
}

// SendBulk calls SendBulk of the organization's account.
func (a *Accounts) SendBulk(ctx context.Context, orgID string, b Bulk) ([]BulkOutcome, error) {
	account, err := a.accountOf(ctx, orgID)
	if err != nil {
		return nil, err
	}
	return account.SendBulk(ctx, orgID, b)
}
