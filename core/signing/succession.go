package signing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// KeyRole is what a stored record of a master key is for.
type KeyRole string

// The roles of records. KeyCurrent marks the key that seals new values. KeySuccessor has the next
// key, sealed by the former one, and KeyPredecessor the former key, sealed by the next one: with
// both, processes that are configured with either key open all values. KeyRoot has the source of
// derived keys, sealed by a key that is not the first of the installation.
const (
	KeyCurrent     KeyRole = "current"
	KeySuccessor   KeyRole = "successor"
	KeyPredecessor KeyRole = "predecessor"
	KeyRoot        KeyRole = "root"
)

// keyPurpose is the beginning of the purposes with which records are sealed.
const keyPurpose = "master key "

// KeyRecord is a stored record of a master key. KeyID names the key that sealed it.
type KeyRecord struct {
	Role      KeyRole
	KeyID     string
	Sealed    []byte
	CreatedAt time.Time
}

// MasterKeyStore stores what the succession of master keys needs. It never gets a key that is
// not sealed.
type MasterKeyStore interface {
	// KeyRecords returns all records.
	KeyRecords(ctx context.Context) ([]KeyRecord, error)
	// InsertKeyRecord stores a record. It fails with core.CodeConflict if there is one with the
	// same role and key.
	InsertKeyRecord(ctx context.Context, r KeyRecord) error
	// DeleteKeyRecord deletes a record, if there is one.
	DeleteKeyRecord(ctx context.Context, role KeyRole, keyID string) error
}

// ErrForeignKey is the error if the configured master key is not that of the database.
var ErrForeignKey = errors.New("this master key is not the one of the database, and no succession leads from it to that one")

// ID returns the id of the configured key. It does not reveal the key.
func (k MasterKey) ID() string { return k.keys.own.id }

// SealsWith returns the id of the key that seals new values.
func (k MasterKey) SealsWith() string { return k.keys.ring.Load().seals.id }

// Load takes over the master keys that the records lead to. It fails with [ErrForeignKey] if
// the configured key is not the current one and no record leads to that. It then changes
// nothing. Without records the configured key is the current one.
func (k MasterKey) Load(records []KeyRecord) error {
	own := k.keys.own
	ring := sealingRing{seals: own, opens: []*sealingKey{own}, root: own.root}
	current := own.id
	for _, r := range records {
		if r.Role == KeyCurrent {
			current = r.KeyID
		}
		if r.KeyID != own.id || r.Role == KeyCurrent {
			continue
		}
		plain, err := own.open(keyPurpose+string(r.Role), r.KeyID, r.Sealed)
		if err != nil {
			return fmt.Errorf("master key record %s: %w", r.Role, err)
		}
		if r.Role == KeyRoot {
			ring.root = plain
			continue
		}
		other, err := newSealingKey(plain)
		if err != nil {
			return fmt.Errorf("master key record %s: %w", r.Role, err)
		}
		ring.opens = append(ring.opens, other)
	}
	for _, key := range ring.opens {
		if key.id == current {
			ring.seals = key
			k.keys.ring.Store(&ring)
			return nil
		}
	}
	return ErrForeignKey
}

// Follow loads the master keys of the store, and lets [MasterKey.Open] load them again when a
// value does not open. now is the clock.
func (k MasterKey) Follow(ctx context.Context, store MasterKeyStore, now core.Clock) error {
	if err := k.Reload(ctx, store); err != nil {
		return err
	}
	k.keys.mu.Lock()
	defer k.keys.mu.Unlock()
	k.keys.now = now
	k.keys.reload = func() error {
		// The caller may be in a transaction, and has no context to give.
		bounded, cancel := context.WithTimeout(core.WithLane(context.WithoutCancel(ctx), core.Vital), lookTimeout)
		defer cancel()
		return k.Reload(bounded, store)
	}
	return nil
}

// Reload loads the master keys of the store.
func (k MasterKey) Reload(ctx context.Context, store MasterKeyStore) error {
	records, err := store.KeyRecords(ctx)
	if err != nil {
		return fmt.Errorf("read master keys: %w", err)
	}
	return k.Load(records)
}

