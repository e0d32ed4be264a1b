package privacy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/topics"
)

// Account is what a sending account stores about a person.
type Account interface {
	Contact(ctx context.Context, orgID, email string) (sending.Contact, error)
	FindSuppressed(ctx context.Context, orgID, email string) (sending.Suppressed, error)
	sending.Eraser
}

// Objects deletes objects from the stores of an organization. Missing objects are no error.
type Objects interface {
	DeleteObjects(ctx context.Context, orgID, storeID string, keys []string) error
}

// Runs ends runs of workflows.
type Runs interface {
	// EndRunsOf ends the active runs of a contact. It takes part in the transaction of its
	// context.
	EndRunsOf(ctx context.Context, orgID, contactID string, now time.Time) error
}

// Config has the dependencies of a [Privacy]. All fields are required.
type Config struct {
	Store      Store
	Tombstones TombstoneStore
	Hasher     Hasher
	Former     Former
	Account    Account
	Objects    Objects
	Runs       Runs
	Audit      access.AuditAppender
	// Journal keeps tombstones outside of the database, for the time after an older copy of the
	// database was restored.
	Journal    Journal
	Transactor core.Transactor
	Clock      core.Clock
}

// Privacy exports and erases the data of persons.
type Privacy struct{ Config }

// New returns a Privacy.
func New(cfg Config) *Privacy { return &Privacy{cfg} }

// With returns a Privacy with other transactions.
func (p *Privacy) With(t core.Transactor) *Privacy {
	cfg := p.Config
	cfg.Transactor = t
	return New(cfg)
}

// Report says what is stored about a person, or what was erased.
type Report struct {
	// Tables has the tables with rows of the person, in the order of the register.
	Tables []TableCount
	// Account is what the sending account stores.
	Account AccountData
	// Refuses is the reason why mail to the address is refused after the erasure.
	Refuses Refusal
}

// TableCount is the number of a person's rows in a table.
type TableCount struct {
	Table Table
	Rows  int
}

// AccountData is what the sending account stores about a person. The fields are nil if it
// stores nothing.
type AccountData struct {
	Contact    *sending.Contact
	Suppressed *sending.Suppressed
}

// Empty reports whether nothing is stored about the person.
func (r Report) Empty() bool {
	return len(r.Tables) == 0 && r.Account.Contact == nil && r.Account.Suppressed == nil
}

// Count returns what is stored about the person with an address. It changes nothing. It fails
// with core.CodeValidationFailed for a text that is not an address, and with
// core.CodeUpstreamUnavailable if the sending account does not answer.
func (p *Privacy) Count(ctx context.Context, orgID, email string) (Report, error) {
	search, account, err := p.search(ctx, orgID, email)
	if err != nil {
		return Report{}, err
	}
	tables, err := p.count(ctx, search)
	return Report{Tables: tables, Account: account, Refuses: refusal(search.Person, account)}, err
}

// search finds a person in the database and at the sending account.
func (p *Privacy) search(ctx context.Context, orgID, email string) (Search, AccountData, error) {
	canonical, ok := core.CanonicalEmail(email)
	if !ok {
		return Search{}, AccountData{}, core.Invalid("address", "must be an email address")
	}
	person, err := p.Store.Person(ctx, orgID, core.EmailKey(canonical))
	if err != nil {
		return Search{}, AccountData{}, err
	}
	account, err := p.accountData(ctx, orgID, person.Key)
	return NewSearch(orgID, person), account, err
}

func (p *Privacy) accountData(ctx context.Context, orgID, email string) (AccountData, error) {
	var data AccountData
	contact, err := p.Account.Contact(ctx, orgID, email)
	if err == nil {
		data.Contact = &contact
	} else if !isNothing(err) {
		return data, sending.Unavailable(err)
	}
	suppressed, err := p.Account.FindSuppressed(ctx, orgID, email)
	if err == nil {
		data.Suppressed = &suppressed
	} else if !isNothing(err) {
		return data, sending.Unavailable(err)
	}
	return data, nil
}

// isNothing reports whether an account answered that it stores nothing about an address, or
// cannot store it.
func isNothing(err error) bool { return sending.IsAbsent(err) || sending.IsUnsupported(err) }

