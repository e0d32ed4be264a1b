package engine

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"

	"github.com/lib/pq"
)

// refusedError returns the error of a PostgreSQL that could not be opened, with what the
// operator should check. host is the host and port in the database URL. The text contains
// no password.
func refusedError(err error, host string) error {
	hint := refusalHint(err, host)
	if why := outageOf(err); why != "" {
		return fmt.Errorf("storage: open PostgreSQL: %s: %w; %s", why, err, hint)
	}
	return fmt.Errorf("storage: open PostgreSQL: %w; %s", err, hint)
}

// refusalHint returns what to check after PostgreSQL at host refused a connection.
func refusalHint(err error, host string) string {
	if host == "" {
		host = "the host in the database URL"
	}
	_, unknownHost := errors.AsType[*net.DNSError](err)
	switch state := sqlState(err); {
	case errors.Is(err, pq.ErrSSLNotSupported):
		return "this server has no TLS: turn it on there, or add sslmode=disable to the query of the database URL if the network between is trusted"
	case strings.Contains(err.Error(), "unsupported startup parameter"):
		return "leave this parameter out of the query of the database URL, or add it to ignore_startup_parameters of PgBouncer"
	case state == "28000" && strings.Contains(err.Error(), "no encryption"):
		return "this server admits only encrypted connections: set sslmode=require, or verify-full with sslrootcert, in the query of the database URL"
	case isCertificate(err):
		return "the certificate of the server is not trusted for " + host + ": name its authority with sslrootcert=FILE in the query of the database URL, or set sslmode=require if the network between is trusted"
	case state == "3D000":
		return "create the database, for example with createdb, or correct its name at the end of the database URL"
	case state == "28P01":
		return "correct the user or the password in the database URL; write special characters of the password as percent codes, such as %40 for @"
	case len(state) == 5 && state[:2] == "28":
		return "correct the user in the database URL, or let pg_hba.conf of the server admit this user, database and network"
	case state == "53300":
		return "raise max_connections of the server, or stop other clients"
	case unknownHost:
		return "correct the host in the database URL, or the name service of this machine"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "check that PostgreSQL runs, that it listens on " + host + ", and host and port in the database URL"
	case errors.Is(err, context.DeadlineExceeded), isTimeout(err):
		return "check that no firewall is between this machine and " + host
	}
	return "check the database URL, and that PostgreSQL at " + host + " accepts connections from this machine"
}

// isCertificate reports whether the certificate of the server was refused, because its authority
// is unknown or because it is for another name.
func isCertificate(err error) bool {
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	_, other := errors.AsType[x509.HostnameError](err)
	_, invalid := errors.AsType[x509.CertificateInvalidError](err)
	return unknown || other || invalid
}

// isTimeout reports whether a network call ended because of its time limit.
func isTimeout(err error) bool {
	network, ok := errors.AsType[net.Error](err)
	return ok && network.Timeout()
}
