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

// Config configures the connection to Redis.
type Config struct {
	// URL is redis://user:password@host:port/database, or rediss:// for TLS.
	URL string
	// CAs sign the certificate of a Redis with TLS; nil means the CAs of the system.
	CAs *x509.CertPool
}

const (
	// dialTimeout is the longest time for opening a connection. Opening continues after a
	// call stopped waiting, so that the next call can use the connection.
	dialTimeout = 2 * time.Second
	// idleConns is the number of connections that stay open, so that most calls need not
	// open one.
	idleConns = 2
)

// quiet stops the library from writing to standard error: Ping and Take return the same
// failures.
var quiet = sync.OnceFunc(logging.Disable)

// Open returns buckets in the Redis at the URL, without connecting yet. Ping checks the
// connection. It fails when the URL is invalid; the error does not quote the URL, because
// that may contain a password.
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
	options.MaxRetries = -1 // a second try would cost the call the time of the first again
	options.DialTimeout, options.DialerRetries = dialTimeout, 1
	options.MinIdleConns = idleConns
	options.Protocol = 2
	options.DisableIdentity = true
	options.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	quiet()
	return &Buckets{client: redis.NewClient(options)}, nil
}
