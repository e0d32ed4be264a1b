package doctor

import (
	"crypto/tls"
	"crypto/x509"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
)

// expiresSoon is how long before its end a certificate is reported. Certificates are usually
// renewed 30 days before.
const expiresSoon = 14 * 24 * time.Hour

// certificate examines the certificate of the SMTP server for incoming mail, as that server
// reads it. Files that cannot be used are a Fail, because a server does not start with them.
// An expired certificate or one for another name is a Warn: most senders encrypt with any
// certificate, but those that follow a policy of the domain (MTA-STS, DANE) send no mail then.
func (e *examination) certificate() {
	const name = "smtp certificate"
	if e.cfg.Role == config.Worker || (e.cfg.SMTPCert == "") != (e.cfg.SMTPKey == "") {
		return // a worker has no SMTP server, and e.settings has reported a missing file
	}
	host := e.cfg.ReceiverName(e.cfg.Complete())
	if e.cfg.SMTPCert == "" {
		e.add(name, OK, "made at each start for "+host+", and signed by itself; set --smtp-cert and --smtp-key for one of a public authority", "")
		return
	}
	pair, err := tls.LoadX509KeyPair(e.cfg.SMTPCert, e.cfg.SMTPKey)
	if err != nil {
		e.add(name, Fail, err.Error(), "Check that --smtp-cert and --smtp-key name PEM files that belong together and that this user can read.")
		return
	}
	if e.certificateTimes(name, pair.Leaf) && e.certificateNames(name, pair.Leaf, host) {
		e.add(name, OK, "valid for "+host+" until "+day(pair.Leaf.NotAfter), "")
	}
}

// certificateTimes adds a Warn and returns false if the certificate is not valid now, or not
// for long.
func (e *examination) certificateTimes(name string, leaf *x509.Certificate) bool {
	const next = "Renew the files of --smtp-cert and --smtp-key. A running server uses new files without a restart."
	now := e.cfg.Clock()
	switch {
	case now.Before(leaf.NotBefore):
		e.add(name, Warn, e.cfg.SMTPCert+" is not valid before "+day(leaf.NotBefore), "Check the clock of this machine, and the file.")
	case now.After(leaf.NotAfter):
		e.add(name, Warn, e.cfg.SMTPCert+" expired on "+day(leaf.NotAfter), next)
	case now.Add(expiresSoon).After(leaf.NotAfter):
		e.add(name, Warn, e.cfg.SMTPCert+" expires on "+day(leaf.NotAfter), next)
	default:
		return true
	}
	return false
}

// certificateNames adds a Warn and returns false if the certificate does not cover the name in
// the greeting, or the name to which MX records lead.
func (e *examination) certificateNames(name string, leaf *x509.Certificate, host string) bool {
	for _, one := range []string{host, e.cfg.MailHost} {
		if one != "" && leaf.VerifyHostname(one) != nil {
			e.add(name, Warn, e.cfg.SMTPCert+" is not for "+one, "Get a certificate with this name, or correct --smtp-name or --mail-host.")
			return false
		}
	}
	return true
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }
