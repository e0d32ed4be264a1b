package redisbuckets

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"
)

// Config has the address of Redis and the certificate authorities to trust.
type Config struct {
	// URL is redis://user:password@host:port/database, or rediss:// for TLS. The default of
	// the port is 6379, that of the database 0.
	URL string
	// CAs has the certificate authorities that may have signed the certificate of Redis; nil
	// means the CAs of the system.
	CAs *x509.CertPool
}

const (
	// dialTimeout is the longest time for opening a connection, for each of its steps: TCP, TLS
	// and each command of the sign-in.
	dialTimeout = 2 * time.Second
	// answerTimeout is the longest time for an answer to a call without a deadline.
	answerTimeout = 2 * time.Second
	// mostConns is the largest number of connections. Further calls wait for one.
	mostConns   = 32
	defaultPort = "6379"
)

// Open returns token buckets in the Redis at cfg.URL. It does not connect; Ping checks the
// connection. It fails if the URL is invalid. The error does not quote the URL, which may
// contain a password.
func Open(cfg Config) (*Buckets, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil || u.Scheme != "redis" && u.Scheme != "rediss" || u.Hostname() == "" {
		return nil, errors.New("must be an address such as redis://:password@host:6379/0, or rediss:// for TLS")
	}
	options, err := optionsOf(u)
	if err != nil {
		return nil, err
	}
	if u.Scheme == "rediss" {
		settings := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: cfg.CAs, ServerName: u.Hostname()}
		options = append(options, redis.DialUseTLS(true), redis.DialTLSConfig(settings), redis.DialTLSHandshakeTimeout(dialTimeout))
	}
	port := u.Port()
	if port == "" {
		port = defaultPort
	}
	return newBuckets(net.JoinHostPort(u.Hostname(), port), options), nil
}

// optionsOf returns the options for a connection to the Redis at u, except those for TLS.
func optionsOf(u *url.URL) ([]redis.DialOption, error) {
	if u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("has parameters after a question mark or a number sign; the address ends with the number of the database")
	}
	database := 0
	if path := strings.TrimPrefix(u.Path, "/"); path != "" {
		var err error
		if database, err = strconv.Atoi(path); err != nil || database < 0 {
			return nil, errors.New("has a database that is not a number, such as 0")
		}
	}
	password, _ := u.User.Password()
	return []redis.DialOption{
		redis.DialConnectTimeout(dialTimeout), redis.DialReadTimeout(dialTimeout), redis.DialWriteTimeout(dialTimeout),
		redis.DialUsername(u.User.Username()), redis.DialPassword(password), redis.DialDatabase(database),
	}, nil
}
