package mailsettings

import (
	"context"

	"github.com/mailhelm/mailhelm/core/mailsettings"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Store stores mail settings.
type Store struct{ db *engine.DB }

var _ mailsettings.Store = Store{}

// New returns the store of mail settings on the database.
func New(db *engine.DB) Store { return Store{db} }

// settingsRow has the settings of one organization.
type settingsRow struct {
	Language      string      `db:"language"`
	PostalAddress string      `db:"postal_address"`
	Footer        bool        `db:"unsubscribe_footer"`
	AssetBaseURL  string      `db:"asset_base_url"`
	UpdatedAt     engine.Time `db:"updated_at"`
}

var (
	mailSettings = engine.RegisterPoint("mail settings", `
		SELECT language, postal_address, unsubscribe_footer, asset_base_url, updated_at FROM mail_settings WHERE org_id = $1`)
	saveMailSettings = engine.Register("save mail settings", `
		INSERT INTO mail_settings (org_id, language, postal_address, unsubscribe_footer, asset_base_url, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (org_id) DO UPDATE SET language = excluded.language, postal_address = excluded.postal_address,
			unsubscribe_footer = excluded.unsubscribe_footer, asset_base_url = excluded.asset_base_url, updated_at = excluded.updated_at`)
)

func (s Store) MailSettings(ctx context.Context, orgID string) (mailsettings.Settings, error) {
	rows, err := engine.List[settingsRow](ctx, s.db, mailSettings, orgID)
	if err != nil || len(rows) == 0 {
		return mailsettings.Default(), err
	}
	r := rows[0]
	return mailsettings.Settings{
		Language: r.Language, PostalAddress: r.PostalAddress, UnsubscribeFooter: r.Footer, AssetBaseURL: r.AssetBaseURL, UpdatedAt: r.UpdatedAt.Time(),
	}, nil
}

func (s Store) SaveMailSettings(ctx context.Context, orgID string, m mailsettings.Settings) error {
	_, err := s.db.Exec(ctx, saveMailSettings, orgID, m.Language, m.PostalAddress, m.UnsubscribeFooter, m.AssetBaseURL, engine.At(m.UpdatedAt))
	return err
}