func (p *Privacy) count(ctx context.Context, s Search) ([]TableCount, error) {
	var tables []TableCount
	for _, t := range OfRecipients() {
		n, err := p.Store.Count(ctx, s, t)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			tables = append(tables, TableCount{t, n})
		}
	}
	return tables, nil
}

// refusal returns the strongest reason why mail to a person must be refused for good.
func refusal(person Person, account AccountData) Refusal {
	if c := account.Contact; person.OptedOut || c != nil && topics.HasOptOut(*c) {
		return OptedOut
	}
	if s := account.Suppressed; s != nil {
		switch s.Reason {
		case sending.SuppressedByComplaint:
			return Complained
		case sending.SuppressedByBounce:
			return Bounced
		case sending.SuppressedByHand:
			return OptedOut
		}
	}
	switch {
	case person.Complained:
		return Complained
	case person.Bounced:
		return Bounced
	default:
		return Allowed
	}
}

// Erase erases the person with an address: at the sending account, in the object store, and in
// every table of the register. It may be repeated, also after a failure, and continues where it
// failed. The audit log gets a line without the address.
//
// It fails with core.CodeConflict while mail to or from the person is being processed, and like
// [Privacy.Count].
func (p *Privacy) Erase(ctx context.Context, actor access.Actor, orgID, email string) (Report, error) {
	search, account, err := p.search(ctx, orgID, email)
	if err != nil {
		return Report{}, err
	}
	report := Report{Account: account, Refuses: refusal(search.Person, account)}
	if err := p.checkUnused(ctx, search); err != nil {
		return report, err
	}
	// The tombstone comes first: from now on no import and no sync adds the address again.
	stone := Tombstone{Hash: p.Hasher.Hash(orgID, email), Refuses: report.Refuses, ErasedAt: p.Clock()}
	if err := p.Tombstones.PutTombstone(ctx, orgID, stone); err != nil {
		return report, err
	}
	if err := p.Journal.Append(Entry{OrgID: orgID, Tombstone: stone}); err != nil {
		return report, err
	}
	if err := p.eraseAtAccount(ctx, search); err != nil {
		return report, err
	}
	if err := p.deleteObjects(ctx, search); err != nil {
		return report, err
	}
	err = p.Transactor.InTx(ctx, func(ctx context.Context) error {
		report.Tables = nil // the transaction may run again
		return p.eraseRows(ctx, actor, search, &report)
	})
	if err != nil {
		return report, err
	}
	// Until the rows were deleted, a sync may have found the contact in the database, missed it at the account and
	// written it there again.
	if err := p.eraseAtAccount(ctx, search); err != nil {
		return report, err
	}
	return report, p.Store.Scrub(ctx)
}

// eraseAtAccount erases the address at the sending account.
func (p *Privacy) eraseAtAccount(ctx context.Context, s Search) error {
	if err := p.Account.EraseAddress(ctx, s.OrgID, s.Person.Key); err != nil && !isNothing(err) {
		return sending.Unavailable(err)
	}
	return nil
}

func (p *Privacy) checkUnused(ctx context.Context, s Search) error {
	use, err := p.Store.InUse(ctx, s)
	if err != nil {
		return err
	}
	if use.HandingOver > 0 {
		return core.Conflict("A message to this person is on its way to the sending account.", "Try again in a minute. After a crash it takes up to 15 minutes until the outcome of the message is known.")
	}
	if use.Receiving > 0 {
		return core.Conflict("Received mail of this person is being processed.", "Try again in a minute.")
	}
	return nil
}

// eraseRows erases the rows of all tables, in the transaction of ctx.
func (p *Privacy) eraseRows(ctx context.Context, actor access.Actor, s Search, report *Report) error {
	if id := s.Person.ContactID; id != "" {
		if err := p.Runs.EndRunsOf(ctx, s.OrgID, id, p.Clock()); err != nil {
			return err
		}
		if err := p.Store.Leave(ctx, s.OrgID, id); err != nil {
			return err
		}
	}
	rows := map[string]int{}
	for _, t := range OfRecipients() {
		n, err := p.Store.Erase(ctx, s, t)
		if err != nil {
			return err
		}
		if n > 0 {
			report.Tables = append(report.Tables, TableCount{t, n})
			rows[t.Name] = n
		}
	}
	return access.RecordAudit(ctx, p.Audit, p.Clock(), access.AuditEntry{
		Actor: actor, Action: "person.erased", OrgID: s.OrgID, Subject: s.As.ID, Detail: map[string]any{"rows": rows, "refuses": report.Refuses},
	})
}

