// Package persons connects core/privacy with the database, the sending accounts, the stores of
// mail and the domains that must not use the addresses of erased persons again. Servers and
// commands of the operator use it.
package persons

import (
	"context"
	"fmt"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/privacy"
	"github.com/mailhelm/mailhelm/core/signing"
)

// Erased returns what knows the erased persons of all organizations. masterKey is called when it
// is needed: once an organization has erased a person.
func Erased(store privacy.TombstoneStore, masterKey func() (signing.MasterKey, error)) privacy.Erased {
	return privacy.Erased{Store: store, Hasher: func() (privacy.Hasher, error) {
		master, err := masterKey()
		if err != nil {
			return privacy.Hasher{}, err
		}
		key, err := master.Derive(privacy.KeyPurpose, privacy.KeyBytes)
		if err != nil {
			return privacy.Hasher{}, fmt.Errorf("key of erased addresses: %w", err)
		}
		return privacy.NewHasher(key), nil
	}, Former: func(ctx context.Context, orgID string) ([]privacy.Hasher, error) {
		keys, err := store.FormerKeys(ctx, orgID)
		if err != nil || len(keys) == 0 {
			return nil, err
		}
		master, err := masterKey()
		if err != nil {
			return nil, err
		}
		former := make([]privacy.Hasher, len(keys))
		for i, key := range keys {
			if former[i], err = privacy.OpenFormerKey(master, orgID, key); err != nil {
				return nil, err
			}
		}
		return former, nil
	}}
}

// New returns a Privacy with the configuration, whose Tombstones, Hasher, Former and Objects it sets. It
// erases in the stores of received mail too. It fails without the master key.
func New(cfg privacy.Config, erased privacy.Erased, stores objects.Stores) (*privacy.Privacy, error) {
	hasher, err := erased.Hasher()
	if err != nil {
		return nil, err
	}
	cfg.Tombstones, cfg.Hasher, cfg.Former, cfg.Objects = erased.Store, hasher, erased.Former, mailObjects{stores}
	return privacy.New(cfg), nil
}

// mailObjects deletes objects of received mail.
type mailObjects struct{ stores objects.Stores }

// DeleteObjects deletes objects from a store, with their former versions. A store that the organization no longer has is no
// error.
func (m mailObjects) DeleteObjects(ctx context.Context, orgID, storeID string, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	store, err := m.stores.At(ctx, orgID, storeID)
	if core.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return objects.DeleteVersions(ctx, store, keys...)
}

// HideErased returns the function that hides erased persons in events of messages. It costs one
// small query for each call, as long as no person of the organization was erased.
func HideErased(erased privacy.Erased) func(ctx context.Context, orgID string, events []messages.Event) error {
	return func(ctx context.Context, orgID string, events []messages.Event) error {
		if exists, err := erased.Any(ctx, orgID); err != nil || !exists {
			return err
		}
		var emails []string
		for _, e := range events {
			emails = append(append(emails, e.Mail.To...), e.Recipient)
		}
		known, err := erased.Known(ctx, orgID, emails)
		if err != nil || len(known) == 0 {
			return err
		}
		for i := range events {
			e := &events[i]
			if !known[e.Recipient] && !slices.ContainsFunc(e.Mail.To, func(to string) bool { return known[to] }) {
				continue
			}
			as, err := erased.Pseudonym(ctx, orgID, e.MessageID)
			if err != nil {
				return err
			}
			hide(e, known, as)
		}
		return nil
	}
}

// hide replaces the known addresses in an event, and removes what can name a person.
func hide(e *messages.Event, known map[string]bool, as string) {
	if known[e.Recipient] {
		e.Recipient, e.Metadata = as, nil
	}
	e.Mail.To = slices.Clone(e.Mail.To) // events of one call share it
	for i, to := range e.Mail.To {
		if known[to] {
			e.Mail.To[i], e.Mail.Subject = as, ""
		}
	}
}
