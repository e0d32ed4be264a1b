package redisbuckets

import (
	"crypto/x509"
	"errors"
	"net/url"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Config has the address of Redis and the certificate authorities to trust.
type Config struct {
	// URL is redis://user:password@host:port/database, or rediss:// for TLS.
	URL string
	// CAs has the certificate authorities that may have signed the certificate of Redis; nil
	// means the CAs of the system.
	CAs *x509.CertPool
}

const (
	// dialTimeout is the longest time for opening a connection. If a call stops waiting for
	// its connection, the connection is still opened, and the next call can use it.
	dialTimeout = 2 * time.Second
	// idleConns is the minimum number of idle connections to Redis that are kept open for
	// later calls.
	idleConns = 2
)

// quiet disables the library's log on standard error; Ping and Take return its errors.
var quiet = sync.OnceFunc(logging.Disable)

// Open returns token buckets in the Redis at cfg.URL. It does not connect; Ping checks the
// connection. It fails if the URL is invalid. The error does not quote the URL, which may
// contain a password.
func Open(cfg Config) (*Buckets, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil || u.Scheme != "redis" && u.Scheme != "rediss" || u.Hostname() == "" {
		return nil, errors.New("must be an address such as redis://:password@host:6379/0, or rediss:// for TLS")
	}
	options, err := redis.ParseURL(cfg.URL)
	if err != nil {
		return nil, errors.New("has a database, a port or a parameter that is not understood")
	}
	if options.TLSConfig != nil {
		if options.TLSConfig.InsecureSkipVerify {
			return nil, errors.New("must not turn off the verification of certificates; make the system trust the issuer, for example with SSL_CERT_FILE")
		}
		options.TLSConfig.RootCAs = cfg.CAs
	}
	options.ContextTimeoutEnabled = true
	options.MaxRetries = -1 // no retry, because a retry would double the time that a call waits
	options.DialTimeout, options.DialerRetries = dialTimeout, 1
	options.MinIdleConns = idleConns
	options.Protocol = 2
	options.DisableIdentity = true
	options.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	quiet()
	return &Buckets{client: redis.NewClient(options)}, nil
}