// mailTables names the columns with received messages whose content is in the object store.
var mailTables = map[string]string{"inbox_messages": "message", "receiving_contents": "content"}

// objects returns the objects of received mail of the person.
func (p *Privacy) objects(ctx context.Context, s Search) ([]ObjectExport, error) {
	var all []ObjectExport
	for _, t := range OfRecipients() {
		column, ok := mailTables[t.Name]
		if !ok {
			continue
		}
		err := p.Store.Each(ctx, s, t, func(row Row) error {
			var m inbound.Message
			if err := json.Unmarshal(row[column], &m); err != nil {
				return fmt.Errorf("privacy: %s of %s: %w", column, t.Name, err)
			}
			for _, key := range m.Keys() {
				all = append(all, ObjectExport{m.StoreID, key})
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// deleteObjects deletes the objects of received mail of the person. The rows that name them are
// deleted later, so a failure in between loses no key.
func (p *Privacy) deleteObjects(ctx context.Context, s Search) error {
	all, err := p.objects(ctx, s)
	if err != nil {
		return err
	}
	keys := map[string][]string{}
	for _, o := range all {
		keys[o.StoreID] = append(keys[o.StoreID], o.Key)
	}
	for store, named := range keys {
		err = errors.Join(err, p.Objects.DeleteObjects(ctx, s.OrgID, store, named))
	}
	return err
}

func nothingStored() *core.Error {
	return core.NotFound("person").WithNext("Nothing is stored about this address. Check its spelling.")
}

// Tombstone returns what stays of an erased person, nil if no person with the address was erased.
func (p *Privacy) Tombstone(ctx context.Context, orgID, email string) (*Tombstone, error) {
	stones, err := p.tombstones(ctx, orgID, email)
	if err != nil || len(stones) == 0 {
		return nil, err
	}
	for i, s := range stones {
		if s.Refuses != Allowed {
			return &stones[i], nil
		}
	}
	return &stones[0], nil
}

// tombstones returns the tombstones of an address: one, or several if the organization was in
// another installation before.
func (p *Privacy) tombstones(ctx context.Context, orgID, email string) ([]Tombstone, error) {
	hashers, err := p.Former.hashers(ctx, orgID, p.Hasher)
	if err != nil {
		return nil, err
	}
	hashes := make([][]byte, len(hashers))
	for i, h := range hashers {
		hashes[i] = h.Hash(orgID, email)
	}
	return p.Tombstones.TombstonesOf(ctx, orgID, hashes)
}

// Allow lets an address that was erased get mail and become a contact again, because the person
// asks for it. It fails with core.CodeNotFound if the address is not refused.
func (p *Privacy) Allow(ctx context.Context, actor access.Actor, orgID, email string) error {
	hash := p.Hasher.Hash(orgID, email)
	err := p.Transactor.InTx(ctx, func(ctx context.Context) error {
		stone, err := p.Tombstone(ctx, orgID, email)
		if err != nil {
			return err
		}
		stones, err := p.tombstones(ctx, orgID, email)
		if err != nil {
			return err
		}
		if stone == nil || stone.Refuses == Allowed {
			return core.NotFound("erased address").WithNext("Mail to this address is not refused because of an erasure.")
		}
		for _, one := range stones {
			if err := p.Tombstones.DeleteTombstone(ctx, orgID, one.Hash); err != nil {
				return err
			}
		}
		return access.RecordAudit(ctx, p.Audit, p.Clock(), access.AuditEntry{Actor: actor, Action: "person.allowed", OrgID: orgID, Detail: map[string]any{"refused": stone.Refuses}})
	})
	if err != nil {
		return err
	}
	return p.Journal.Append(Entry{OrgID: orgID, Tombstone: Tombstone{Hash: hash, ErasedAt: p.Clock()}, Allowed: true})
}
