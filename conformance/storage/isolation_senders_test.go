package storage_test

import (
	"context"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/senders"
	"github.com/mailhelm/mailhelm/storage"
)

// senderOwner is the owner of the verified sender of every organization in these tests.
const senderOwner = "01900000-0000-7000-8000-0000000000aa"

// ownSender gives the organization a verified sender.
func (o *ownedObjects) ownSender(t *testing.T, db *storage.DB) {
	t.Helper()
	verified := start
	o.sender = senders.Claim{
		ID: core.NewID(), Owner: senderOwner, Email: "Same@example.com", StartID: core.NewID(), CodeHash: []byte{1}, CodeExpiresAt: start, WrongCodes: 1,
		VerifiedAt: &verified, CreatedAt: start,
	}
	stored, err := db.VerifiedSenders().InsertClaim(t.Context(), o.org, o.sender)
	must(t, err)
	if !stored {
		t.Fatal("no verified sender")
	}
}

// senderState returns the organization's verified sender by each of the methods that read.
func (o ownedObjects) senderState(t *testing.T, db *storage.DB) []any {
	t.Helper()
	var seen []any
	for _, method := range []string{"Claims", "senders.Store.Claim", "ClaimOf", "HasVerified"} {
		found, err := senderCalls(o, o.org)[method](t, db)
		must(t, err)
		if isNothing(found) {
			t.Errorf("%s finds nothing of the owner's", method)
		}
		seen = append(seen, found)
	}
	return seen
}

func senderCalls(o ownedObjects, org string) map[string]storeCall {
	stolen := o.sender
	stolen.Email, stolen.VerifiedAt = "stolen@example.com", nil
	return map[string]storeCall{
		"Claims": func(t *testing.T, db *storage.DB) (any, error) {
			return db.VerifiedSenders().Claims(t.Context(), org, senderOwner, nil, 10)
		},
		"senders.Store.Claim": func(t *testing.T, db *storage.DB) (any, error) {
			return db.VerifiedSenders().Claim(t.Context(), org, o.sender.ID)
		},
		"ClaimOf": func(t *testing.T, db *storage.DB) (any, error) {
			return db.VerifiedSenders().ClaimOf(t.Context(), org, "same@example.com")
		},
		"InsertClaim": func(t *testing.T, db *storage.DB) (any, error) {
			own := o.sender
			own.ID = core.NewID()
			stored, err := db.VerifiedSenders().InsertClaim(t.Context(), org, own)
			return !stored, err // the address is free in another organization
		},
		"UpdateClaim": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.VerifiedSenders().UpdateClaim(t.Context(), org, stolen)
		},
		"DeleteClaim": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.VerifiedSenders().DeleteClaim(t.Context(), org, o.sender.ID)
		},
		"ForgetClaims": func(t *testing.T, db *storage.DB) (any, error) {
			n, err := db.VerifiedSenders().ForgetClaims(t.Context(), org, later(1_000_000), 10)
			return n > 0, err
		},
		"HasVerified": func(t *testing.T, db *storage.DB) (any, error) {
			return db.VerifiedSenders().HasVerified(t.Context(), org, senderOwner, "same@example.com")
		},
		"senders.Store.IsActive": func(t *testing.T, db *storage.DB) (any, error) {
			return db.VerifiedSenders().IsActive(t.Context(), org, o.member.UserID, start)
		},
		// AddStart counts for a person or an address in all organizations together.
		"AddStart": func(t *testing.T, db *storage.DB) (any, error) {
			var earliest time.Time
			err := db.InTx(t.Context(), func(ctx context.Context) (err error) {
				earliest, err = db.SenderStarts().AddStart(ctx, core.NewID(), start, senders.StartLimit{Most: 1, Within: time.Hour})
				return err
			})
			return !earliest.IsZero(), err
		},
		"ForgetStarts": func(t *testing.T, db *storage.DB) (any, error) {
			n, err := db.SenderStarts().ForgetStarts(t.Context(), start.Add(-time.Hour), 10)
			return n > 0, err
		},
	}
}
