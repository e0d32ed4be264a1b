package oauth

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
)

// codeLifetime is how long a client has to redeem an authorization code.
const codeLifetime = 60 * time.Second

// Approve stores a member's approval and returns where to send the browser: the client's
// redirect URI with a code, the state and the issuer. The grant covers the scopes that the
// client requested, the member selected (chosen) and the member's permissions allow.
//
// It fails with not_found if the client belongs to another organization, and with conflict
// if the member's organization blocks it. It fails with validation_failed if no requested
// scope is left.
func (a *Authorizations) Approve(ctx context.Context, request AuthorizationRequest, member members.Member, chosen core.Scopes) (string, error) {
	if err := a.checkMayApprove(ctx, request.Client, member); err != nil {
		return "", err
	}
	scopes := request.Scopes.Intersect(chosen).Intersect(member.Scopes())
	if len(scopes) == 0 && len(request.Scopes) > 0 {
		return "", core.Invalid("scopes", "must name at least one that the application asks for and that you may use yourself")
	}
	if err := a.saveDescribed(ctx, request.Client); err != nil {
		return "", err
	}
	now := a.clock()
	allowed := access.Grant{
		ID: core.NewID(), OrgID: member.OrgID, UserID: member.UserID, ClientID: request.Client.ClientID,
		Resource: request.Resource, Scopes: scopes, CreatedAt: now, ExpiresAt: refreshEnd(request.Client, now),
	}
	// Insert the code first. If inserting it failed after the grant, the person would see a
	// grant that no client can use.
	code := access.MintAuthorizationCode()
	err := a.stores.Tokens.InsertCode(ctx, access.AuthorizationCode{
		Hash: code.Hash, GrantID: allowed.ID, OrgID: allowed.OrgID, ClientID: allowed.ClientID,
		RedirectURI: request.RedirectURI, Challenge: request.Challenge, ExpiresAt: now.Add(codeLifetime),
	})
	if err != nil {
		return "", fmt.Errorf("store authorization code: %w", err)
	}
	if err := a.stores.Grants.InsertGrant(ctx, allowed); err != nil {
		return "", fmt.Errorf("store grant: %w", err)
	}
	a.log.LogAttrs(ctx, slog.LevelInfo, "authorization granted",
		slog.String("client", allowed.ClientID), slog.String("org", allowed.OrgID), slog.String("grant", allowed.ID))
	return a.answer(request, url.Values{"code": {code.Secret}}), nil
}

// checkMayApprove fails with not_found if the client belongs to another organization than
// the member, and with conflict if the member's organization blocks the client.
func (a *Authorizations) checkMayApprove(ctx context.Context, client access.Client, member members.Member) error {
	if member.OrgID == "" || member.UserID == "" || !client.Open() && member.OrgID != client.OrgID {
		return core.NotFound("application")
	}
	blocked, err := a.IsBlocked(ctx, client, member.OrgID)
	if err != nil {
		return err
	}
	if blocked {
		return core.Conflict("Your organization has blocked this application.", "Ask an owner of the organization.")
	}
	return nil
}

// Deny returns where to send the browser after the person denied the request: the redirect
// URI with the error access_denied.
func (a *Authorizations) Deny(request AuthorizationRequest) string {
	return a.sendBack(request, accessDeniedRefusal("The person declined the request.")).Redirect
}

// refreshEnd returns the time after which the tokens of a grant cannot be refreshed. The
// parameter from is the time at which the grant begins. refreshEnd returns nil if the
// client's grants never expire.
func refreshEnd(client access.Client, from time.Time) *time.Time {
	if client.RefreshDays <= 0 {
		return nil
	}
	end := from.AddDate(0, 0, client.RefreshDays)
	return &end
}
