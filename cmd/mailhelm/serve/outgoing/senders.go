package outgoing

import (
	"context"
	"net/mail"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Senders knows the verified identities; it is a [broadcasts.Senders].
type Senders struct {
	Store channels.Store
	Orgs  interface {
		Org(ctx context.Context, id string) (core.Org, error)
	}
}

// maxIdentities is the number of identities among which the default sender is searched.
const maxIdentities = 200

// IsVerified reports whether the address or its domain is a verified identity.
func (s Senders) IsVerified(ctx context.Context, orgID, address string) (bool, error) {
	key := strings.ToLower(address)
	for _, identity := range []string{key, key[strings.LastIndexByte(key, '@')+1:]} {
		found, err := s.Store.Identity(ctx, orgID, identity)
		if err == nil && found.Verification == sending.Success {
			return true, nil
		}
		if err != nil && !core.IsNotFound(err) {
			return false, err
		}
	}
	return false, nil
}

// Default returns no-reply at the domain that was verified first, with the name of the
// organization.
func (s Senders) Default(ctx context.Context, orgID string) (string, error) {
	all, err := s.Store.Identities(ctx, orgID, nil, maxIdentities)
	if err != nil {
		return "", err
	}
	for i := len(all) - 1; i >= 0; i-- { // they are newest first
		if all[i].Type == channels.DomainIdentity && all[i].Verification == sending.Success {
			org, err := s.Orgs.Org(ctx, orgID)
			from := mail.Address{Name: org.Name, Address: "no-reply@" + strings.ToLower(all[i].Identity)}
			return from.String(), err
		}
	}
	return "", nil
}

// marketingChannel is the slug of the channel for broadcasts.
const marketingChannel = "marketing"

// Channel returns the configuration set of the channel marketing if it is in use, else "".
func (s Senders) Channel(ctx context.Context, orgID string) (string, error) {
	found, err := s.Store.Channel(ctx, orgID, channels.ChannelKey{Slug: marketingChannel})
	if core.IsNotFound(err) || err == nil && found.Status != channels.Active {
		return "", nil
	}
	return found.Name, err
}
