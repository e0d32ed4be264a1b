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

// authorization returns a grant of a person who still belongs to its organization. A
// `resource` must be the grant's own or missing (RFC 8707 section 2.2). The grant may
// be revoked.
func (s *Server) authorization(ctx context.Context, orgID, id string, resources []string) (access.Grant, *refusal) {
	allowed, err := s.stores.Grants.Grant(ctx, orgID, id)
	if err != nil {
		return access.Grant{}, serverError(err)
	}
	if _, err := s.members.MemberScopes(ctx, orgID, allowed.UserID); isNotFound(err) {
		return access.Grant{}, invalidGrant("The person who authorized the client does not belong to the organization any more.")
	} else if err != nil {
		return access.Grant{}, serverError(err)
	}
	if len(resources) == 0 {
		return allowed, nil
	}
	named, refused := s.targets.requestedResource(resources)
	if refused != nil {
		return access.Grant{}, refused
	}
	if named != allowed.Resource {
		return access.Grant{}, invalidTarget("The authorization is for " + s.targets.address(allowed.Resource) + " and never for another `resource`. Leave the parameter out, or authorize again.")
	}
	return allowed, nil
}

// personalAnswer is the input for the tokens of a person.
type personalAnswer struct {
	client  access.Client
	allowed access.Grant
	scopes  core.Scopes
	refresh string
}

// answerPerson issues an access token that acts for a person. It carries the scopes of
// the grant; each call intersects them with the person's permissions.
func (s *Server) answerPerson(attempt *attempt, a personalAnswer) (*op.Response, error) {
	attempt.orgID = a.allowed.OrgID
	return s.answerToken(attempt, grant{
		id: a.allowed.ID, orgID: a.allowed.OrgID, subject: a.allowed.UserID, client: a.client,
		audience: s.targets.address(a.allowed.Resource), scopes: a.scopes,
	}, a.refresh)
}

// revokeGrant revokes a grant with all its tokens; this process applies it from the
// next request.
func (s *Server) revokeGrant(ctx context.Context, orgID, id string) error {
	err := s.stores.Grants.RevokeGrant(ctx, orgID, id, s.clock())
	if err != nil && !isNotFound(err) {
		return fmt.Errorf("revoke grant: %w", err)
	}
	s.forgetGrant(id)
	return nil
}

// reportReplay appends the second use of a code or refresh token to the organization's
// audit log. The store has revoked the grant already, so a failure changes nothing for
// the client.
func (s *Server) reportReplay(ctx context.Context, registered access.Client, grantID, orgID string) {
	s.forgetGrant(grantID)
	err := s.stores.Audit.AppendAudit(ctx, access.AuditEvent{
		ID: core.NewID(), OrgID: orgID, OccurredAt: s.clock(), Action: "grant.replayed",
		ActorKind: string(core.OAuthClient), ActorID: registered.ID, Surface: auditSurface,
		SubjectID: grantID, RequestID: attemptOf(ctx).requestID, Detail: "{}",
	})
	if err != nil {
		s.log.LogAttrs(ctx, slog.LevelError, "replay not audited", slog.String("grant", grantID), slog.Any("cause", err))
	}
}

func (s *Server) forgetGrant(id string) {
	if s.principals != nil {
		s.principals.ForgetGrant(id)
	}
}
