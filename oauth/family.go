package oauth

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/bearer"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// auditSurface is the value of the field surface in audit events of the authorization
// server.
const auditSurface core.Surface = "oauth"

// clientOf returns the stored client inside a client of the OpenID Connect library. It
// fails with an internal error for any other type.
func clientOf(c op.Client) (access.Client, *refusal) {
	verified, ok := c.(*client)
	if !ok {
		return access.Client{}, serverError(fmt.Errorf("client of unexpected type %T", c))
	}
	return verified.Client, nil
}

// families has the stores and methods that code exchange, refresh and revocation share. A
// family is a person's grant with the code and all tokens that derive from it.
type families struct {
	stores  access.Stores
	orgs    access.Orgs
	members bearer.Ceilings
	targets targets
	// principals is this process's cache of authenticated callers; see [Config].
	principals *bearer.Authenticator
	clock      core.Clock
	log        *slog.Logger
}

// checkOrg fails with invalid_grant if the organization was deleted. Its owner may restore it,
// so codes and refresh tokens stay as they are.
func (f *families) checkOrg(ctx context.Context, orgID string) *refusal {
	org, err := f.orgs.Org(ctx, orgID)
	if err != nil {
		return serverError(err)
	}
	if org.IsDeleted() {
		e := core.OrgDeleted(org)
		return invalidGrant(e.Message + " " + e.NextStep())
	}
	return nil
}

// authorization returns a grant. It fails with invalid_grant if the organization was deleted, or
// if the person who approved the grant no longer belongs to it. It fails with invalid_target for a
// `resource` other than the grant's own (RFC 8707 section 2.2). It does not check whether
// the grant is revoked.
func (f *families) authorization(ctx context.Context, orgID, id string, resources []string) (access.Grant, *refusal) {
	if refused := f.checkOrg(ctx, orgID); refused != nil {
		return access.Grant{}, refused
	}
	allowed, err := f.stores.Grants.Grant(ctx, orgID, id)
	if err != nil {
		return access.Grant{}, serverError(err)
	}
	if _, err := f.members.MemberScopes(ctx, orgID, allowed.UserID); isNotFound(err) {
		return access.Grant{}, invalidGrant("The person who authorized the client does not belong to the organization any more.")
	} else if err != nil {
		return access.Grant{}, serverError(err)
	}
	if len(resources) == 0 {
		return allowed, nil
	}
	named, refused := f.targets.requestedResource(resources)
	if refused != nil {
		return access.Grant{}, refused
	}
	if named != allowed.Resource {
		return access.Grant{}, invalidTarget("The authorization is for " + f.targets.address(allowed.Resource) + " and never for another `resource`. Leave the parameter out, or authorize again.")
	}
	return allowed, nil
}

// revokeGrant revokes a grant and so all its tokens. This process refuses them from the
// next request on. It succeeds if the grant does not exist.
func (f *families) revokeGrant(ctx context.Context, orgID, id string) error {
	err := f.stores.Grants.RevokeGrant(ctx, orgID, id, f.clock())
	if err != nil && !isNotFound(err) {
		return fmt.Errorf("revoke grant: %w", err)
	}
	f.forgetGrant(id)
	return nil
}

// reportReplay records the second use of a code or refresh token in the organization's
// audit log. The store has already revoked the grant, so an error is only logged.
func (f *families) reportReplay(ctx context.Context, registered access.Client, grantID, orgID string) {
	f.forgetGrant(grantID)
	err := f.stores.Audit.AppendAudit(ctx, access.AuditEvent{
		ID: core.NewID(), OrgID: orgID, OccurredAt: f.clock(), Action: "grant.replayed",
		ActorKind: string(core.OAuthClient), ActorID: registered.ID, Surface: auditSurface,
		SubjectID: grantID, RequestID: attemptOf(ctx).requestID, Detail: "{}",
	})
	if err != nil {
		f.log.LogAttrs(ctx, slog.LevelError, "replay not audited", slog.String("grant", grantID), slog.Any("cause", err))
	}
}

// forgetGrant removes from the cache of callers in this process all callers whose tokens
// belong to the grant with this id. Without such a cache it does nothing.
func (f *families) forgetGrant(id string) {
	if f.principals != nil {
		f.principals.ForgetGrant(id)
	}
}
