package privacy

import (
	"context"
	"encoding/json"
	"time"
)

// Search is a person to look for, with the pseudonym that replaces them.
type Search struct {
	OrgID   string
	Person  Person
	Mention Mention
	As      Pseudonym
}

// NewSearch returns a search for a person.
func NewSearch(orgID string, p Person) Search {
	as := NewPseudonym()
	return Search{OrgID: orgID, Person: p, Mention: NewMention(p, as), As: as}
}

// Row is a row of a table for an export: the values of its columns, without Secret ones.
type Row map[string]json.RawMessage

// Store reads and changes the tables of the register. Every method sees only the given
// organization and takes part in the transaction of its context.
type Store interface {
	// Person returns what the database knows about an address in the form of core.EmailKey. It
	// returns a Person with the key alone if the address is unknown.
	Person(ctx context.Context, orgID, key string) (Person, error)
	// Count returns the number of the person's rows in a table.
	Count(ctx context.Context, s Search, t Table) (int, error)
	// Each calls do with the person's rows in a table.
	Each(ctx context.Context, s Search, t Table, do func(Row) error) error
	// Erase deletes or rewrites the person's rows in a table, as the register says, and returns
	// their number.
	Erase(ctx context.Context, s Search, t Table) (int, error)
	// Leave lowers the stored numbers of members of the segments that the contact is in. It is
	// called before the memberships are deleted.
	Leave(ctx context.Context, orgID, contactID string) error
	// Addresses calls do with the addresses in the tables of the register, in lower case. An
	// address can come several times.
	Addresses(ctx context.Context, orgID string, do func(email string) error) error
	// CreatedAt returns when the contact with an address was created, the zero time if there is
	// none.
	CreatedAt(ctx context.Context, orgID, key string) (time.Time, error)
	// Scrub removes remnants of erased rows from the files of the database, as far as it has
	// such files. It is called after the transaction.
	Scrub(ctx context.Context) error
	// InUse returns work that needs the person's rows now.
	InUse(ctx context.Context, s Search) (InUse, error)
}

// InUse is work in progress that needs a person's rows.
type InUse struct {
	// HandingOver is the number of messages to the person that are on their way to the
	// sending account.
	HandingOver int
	// Receiving is the number of messages of the person that are being processed.
	Receiving int
}

// Tombstone is what stays of an erased person. It has no address: only a hash, whose key the
// database does not have.
type Tombstone struct {
	// Hash is that of [Hasher.Hash].
	Hash []byte
	// Refuses says why mail to the address and new contacts with it are refused.
	Refuses  Refusal
	ErasedAt time.Time
}

// Refusal is the reason why mail to an erased address is refused.
type Refusal string

// The reasons, the strongest first.
const (
	// OptedOut: the person had opted out of all mail or of a topic.
	OptedOut Refusal = "opt_out"
	// Complained: the person had complained about mail.
	Complained Refusal = "complaint"
	// Bounced: mail to the address had bounced permanently.
	Bounced Refusal = "bounce"
	// Allowed: nothing is refused. The tombstone only serves to erase the person again after
	// an older copy of the database was restored.
	Allowed Refusal = ""
)

// TombstoneStore stores tombstones. Its methods take part in the transaction of their context.
type TombstoneStore interface {
	// AnyTombstone reports whether there is a tombstone. It is fast, because every batch of
	// events asks for it.
	AnyTombstone(ctx context.Context, orgID string) (bool, error)
	// PutTombstone stores a tombstone. One with the same hash is replaced, except that a
	// reason stays if the new one is Allowed.
	PutTombstone(ctx context.Context, orgID string, t Tombstone) error
	// TombstonesOf returns the tombstones among those with the hashes.
	TombstonesOf(ctx context.Context, orgID string, hashes [][]byte) ([]Tombstone, error)
	// Tombstones returns all tombstones, oldest first.
	Tombstones(ctx context.Context, orgID string) ([]Tombstone, error)
	// FormerKeys returns the keys that the organization brought from other installations; see
	// [OpenFormerKey].
	FormerKeys(ctx context.Context, orgID string) ([]FormerKey, error)
	// PseudonymIn returns the first recipient of a message if it is a pseudonym, and otherwise
	// "".
	PseudonymIn(ctx context.Context, orgID, messageID string) (string, error)
	// DeleteTombstone deletes a tombstone. It fails with core.CodeNotFound if there is none.
	DeleteTombstone(ctx context.Context, orgID string, hash []byte) error
}
