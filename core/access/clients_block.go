package access

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// BlockClient blocks, in one organization, a client that belongs to no organization. It
// revokes the client's grants in this organization, and its members can no longer grant the
// client access. The address of a metadata document can be blocked before its first use.
// Blocking twice changes nothing.
//
// It fails with core.CodeNotFound for an unknown client and for a client of another
// organization, and with core.CodeConflict for a client that this organization owns.
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

// UnblockClient lifts the block of a client in one organization. Its earlier grants stay
// revoked, so people must authorize it again. Unblocking twice changes nothing.
func (l Lifecycle) UnblockClient(ctx context.Context, actor Actor, orgID, clientID string) error {
	return l.setBlocked(ctx, orgID, clientID, false, func(ctx context.Context, now time.Time) error {
		if err := l.OpenClients.UnblockClient(ctx, orgID, clientID); err != nil {
			return err
		}
		return l.record(ctx, now, AuditEntry{Actor: actor, Action: "oauth_client.unblocked", OrgID: orgID, Detail: openClient{clientID}})
	})
}

// openClient is the audit detail of blocking and unblocking. It has the public client id,
// because the organization that blocks the client has no record of it.
type openClient struct {
	ClientID string `json:"client_id"`
}

// setBlocked blocks a client in an organization (to is true) or unblocks it (to is false),
// by a call of do. It then revokes the client's grants in the organization, even when it
// unblocks: a person may have approved the client while it was being blocked. If the client
// already has the wanted state, setBlocked changes nothing.
func (l Lifecycle) setBlocked(ctx context.Context, orgID, clientID string, to bool, do func(context.Context, time.Time) error) error {
	if !IsClientID(clientID) && !IsDocumentClientID(clientID) {
		return core.NotFound("client") // no query with a malformed id: PostgreSQL rejects some bytes, such as NUL
	}
	var ended []string
	err := l.change(ctx, func(ctx context.Context, now time.Time) error {
		blocked, err := l.OpenClients.IsClientBlocked(ctx, orgID, clientID)
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
		return core.Conflict("This client belongs to the organization itself.", "Revoke the client instead.")
	case !client.Open():
		return core.NotFound("client")
	}
	return nil
}
