package smtp

import "context"

// Probe checks that the SMTP server can be reached and accepts the login. It opens its own
// connection, closes it again and sends no message.
func (s *SMTP) Probe(ctx context.Context, orgID string) error {
	caller := ctx
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	server, err := s.server(ctx, orgID)
	if err != nil {
		return err
	}
	session, failure := s.open(ctx, caller, loginOf(server))
	if failure != nil {
		return failure
	}
	session.close()
	return nil
}
