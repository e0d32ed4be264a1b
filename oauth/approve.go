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
// redirect URI with a code, the state and the issuer. The grant covers the chosen scopes
// that were asked for and that the member has now.
//
// It fails with not_found when the client belongs to another organization, and with conflict
// when the organization blocks it. It fails with validation_failed when no asked scope is
// left.
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
	// Insert the code first: a grant without a code would be listed as if it were in
	// use.
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

// checkMayApprove fails for a member who cannot let the client in.
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

// Deny returns where to send the browser when the person declines.
func (a *Authorizations) Deny(request AuthorizationRequest) string {
	return a.sendBack(request, accessDeniedRefusal("The person declined the request.")).Redirect
}

// refreshEnd returns the absolute end of refreshing, nil for never.
func refreshEnd(client access.Client, from time.Time) *time.Time {
	if client.RefreshDays <= 0 {
		return nil
	}
	end := from.AddDate(0, 0, client.RefreshDays)
	return &end
}
