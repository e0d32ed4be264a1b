package smtp

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
)

// Overview is what the configuration says, with how many recipients this process
// had messages for in the last 24 hours. It asks the server nothing.
func (s *SMTP) Overview(ctx context.Context, orgID string) (sending.Overview, error) {
	server, err := s.server(ctx, orgID)
	if err != nil {
		return sending.Overview{}, err
	}
	return sending.Overview{
		AccountID: server.Connection.AccountID, Region: server.Connection.Region, SendingEnabled: true,
		Max24HourSend: limitOf(server.Max24HourSend), MaxSendRate: limitOf(server.MaxSendRate),
		SentLast24Hours: s.boxes.of(orgID).allowance.lastDay(s.cfg.Clock()),
	}, nil
}

// noLimit is what providers answer where there is none.
const noLimit = -1

func limitOf(configured int64) int64 {
	if configured <= 0 {
		return noLimit
	}
	return configured
}

// Identities are the configured ones. Nobody verified them but their owner.
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

// maySendFrom reports whether the address is one of the identities or below one.
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

// ConfigurationSets are none.
func (s *SMTP) ConfigurationSets(ctx context.Context, orgID string) ([]sending.ConfigurationSet, error) {
	_, err := s.server(ctx, orgID)
	return nil, err
}

// Suppressed finds nobody: an SMTP server keeps no list that can be asked.
func (s *SMTP) Suppressed(ctx context.Context, orgID, _ string) (sending.Suppressed, error) {
	if _, err := s.server(ctx, orgID); err != nil {
		return sending.Suppressed{}, err
	}
	return sending.Suppressed{}, failed(sending.NotFound, errors.New("smtp: the server keeps no suppressed addresses"))
}

// SuppressedPage is empty. A token is Invalid: none was ever given out.
func (s *SMTP) SuppressedPage(ctx context.Context, orgID string, _, _ time.Time, token string) ([]sending.Suppressed, string, error) {
	return nil, "", s.emptyPage(ctx, orgID, token)
}

// TemplatesPage is empty. A token is Invalid: none was ever given out.
func (s *SMTP) TemplatesPage(ctx context.Context, orgID, token string) ([]sending.TemplateName, string, error) {
	return nil, "", s.emptyPage(ctx, orgID, token)
}

func (s *SMTP) emptyPage(ctx context.Context, orgID, token string) error {
	_, err := s.server(ctx, orgID)
	if err == nil && token != "" {
		err = invalid("the page token is none of ours")
	}
	return err
}

// Template finds none.
func (s *SMTP) Template(ctx context.Context, orgID, _ string) (sending.Template, error) {
	if _, err := s.server(ctx, orgID); err != nil {
		return sending.Template{}, err
	}
	return sending.Template{}, failed(sending.NotFound, errors.New("smtp: the server holds no templates"))
}

// PutTemplate is Unsupported: an SMTP server renders nothing.
func (s *SMTP) PutTemplate(ctx context.Context, orgID string, _ sending.Template) error {
	return s.unsupported(ctx, orgID, "the server holds no templates")
}

// DeleteTemplate has nothing to remove.
func (s *SMTP) DeleteTemplate(ctx context.Context, orgID, _ string) error {
	_, err := s.server(ctx, orgID)
	return err
}

// RequestProductionAccess is Unsupported: there is no sandbox to leave.
func (s *SMTP) RequestProductionAccess(ctx context.Context, orgID string, _ sending.ProductionRequest) error {
	return s.unsupported(ctx, orgID, "there is no sandbox to leave")
}

func (s *SMTP) unsupported(ctx context.Context, orgID, why string) error {
	if _, err := s.server(ctx, orgID); err != nil {
		return err
	}
	return failed(sending.Unsupported, errors.New("smtp: "+why))
}
