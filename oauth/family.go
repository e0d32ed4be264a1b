package oauth

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// auditSurface is the surface of events at this server in the audit log.
const auditSurface core.Surface = "oauth"

// clientOf returns the stored client behind a client of the library.
func clientOf(c op.Client) (access.Client, *refusal) {
	verified, ok := c.(*client)
	if !ok {
		return access.Client{}, serverError(fmt.Errorf("client of unexpected type %T", c))
	}
	return verified.Client, nil
}

// families are the grants of people, each with the codes and tokens that derive from it.
// It is what code exchange, refreshing and revocation share.
type families struct {
	stores  access.Stores
	members access.Ceilings
	targets targets
	// principals are the remembered principals of this process; see [Config].
	principals *access.Authenticator
	clock      core.Clock
	log        *slog.Logger
}

// authorization returns a grant of a person who still belongs to its organization. A
// `resource` must be the grant's own or missing (RFC 8707 section 2.2). The grant may
// be revoked.
func (f *families) authorization(ctx context.Context, orgID, id string, resources []string) (access.Grant, *refusal) {
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

// revokeGrant revokes a grant with all its tokens; this process applies it from the
// next request.
func (f *families) revokeGrant(ctx context.Context, orgID, id string) error {
	err := f.stores.Grants.RevokeGrant(ctx, orgID, id, f.clock())
	if err != nil && !isNotFound(err) {
		return fmt.Errorf("revoke grant: %w", err)
	}
	f.forgetGrant(id)
	return nil
}

// reportReplay appends the second use of a code or refresh token to the organization's
// audit log. The store has revoked the grant already, so a failure changes nothing for
// the client.
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

// forgetGrant removes the principals of a grant from this process's cache. It does nothing
// in a process without one.
func (f *families) forgetGrant(id string) {
	if f.principals != nil {
		f.principals.ForgetGrant(id)
	}
}
