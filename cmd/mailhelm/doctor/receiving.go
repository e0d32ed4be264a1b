package doctor

import (
	"strings"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
)

// receiving reports for which addresses the server receives mail. It asks no name server: the
// records of a domain are checked when an organization adds it.
func (e *examination) receiving() {
	if e.cfg.Role == config.Worker || e.cfg.Check() != nil {
		return // a worker has no SMTP server, and e.settings has reported the fault
	}
	inboxes := "inboxes at " + e.cfg.MailDomain()
	if isLocal(e.cfg.MailDomain()) {
		inboxes += ", to which only programs on this machine can send; set --inbox-domain for others"
	}
	domains := "no receiving domains; set --mail-host or --receive-ses-regions for them"
	switch {
	case e.cfg.MailHost != "":
		domains = "receiving domains whose MX record is 10 " + e.cfg.MailHost
	case len(e.cfg.ReceiveSESRegions) > 0:
		domains = "receiving domains by Amazon SES in " + strings.Join(e.cfg.ReceiveSESRegions, ", ")
	}
	e.add("received mail", OK, inboxes+". "+domains, "")
}
