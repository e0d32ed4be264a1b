package accounts

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"

	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/sending/smtp"
	"github.com/mailhelm/mailhelm/storage/consent"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Consent has the contact lists of organizations that send through an SMTP server, in the
// database. Earlier versions kept them in the file of simulated accounts of each server. Consent
// moves such a list into the database.
type Consent struct {
	consent.Store
	db *engine.DB
	// embedded has lists of earlier versions, and messages of organizations whose account was a
	// simulated one before.
	embedded *simulator.Simulator
	log      *slog.Logger
}

var _ smtp.Consent = Consent{}

// NewConsent returns the contact lists in db. embedded is the simulated accounts of this server.
func NewConsent(db *engine.DB, embedded *simulator.Simulator, log *slog.Logger) Consent {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return Consent{consent.New(db, nil), db, embedded, log}
}

// EraseAddress erases an address in the database, and in the simulated account that the
// organization had before on this server.
func (c Consent) EraseAddress(ctx context.Context, orgID, email string) error {
	if err := c.Store.EraseAddress(ctx, orgID, email); err != nil {
		return err
	}
	if err := c.embedded.EraseAddress(ctx, orgID, email); !sending.IsAbsent(err) {
		return err
	}
	return nil
}

// errInTransaction is the cause if a list would be moved in a transaction. Its rollback would
// lose the list, because the file is another database.
var errInTransaction = errors.New("the contact list is not moved in a transaction")

// Move moves the contact list of an organization from the file of simulated accounts into the
// database, if the file has one. It adds what the database does not have, in one transaction, and
// then deletes the list from the file. It may be repeated after a failure and after the process
// was killed, and called in several processes at once. It fails with a *sending.Failure.
func (c Consent) Move(ctx context.Context, orgID string) error {
	return c.embedded.HandOver(ctx, orgID, func(ctx context.Context, list simulator.HandedOver) error {
		if c.db.InTransaction(ctx) {
			return &sending.Failure{Kind: sending.Throttled, Err: errInTransaction}
		}
		hash, contacts, err := hashList(list)
		if err != nil {
			return err
		}
		if err := c.Adopt(ctx, orgID, consent.Moved{List: list.ContactList, Hash: hash, Contacts: list.Contacts}); err != nil {
			return err
		}
		c.log.InfoContext(ctx, "contact list of an SMTP account moved into the database", "org_id", orgID, "contacts", contacts)
		return nil
	})
}

// Prepare moves the contact list of an organization that sends through an SMTP server; see
// [Consent.Move]. Call it before the first use of an account and after each change of its
// connection, because the organization may have had a simulated account before.
func (c Consent) Prepare(ctx context.Context, orgID string, provider sending.Provider) error {
	if provider != sending.SMTP {
		return nil
	}
	return c.Move(ctx, orgID)
}

// hashList returns a hash of a contact list with all its contacts, and the number of contacts.
func hashList(list simulator.HandedOver) (string, int, error) {
	hash, contacts := sha256.New(), 0
	written := json.NewEncoder(hash)
	if err := written.Encode(list.ContactList); err != nil {
		return "", 0, err
	}
	for page, err := range list.Contacts() {
		if err == nil {
			err = written.Encode(page)
		}
		if err != nil {
			return "", 0, err
		}
		contacts += len(page)
	}
	return hex.EncodeToString(hash.Sum(nil)), contacts, nil
}

// MoveAll moves the contact lists of all organizations that send through an SMTP server; see
// [Consent.Move]. Call it when a server starts. A list that cannot be moved stays in the file and
// is logged; [Prepare] then refuses the account until the list was moved.
func (c Consent) MoveAll(ctx context.Context) error {
	unmoved, err := c.Unmoved(ctx)
	if err != nil {
		return err
	}
	for _, orgID := range unmoved {
		if err := c.Move(ctx, orgID); err != nil {
			c.log.ErrorContext(ctx, "contact list of an SMTP account not moved into the database", "org_id", orgID, "cause", err)
		}
	}
	return ctx.Err()
}

// Unmoved returns the organizations that send through an SMTP server and whose contact lists are
// in the file of simulated accounts.
func (c Consent) Unmoved(ctx context.Context) ([]string, error) {
	owners, err := c.embedded.ListOwners(ctx)
	if err != nil || len(owners) == 0 {
		return nil, err
	}
	served, err := c.Organizations(ctx)
	if err != nil {
		return nil, err
	}
	slices.Sort(served)
	return slices.DeleteFunc(owners, func(orgID string) bool {
		_, found := slices.BinarySearch(served, orgID)
		return !found
	}), nil
}