// Reseal returns a sealed value under the key that seals new values, and whether that changed
// it. It fails if no known key opens the value.
func (k MasterKey) Reseal(purpose, id string, sealed []byte) ([]byte, bool, error) {
	ring := k.keys.ring.Load()
	if _, err := ring.seals.open(purpose, id, sealed); err == nil {
		return sealed, false, nil
	}
	plain, err := ring.open(purpose, id, sealed)
	if err != nil {
		return nil, false, err
	}
	return ring.seals.seal(purpose, id, plain), true, nil
}

// Succession replaces the master key of an installation while servers run.
//
// Begin makes another key the one that seals new values. Servers take it over, because each key
// leads to the other one by a record. Then the caller seals the stored values anew, with
// [MasterKey.Reseal]. Finish removes the records, so that the former key opens nothing.
//
// Keys that are derived from the first master key stay as they are, because links in mail that
// was sent must work for ever (core/doc/decisions/0088).
type Succession struct {
	Store      MasterKeyStore
	Transactor core.Transactor
	Clock      core.Clock
}

// Begin makes next the key that seals new values. present is the configured key, which Begin
// loads. If next is the current key already, Begin changes nothing, so it may be repeated. It
// fails with core.CodeConflict if another succession is not finished.
func (s Succession) Begin(ctx context.Context, present, next MasterKey) error {
	err := s.Transactor.InTx(ctx, func(ctx context.Context) error {
		records, err := s.Store.KeyRecords(ctx)
		if err != nil {
			return err
		}
		if err := present.Load(records); err != nil {
			return err
		}
		if present.SealsWith() == next.ID() {
			return nil
		}
		for _, r := range records {
			if r.Role == KeySuccessor || r.Role == KeyPredecessor {
				return core.Conflict("A rotation to another master key is not finished.", "Finish it first, with its key and then with retire.")
			}
		}
		return s.store(ctx, records, present.keys.ring.Load(), next.keys.own)
	})
	if err != nil {
		return err
	}
	return present.Reload(ctx, s.Store)
}

// store replaces the current key by next, and stores the records that lead from one to the other.
func (s Succession) store(ctx context.Context, records []KeyRecord, ring *sealingRing, next *sealingKey) error {
	former, now := ring.seals, s.Clock()
	for _, r := range records {
		if r.Role == KeyCurrent {
			if err := s.Store.DeleteKeyRecord(ctx, KeyCurrent, r.KeyID); err != nil {
				return err
			}
		}
	}
	for _, one := range []struct {
		role  KeyRole
		by    *sealingKey
		plain []byte
	}{
		{KeySuccessor, former, next.raw},
		{KeyPredecessor, next, former.raw},
		{KeyRoot, next, bytes.Clone(ring.root)},
		{KeyCurrent, next, nil},
	} {
		sealed := one.by.seal(keyPurpose+string(one.role), one.by.id, one.plain)
		if err := s.Store.InsertKeyRecord(ctx, KeyRecord{Role: one.role, KeyID: one.by.id, Sealed: sealed, CreatedAt: now}); err != nil {
			return err
		}
	}
	return nil
}

// Began returns when the succession that is not finished began, or nil if there is none. former
// is the id of the key that it replaces.
func Began(records []KeyRecord) (at *time.Time, former string) {
	for _, r := range records {
		if r.Role == KeySuccessor {
			return &r.CreatedAt, r.KeyID
		}
	}
	return nil, ""
}

// Finish removes the records with which the former key opens values. All stored values must be
// sealed by the current key. It may be repeated.
func (s Succession) Finish(ctx context.Context) error {
	return s.Transactor.InTx(ctx, func(ctx context.Context) error {
		records, err := s.Store.KeyRecords(ctx)
		if err != nil {
			return err
		}
		_, former := Began(records)
		for _, r := range records {
			if r.Role == KeySuccessor || r.Role == KeyPredecessor || r.Role == KeyRoot && r.KeyID == former {
				if err := s.Store.DeleteKeyRecord(ctx, r.Role, r.KeyID); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
