package config

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// maxHostName is the longest host name in bytes (RFC 1035 section 2.3.4).
const maxHostName = 253

// ReceiverName returns the host name in the greeting of the SMTP server for incoming mail:
// SMTPName, else MailHost, else the host of the app's public address.
func (c Config) ReceiverName(public Public) string {
	host := "localhost"
	if u, err := url.Parse(public.App); err == nil && u.Hostname() != "" {
		host = u.Hostname()
	}
	return cmp.Or(c.SMTPName, c.MailHost, host)
}

// noDNS is the value of --dns-servers with which no name server is asked.
const noDNS = "none"

// NoDNS reports whether received mail is not checked by DNS.
func (c Config) NoDNS() bool { return len(c.DNSServers) == 1 && c.DNSServers[0] == noDNS }

// checkReceiver checks the settings of the SMTP server for incoming mail. It does not read the
// files.
func (c Config) checkReceiver() error {
	for _, one := range []struct{ flag, host string }{{"--mail-host", c.MailHost}, {"--smtp-name", c.SMTPName}} {
		if one.host != "" && !isHostName(one.host) {
			return fmt.Errorf("%s %q: must be a host name such as mx.example.com", one.flag, one.host)
		}
	}
	for _, server := range c.DNSServers {
		if _, err := netip.ParseAddrPort(server); err != nil && !c.NoDNS() {
			return fmt.Errorf("--dns-servers %q: must be an IP address with a port such as 192.0.2.1:53, or none", server)
		}
	}
	switch {
	case c.SMTPCert == "" && c.SMTPKey != "":
		return errors.New("--smtp-key is set without --smtp-cert: name the file of the certificate too")
	case c.SMTPCert != "" && c.SMTPKey == "":
		return errors.New("--smtp-cert is set without --smtp-key: name the file of the key too")
	}
	return nil
}

// isHostName reports whether s is a host name of letters, digits and hyphens.
func isHostName(s string) bool {
	if len(s) > maxHostName {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || strings.HasPrefix(label, "-") || strings.HasSuffix(label, "-") || strings.Trim(strings.ToLower(label), "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			return false
		}
	}
	return true
}
