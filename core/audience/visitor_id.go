package audience

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// A visitor id identifies a contact on the customer's website. It is a credential: its
// holder can act as the contact there. The database stores its hash, to find the
// contact, and the id itself only sealed. It has 130 random bits.
const (
	visitorPrefix   = "vis_"
	visitorAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"
	visitorLength   = 26
	visitorPurpose  = "visitor id"
)

// siteIdentified is the activity that the first issue of an id records.
const siteIdentified = "site_identified"

func mintVisitorID() string {
	random := make([]byte, visitorLength)
	_, _ = rand.Read(random) // never fails; see crypto/rand
	for i, b := range random {
		random[i] = visitorAlphabet[int(b)%len(visitorAlphabet)] // 32 letters: each is equally likely
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

// visitorID returns the id that the contact has, "" when it has none.
func (a *Audience) visitorID(ctx context.Context, org, contactID string) (string, error) {
	v, err := a.Store.VisitorID(ctx, org, contactID)
	if isNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	id, err := a.Sealer.Open(visitorPurpose, org+"/"+contactID, v.Sealed)
	if err != nil {
		return "", fmt.Errorf("visitor id of contact %s: %w", contactID, err)
	}
	return string(id), nil
}

// issueVisitorID returns the contact's visitor id, and creates one if there is none. It
// must run in the transaction of a write that locks the contact.
func (a *Audience) issueVisitorID(ctx context.Context, org, contactID string, now time.Time) (string, error) {
	id, err := a.visitorID(ctx, org, contactID)
	if id != "" || err != nil {
		return id, err
	}
	id = mintVisitorID()
	sealed, err := a.Sealer.Seal(visitorPurpose, org+"/"+contactID, []byte(id))
	if err != nil {
		return "", fmt.Errorf("visitor id of contact %s: %w", contactID, err)
	}
	err = a.Store.InsertVisitorID(ctx, org, VisitorID{ContactID: contactID, Hash: hashOfVisitorID(id), Sealed: sealed, IssuedAt: now})
	if err != nil || a.Record == nil {
		return id, err
	}
	return id, a.Record(ctx, org, contactID, siteIdentified, now)
}

// ContactOfVisitor returns the id of the contact that a visitor id was issued for. It
// fails with core.CodeNotFound for an unknown or revoked visitor id.
func (a *Audience) ContactOfVisitor(ctx context.Context, orgID, visitorID string) (string, error) {
	if !isVisitorID(visitorID) {
		return "", core.NotFound("contact")
	}
	return a.Store.ContactOfVisitor(ctx, orgID, hashOfVisitorID(visitorID))
}
