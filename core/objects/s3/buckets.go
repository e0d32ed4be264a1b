package s3

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/outbound"
)

// The limits of connections and calls.
const (
	dialTimeout    = 5 * time.Second
	idleTimeout    = 60 * time.Second
	idleToOneHost  = 32
	maxHeaderBytes = 64 << 10
	// callTimeout is the time for a call with two attempts, and for the first byte of an
	// answer. A body gets more time by its size.
	callTimeout = 30 * time.Second
	// slowest is the lowest accepted rate of a body, in bytes a second.
	slowest = 128 << 10
	// readTimeout is the time to read an object.
	readTimeout = 10 * time.Minute
	maxAttempts = 2
	maxBackoff  = 200 * time.Millisecond
	// deletions is how many objects of one call are deleted at a time.
	deletions = 8
)

// Config configures [Buckets]. The zero value is right for production, except for Clock.
type Config struct {
	// Allowed has networks that may be reached on any port, in addition to port 443 on the
	// public Internet.
	Allowed []netip.Prefix
	// Roots has the trusted certificate authorities; nil means those of the system.
	Roots *x509.CertPool
	// Resolver looks up host names; nil means the resolver of the system.
	Resolver *net.Resolver
	// Timeout replaces the time limit of a call, 30 seconds, if it is not 0.
	Timeout time.Duration
	Clock   core.Clock
}

// Buckets opens stores in buckets. All stores share connections. It is safe for concurrent
// use.
type Buckets struct {
	config Config
	client *http.Client
}

// New returns Buckets.
func New(cfg Config) *Buckets {
	if cfg.Timeout == 0 {
		cfg.Timeout = callTimeout
	}
	dialer := net.Dialer{Timeout: min(dialTimeout, cfg.Timeout), Resolver: cfg.Resolver, Control: outbound.New(cfg.Allowed, 443).Control}
	return &Buckets{config: cfg, client: &http.Client{
		Transport: &http.Transport{
			DialContext:            dialer.DialContext,
			TLSClientConfig:        &tls.Config{RootCAs: cfg.Roots, MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout:    min(dialTimeout, cfg.Timeout),
			ResponseHeaderTimeout:  cfg.Timeout,
			IdleConnTimeout:        idleTimeout,
			MaxIdleConnsPerHost:    idleToOneHost,
			MaxResponseHeaderBytes: maxHeaderBytes,
			DisableCompression:     true,
		},
		// A redirect would lead to another region or to a host that was not checked.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Open returns the store in a bucket. id is the id of the store. The bucket is checked; see
// objects.Bucket.Checked. Open makes no connection.
func (b *Buckets) Open(id string, bucket objects.Bucket) objects.Store { return b.open(id, bucket) }

func (b *Buckets) open(id string, bucket objects.Bucket) *store {
	options := s3.Options{
		Region: bucket.Region, UsePathStyle: bucket.PathStyle, HTTPClient: b.client, AppID: "mailhelm",
		Credentials: credentials.NewStaticCredentialsProvider(bucket.AccessKeyID, bucket.Secret, ""),
		Retryer: retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts, o.MaxBackoff = maxAttempts, maxBackoff
		}),
		RequestChecksumCalculation:  aws.RequestChecksumCalculationWhenRequired,
		ResponseChecksumValidation:  aws.ResponseChecksumValidationWhenRequired,
		DisableS3ExpressSessionAuth: aws.Bool(true), DisableMultiRegionAccessPoints: true,
		DisableLogOutputChecksumValidationSkipped: true,
	}
	if bucket.Endpoint != "" {
		options.BaseEndpoint = aws.String(bucket.Endpoint)
	}
	client := s3.New(options)
	return &store{id: id, bucket: bucket, client: client, presign: s3.NewPresignClient(client), config: b.config}
}

// Close closes idle connections.
func (b *Buckets) Close() { b.client.CloseIdleConnections() }

// bounded returns a context for a call that transfers a body of size bytes.
func (c Config) bounded(ctx context.Context, size int64) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, c.Timeout+time.Duration(size/slowest)*time.Second, errTooSlow)
}

// errTooSlow is the cause of a context that ended because a bucket was too slow.
var errTooSlow = errors.New("the bucket did not answer in time")

// Download returns the first bytes of the answer to a link of a store, at most limit. Its
// requests have the same limits as the calls of stores. It fails with an *objects.Failure
// for an answer other than 200.
func (b *Buckets) Download(ctx context.Context, url string, limit int) ([]byte, error) {
	bounded, cancel := b.config.bounded(ctx, 0)
	defer cancel()
	r, err := http.NewRequestWithContext(bounded, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	answer, err := b.client.Do(r)
	if err != nil {
		return nil, failureOf(bounded, ctx, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		f := &objects.Failure{Status: answer.StatusCode, Err: fmt.Errorf("download of a link: status %d", answer.StatusCode)}
		f.Cause = causeOf(f, f.Err)
		return nil, f
	}
	content, err := io.ReadAll(io.LimitReader(answer.Body, int64(limit)))
	return content, failureOf(bounded, ctx, err)
}
