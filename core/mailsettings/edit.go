package mailsettings

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Store stores mail settings. Both methods take part in the transaction of their context,
// and read and write only the data of the given organization.
type Store interface {
	// MailSettings returns the settings of an organization, [Default] if it has changed none.
	MailSettings(ctx context.Context, orgID string) (Settings, error)
	// SaveMailSettings replaces all settings.
	SaveMailSettings(ctx context.Context, orgID string, s Settings) error
}

// Config configures [MailSettings]. All fields are required.
type Config struct {
	Store Store
	// OnChange is called in the transaction of a change. An error undoes the change.
	OnChange func(ctx context.Context, orgID string) error
	Clock    core.Clock
}

// MailSettings reads and changes the mail settings of organizations.
type MailSettings struct{ Config }

// New returns MailSettings that use the configuration.
func New(cfg Config) *MailSettings { return &MailSettings{cfg} }

// Of returns the settings of an organization, [Default] if it has changed none.
func (m *MailSettings) Of(ctx context.Context, orgID string) (Settings, error) {
	return m.Store.MailSettings(ctx, orgID)
}

// Edit replaces the settings and returns those before and after. It must run in a
// transaction. If nothing differs, it stores nothing. It fails with
// core.CodeValidationFailed for a value that a setting cannot have.
func (m *MailSettings) Edit(ctx context.Context, orgID string, wanted Settings) (before, after Settings, err error) {
	if wanted, err = wanted.Checked(); err != nil {
		return Settings{}, Settings{}, err
	}
	if before, err = m.Store.MailSettings(ctx, orgID); err != nil {
		return Settings{}, Settings{}, err
	}
	wanted.UpdatedAt = before.UpdatedAt
	if wanted == before {
		return before, before, nil
	}
	// Every change has a later time than the change before, so that deployed templates are
	// found to be older.
	wanted.UpdatedAt = m.Clock()
	if !wanted.UpdatedAt.After(before.UpdatedAt) {
		wanted.UpdatedAt = before.UpdatedAt.Add(time.Microsecond) // the unit of stored times
	}
	if err := m.Store.SaveMailSettings(ctx, orgID, wanted); err != nil {
		return Settings{}, Settings{}, err
	}
	return before, wanted, m.OnChange(ctx, orgID)
}
