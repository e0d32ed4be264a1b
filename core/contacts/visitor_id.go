package contacts

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// A visitor id identifies a contact on the customer's website and has 130 random bits. It
// is a credential: its holder can act as the contact there. The database stores its hash,
// to find the contact, and the id itself only encrypted.
const (
	visitorPrefix   = "vis_"
	visitorAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"
	visitorLength   = 26
	visitorPurpose  = "visitor id"
)

// siteIdentified is the activity that is recorded when a contact gets a visitor id.
const siteIdentified = "site_identified"

func mintVisitorID() string {
	random := make([]byte, visitorLength)
	_, _ = rand.Read(random) // never fails; see crypto/rand
	for i, b := range random {
		// The alphabet has 32 letters, which divides 256, so each letter is equally likely.
		random[i] = visitorAlphabet[int(b)%len(visitorAlphabet)]
	}
	return visitorPrefix + string(random)
}

func isVisitorID(s string) bool {
	letters, ok := strings.CutPrefix(s, visitorPrefix)
	return ok && len(letters) == visitorLength && strings.Trim(letters, visitorAlphabet) == ""
}

func hashOfVisitorID(id string) []byte {
	sum := sha256.Sum256([]byte(id))
	return sum[:]
}

// visitors issues and reads visitor ids.
type visitors struct{ *Config }

// recall adds the contact's current visitor id to the stored result that a repeated call
// gets.
func (v visitors) recall(ctx context.Context, c *core.Call, written ContactWritten) (ContactWritten, error) {
	var err error
	written.VisitorID, err = v.visitorID(ctx, c.Principal.Org.ID, written.Contact.ID)
	return written, err
}

// visitorID returns the contact's visitor id, "" if it has none.
func (v visitors) visitorID(ctx context.Context, org, contactID string) (string, error) {
	held, err := v.Visitors.VisitorID(ctx, org, contactID)
	if core.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	id, err := v.Sealer.Open(visitorPurpose, org+"/"+contactID, held.Sealed)
	if err != nil {
		return "", fmt.Errorf("visitor id of contact %s: %w", contactID, err)
	}
	return string(id), nil
}

// issueVisitorID returns the contact's visitor id. If there is none, it creates one and
// records the activity site_identified. It must run in the transaction of a write that
// locks the contact.
func (v visitors) issueVisitorID(ctx context.Context, org, contactID string, now time.Time) (string, error) {
	id, err := v.visitorID(ctx, org, contactID)
	if id != "" || err != nil {
		return id, err
	}
	id = mintVisitorID()
	sealed, err := v.Sealer.Seal(visitorPurpose, org+"/"+contactID, []byte(id))
	if err != nil {
		return "", fmt.Errorf("visitor id of contact %s: %w", contactID, err)
	}
	err = v.Visitors.InsertVisitorID(ctx, org, VisitorID{ContactID: contactID, Hash: hashOfVisitorID(id), Sealed: sealed, IssuedAt: now})
	if err != nil || v.Record == nil {
		return id, err
	}
	return id, v.Record(ctx, org, contactID, siteIdentified, now)
}

// ContactOfVisitor returns the id of the contact with this visitor id. It fails with
// core.CodeNotFound for an unknown or revoked visitor id.
func (cs *Contacts) ContactOfVisitor(ctx context.Context, orgID, visitorID string) (string, error) {
	if !isVisitorID(visitorID) {
		return "", core.NotFound("contact")
	}
	return cs.Visitors.ContactOfVisitor(ctx, orgID, hashOfVisitorID(visitorID))
}
