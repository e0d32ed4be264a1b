package access

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// BlockClient keeps a client that belongs to no organization out of this one, by
// its public client id: what people here allowed it ends at once, and nobody here
// can allow it anything. The address of a metadata document can be blocked before
// anybody has met it. A client that is blocked already stays as it is. It fails
// with core.CodeNotFound for a client that does not exist or is another
// organization's, and with core.CodeConflict for one of the organization's own.
func (l Lifecycle) BlockClient(ctx context.Context, actor Actor, orgID, clientID string) error {
	return l.setBlocked(ctx, orgID, clientID, true, func(ctx context.Context, now time.Time) error {
		if err := l.blockable(ctx, orgID, clientID); err != nil {
			return err
		}
		if err := l.OpenClients.BlockClient(ctx, orgID, clientID, now); err != nil {
			return err
		}
		return l.record(ctx, now, AuditEntry{Actor: actor, Action: "oauth_client.blocked", OrgID: orgID, Detail: openClient{clientID}})
	})
}

// UnblockClient lets a client in again. Nothing comes back that was allowed
// before: people have to authorize it anew. A client that is not blocked stays as
// it is.
func (l Lifecycle) UnblockClient(ctx context.Context, actor Actor, orgID, clientID string) error {
	return l.setBlocked(ctx, orgID, clientID, false, func(ctx context.Context, now time.Time) error {
		if err := l.OpenClients.UnblockClient(ctx, orgID, clientID); err != nil {
			return err
		}
		return l.record(ctx, now, AuditEntry{Actor: actor, Action: "oauth_client.unblocked", OrgID: orgID, Detail: openClient{clientID}})
	})
}

// openClient is the detail of both lines: such a client has no id but its public
// one, which may be an address.
type openClient struct {
	ClientID string `json:"client_id"`
}

// setBlocked does one of the two, unless it is done already, and ends the
// client's grants either way. Unblocking ends them as well, since a person may
// have been approving just when the client was blocked.
func (l Lifecycle) setBlocked(ctx context.Context, orgID, clientID string, to bool, do func(context.Context, time.Time) error) error {
	if !IsClientID(clientID) && !IsDocumentClientID(clientID) {
		return core.NotFound("client") // what is no client id is not asked for: a database takes not every byte
	}
	var ended []string
	err := l.change(ctx, func(ctx context.Context, now time.Time) error {
		blocked, err := l.OpenClients.ClientBlocked(ctx, orgID, clientID)
		if err != nil || blocked == to {
			return err
		}
		if err := do(ctx, now); err != nil {
			return err
		}
		ended, err = l.Grants.RevokeGrantsOf(ctx, orgID, clientID, now)
		return err
	})
	if err != nil {
		return err
	}
	l.forgetGrants(ended)
	return nil
}

func (l Lifecycle) blockable(ctx context.Context, orgID, clientID string) error {
	if _, err := l.Orgs.Org(ctx, orgID); err != nil {
		return err
	}
	client, err := l.Clients.Client(ctx, clientID)
	switch {
	case core.IsNotFound(err) && IsDocumentClientID(clientID):
		return nil
	case err != nil:
		return err
	case client.OrgID == orgID:
		return core.Conflict("This client belongs to the organization itself.", "Revoke it instead.")
	case !client.Open():
		return core.NotFound("client")
	}
	return nil
}
