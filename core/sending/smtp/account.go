package smtp

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
)

// Overview returns the configured quota and the number of recipients to which this process
// sent in the last 24 hours. It does not contact the SMTP server.
func (s *SMTP) Overview(ctx context.Context, orgID string) (sending.Overview, error) {
	server, err := s.server(ctx, orgID)
	if err != nil {
		return sending.Overview{}, err
	}
	return sending.Overview{
		AccountID: server.Connection.AccountID, Region: server.Connection.Region, SendingEnabled: true,
		Max24HourSend: limitOf(server.Max24HourSend), MaxSendRate: limitOf(server.MaxSendRate),
		SentLast24Hours: s.boxes.outboxOf(orgID).allowance.lastDay(s.cfg.Clock()),
	}, nil
}

// noLimit is the value of Max24HourSend and MaxSendRate in an Overview for an account
// without a limit.
const noLimit = -1

func limitOf(configured int64) int64 {
	if configured <= 0 {
		return noLimit
	}
	return configured
}

// Identities returns the identities that the organization configured. They have the status
// verified, because an SMTP server cannot report a status.
func (s *SMTP) Identities(ctx context.Context, orgID string) ([]sending.Identity, error) {
	server, err := s.server(ctx, orgID)
	if err != nil {
		return nil, err
	}
	identities := make([]sending.Identity, 0, len(server.Identities))
	for _, identity := range server.Identities {
		identities = append(identities, sending.Identity{Identity: identity, Verification: sending.Success})
	}
	return identities, nil
}

// maySendFrom reports whether the account may send from the address. The address must be a
// configured identity, or be in a configured domain or in one of its subdomains. Without
// configured identities it returns true.
func (s Server) maySendFrom(address string) bool {
	_, domain, _ := strings.Cut(strings.ToLower(address), "@")
	for _, identity := range s.Identities {
		identity = strings.ToLower(identity)
		if strings.EqualFold(identity, address) || identity == domain || strings.HasSuffix(domain, "."+identity) {
			return true
		}
	}
	return len(s.Identities) == 0
}

// ConfigurationSets returns an empty list: SMTP servers have no configuration sets.
func (s *SMTP) ConfigurationSets(ctx context.Context, orgID string) ([]sending.ConfigurationSet, error) {
	_, err := s.server(ctx, orgID)
	return nil, err
}

// FindSuppressed fails with NotFound: SMTP servers have no suppression list to read.
func (s *SMTP) FindSuppressed(ctx context.Context, orgID, _ string) (sending.Suppressed, error) {
	if _, err := s.server(ctx, orgID); err != nil {
		return sending.Suppressed{}, err
	}
	return sending.Suppressed{}, newFailure(sending.NotFound, errors.New("smtp: the server has no suppression list"))
}

// SuppressedPage returns an empty page: SMTP servers have no suppression list to read. It
// fails with Invalid if token is not "".
func (s *SMTP) SuppressedPage(ctx context.Context, orgID string, _, _ time.Time, token string) ([]sending.Suppressed, string, error) {
	return nil, "", s.emptyPage(ctx, orgID, token)
}

// TemplatesPage returns an empty page: SMTP servers have no templates. It fails with
// Invalid if token is not "".
func (s *SMTP) TemplatesPage(ctx context.Context, orgID, token string) ([]sending.TemplateName, string, error) {
	return nil, "", s.emptyPage(ctx, orgID, token)
}

func (s *SMTP) emptyPage(ctx context.Context, orgID, token string) error {
	_, err := s.server(ctx, orgID)
	if err == nil && token != "" {
		err = invalid("the page token is not from this account")
	}
	return err
}

// Template fails with NotFound: SMTP servers have no templates.
func (s *SMTP) Template(ctx context.Context, orgID, _ string) (sending.Template, error) {
	if _, err := s.server(ctx, orgID); err != nil {
		return sending.Template{}, err
	}
	return sending.Template{}, newFailure(sending.NotFound, errors.New("smtp: the server stores no templates"))
}

// PutTemplate fails with Unsupported: SMTP servers have no templates.
func (s *SMTP) PutTemplate(ctx context.Context, orgID string, _ sending.Template) error {
	return s.unsupportedError(ctx, orgID, "the server holds no templates")
}

// DeleteTemplate does nothing and succeeds: SMTP servers have no templates.
func (s *SMTP) DeleteTemplate(ctx context.Context, orgID, _ string) error {
	_, err := s.server(ctx, orgID)
	return err
}

// RequestProductionAccess fails with Unsupported: SMTP accounts have no sandbox.
func (s *SMTP) RequestProductionAccess(ctx context.Context, orgID string, _ sending.ProductionRequest) error {
	return s.unsupportedError(ctx, orgID, "an SMTP server has no sandbox")
}

func (s *SMTP) unsupportedError(ctx context.Context, orgID, why string) error {
	if _, err := s.server(ctx, orgID); err != nil {
		return err
	}
	return newFailure(sending.Unsupported, errors.New("smtp: "+why))
}
