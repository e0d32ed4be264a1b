package demo

import (
	"context"
	"io"
	"log/slog"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/demo/demodata"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/demo/demomail"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve"
)

// mailHost is the host in the MX record of the demo's receiving domain.
const mailHost = "mx.example.net"

// mailIn has the servers on the loopback that take the place of the Internet for received mail.
type mailIn struct {
	names    *demomail.Names
	receiver *demomail.Receiver
	log      *slog.Logger
}

// openMailIn starts the servers and adds what the demo needs for received mail to its
// configuration. out gets the webhooks that the receiver shows.
func openMailIn(out io.Writer, cfg *config.Config) (mailIn, error) {
	in := mailIn{log: cfg.Log}
	var err error
	if in.names, err = demomail.ServeNames(); err != nil {
		return in, err
	}
	if in.receiver, err = demomail.ServeReceiver(out); err != nil {
		in.names.Close()
		return in, err
	}
	cfg.MailHost, cfg.DNSServers = mailHost, []string{in.names.Address}
	cfg.WebhookCAs, cfg.WebhookNetworks = in.receiver.Certificates, []string{"127.0.0.0/8", "::1/128"}
	return in, nil
}

// close stops the servers.
func (in mailIn) close() {
	in.names.Close()
	in.receiver.Close()
}

// fill gives the demo received mail, and lets the receiver show the webhooks that follow.
func (in mailIn) fill(ctx context.Context, h *serve.Host, c demodata.Credentials) error {
	db, domains := h.DB(), h.Domains()
	user, err := db.Users().UserByEmail(ctx, c.UserEmail)
	if err != nil {
		return err
	}
	a := h.Addresses()
	defer in.receiver.Show()
	return demomail.Seeder{
		API: demomail.API{BaseURL: a.API, Key: c.APIKey}, SMTP: a.SMTP, Names: in.names, Receiver: in.receiver, OrgID: c.OrgID, UserID: user.ID,
		Inboxes: db.Inboxes(), Senders: db.VerifiedSenders(), Domains: domains.Receiving.Store, Queue: db.ReceivedDeliveries(), Sealer: domains.Receiving.Sealer,
		Tx: db, Clock: h.Clock(), Log: in.log,
	}.Ensure(ctx)
}
