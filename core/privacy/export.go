package privacy

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/sending"
)

// ExportFormat is the value of Export.Format.
const ExportFormat = "mailhelm-person-1"

// Export is all data about one person: what the database and the sending account store. It has
// no secrets and no data of other persons.
type Export struct {
	Format     string         `json:"format"`
	OrgID      string         `json:"org_id"`
	Address    string         `json:"address"`
	ExportedAt time.Time      `json:"exported_at"`
	Account    AccountExport  `json:"sending_account"`
	Tables     []TableExport  `json:"tables"`
	Objects    []ObjectExport `json:"objects,omitempty"`
}

// AccountExport is what the sending account stores about a person.
type AccountExport struct {
	Contact    *AccountContact `json:"contact,omitempty"`
	Suppressed *Suppressed     `json:"suppressed,omitempty"`
}

// AccountContact is the consent of a contact at the sending account.
type AccountContact struct {
	Email          string                          `json:"email"`
	UnsubscribeAll bool                            `json:"unsubscribe_all"`
	Topics         map[string]sending.Subscription `json:"topics"`
	UpdatedAt      time.Time                       `json:"updated_at"`
}

// Suppressed is the entry of an address in the suppression list of the sending account.
type Suppressed struct {
	Email  string                    `json:"email"`
	Reason sending.SuppressionReason `json:"reason"`
	At     time.Time                 `json:"suppressed_at"`
}

// TableExport has the rows of the person in one table.
type TableExport struct {
	Name  string `json:"table"`
	Title string `json:"title"`
	// Kept says for how long such rows are kept.
	Kept string `json:"kept"`
	Rows []Row  `json:"rows"`
}

// ObjectExport names a file in the object store that belongs to received mail of the person.
type ObjectExport struct {
	StoreID string `json:"store_id,omitempty"`
	Key     string `json:"key"`
}

// Export returns all data about the person with an address. The audit log gets a line without
// the address. It fails like [Privacy.Count], and with core.CodeNotFound if nothing is stored
// about the person.
func (p *Privacy) Export(ctx context.Context, actor access.Actor, orgID, email string) (Export, error) {
	search, account, err := p.search(ctx, orgID, email)
	if err != nil {
		return Export{}, err
	}
	e := Export{Format: ExportFormat, OrgID: orgID, Address: search.Person.Key, ExportedAt: p.Clock(), Account: exportOf(account), Tables: []TableExport{}}
	for _, t := range OfRecipients() {
		found := TableExport{Name: t.Name, Title: t.Title, Kept: t.Kept}
		if err := p.Store.Each(ctx, search, t, func(row Row) error { found.Rows = append(found.Rows, row); return nil }); err != nil {
			return Export{}, err
		}
		if len(found.Rows) > 0 {
			e.Tables = append(e.Tables, found)
		}
	}
	if e.Objects, err = p.objects(ctx, search); err != nil {
		return Export{}, err
	}
	if len(e.Tables) == 0 && account.Contact == nil && account.Suppressed == nil {
		return Export{}, nothingStored()
	}
	return e, access.RecordAudit(ctx, p.Audit, p.Clock(), access.AuditEntry{
		Actor: actor, Action: "person.exported", OrgID: orgID, Subject: search.Person.ContactID, Detail: map[string]any{"tables": len(e.Tables)},
	})
}

func exportOf(a AccountData) AccountExport {
	var e AccountExport
	if c := a.Contact; c != nil {
		e.Contact = &AccountContact{c.Email, c.UnsubscribeAll, c.Preferences, c.UpdatedAt}
	}
	if s := a.Suppressed; s != nil {
		e.Suppressed = &Suppressed{s.Email, s.Reason, s.At}
	}
	return e
}
