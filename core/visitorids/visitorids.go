package visitorids

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// A visitor id has the prefix and then 26 letters of the alphabet: 130 random bits.
const (
	prefix   = "vis_"
	alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
	length   = 26
	// sealPurpose separates visitor ids from other values that are encrypted with the same
	// key.
	sealPurpose = "visitor id"
)

// Identified is the name of the activity that is recorded when a contact gets a visitor id.
// Only Mailhelm records it.
const Identified = "site_identified"

func mint() string {
	random := make([]byte, length)
	_, _ = rand.Read(random) // never fails; see crypto/rand
	for i, b := range random {
		// The alphabet has 32 letters, which divides 256, so each letter is equally likely.
		random[i] = alphabet[int(b)%len(alphabet)]
	}
	return prefix + string(random)
}

// IsID reports whether a text has the form of a visitor id.
func IsID(text string) bool {
	letters, found := strings.CutPrefix(text, prefix)
	if !found || len(letters) != length {
		return false
	}
	for i := range len(letters) {
		if strings.IndexByte(alphabet, letters[i]) < 0 {
			return false
		}
	}
	return true
}

// Hash is the SHA-256 of a visitor id.
type Hash [sha256.Size]byte

// HashOf returns the hash of a visitor id.
func HashOf(id string) Hash { return sha256.Sum256([]byte(id)) }

// Key identifies a visitor id within an organization.
type Key struct {
	OrgID string
	Hash  Hash
}

// Config has the dependencies of VisitorIDs. Record may be nil.
type Config struct {
	Store Store
	// Sealer encrypts visitor ids.
	Sealer Sealer
	// Record stores an activity of a contact, in the transaction of the write that caused
	// it. nil means that activities are not stored.
	Record func(ctx context.Context, orgID, contactID, activity string, at time.Time) error
}

// Sealer encrypts values with a key of the installation. id is the record to which the value
// belongs; a sealed value opens only with the same purpose and id.
type Sealer interface {
	Seal(purpose, id string, plain []byte) ([]byte, error)
	Open(purpose, id string, sealed []byte) ([]byte, error)
}

// VisitorIDs issues, reads and revokes visitor ids.
type VisitorIDs struct{ cfg Config }

// New returns a VisitorIDs.
func New(cfg Config) *VisitorIDs { return &VisitorIDs{cfg} }

// Current returns the contact's visitor id, "" if it has none.
func (v *VisitorIDs) Current(ctx context.Context, orgID, contactID string) (string, error) {
	held, err := v.cfg.Store.VisitorID(ctx, orgID, contactID)
	if core.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return v.Open(orgID, contactID, held.Sealed)
}

// Open returns the visitor id of a contact from the sealed form in which it is stored.
func (v *VisitorIDs) Open(orgID, contactID string, sealed []byte) (string, error) {
	id, err := v.cfg.Sealer.Open(sealPurpose, orgID+"/"+contactID, sealed)
	if err != nil {
		return "", fmt.Errorf("visitor id of contact %s: %w", contactID, err)
	}
	return string(id), nil
}

// Issue returns the contact's visitor id. If there is none, it creates one and records the
// activity site_identified. It must run in the transaction of a write that locks the
// contact.
func (v *VisitorIDs) Issue(ctx context.Context, orgID, contactID string, now time.Time) (string, error) {
	id, err := v.Current(ctx, orgID, contactID)
	if id != "" || err != nil {
		return id, err
	}
	id = mint()
	hash := HashOf(id)
	sealed, err := v.cfg.Sealer.Seal(sealPurpose, orgID+"/"+contactID, []byte(id))
	if err != nil {
		return "", fmt.Errorf("visitor id of contact %s: %w", contactID, err)
	}
	err = v.cfg.Store.InsertVisitorID(ctx, orgID, Record{ContactID: contactID, Hash: hash[:], Sealed: sealed, IssuedAt: now})
	if err != nil || v.cfg.Record == nil {
		return id, err
	}
	return id, v.cfg.Record(ctx, orgID, contactID, Identified, now)
}

// Revoke deletes the contact's visitor id, if it has one. The id then identifies no contact,
// and Issue creates another one.
func (v *VisitorIDs) Revoke(ctx context.Context, orgID, contactID string) error {
	return v.cfg.Store.DeleteVisitorID(ctx, orgID, contactID)
}
