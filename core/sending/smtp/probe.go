package smtp

import "context"

// Probe connects to the server and signs in, and sends no message. It uses a connection
// of its own and closes it.
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
