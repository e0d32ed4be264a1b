package clientdocument

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"syscall"
	"time"

	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/cache"
	"github.com/mailhelm/mailhelm/core/outbound"
	"github.com/mailhelm/mailhelm/core/outbound/fetch"
	"golang.org/x/sync/singleflight"
)

// How long metadata documents and refusals are cached, and how many results the cache
// holds.
const (
	documentLife = time.Hour
	refusalLife  = 5 * time.Minute
	maxOutcomes  = 512
)

// outcome is the result of reading a metadata document: the document or an error.
type outcome struct {
	document access.ClientDocument
	refusal  error
}

// Reader reads clients' metadata documents and caches the results. It is safe for
// concurrent use.
type Reader struct {
	config  Config
	guard   guard
	fetcher *fetch.Fetcher
	slots   *outbound.Slots
	flights singleflight.Group
	// remembered caches fetched documents and refusals. When full, it drops the entry that
	// expires first among a few random ones. Refusals expire earlier than documents, so many
	// refusals displace few documents.
	remembered *cache.Cache[string, outcome]
}

var _ access.DocumentReader = (*Reader)(nil)

// New returns a reader.
func New(config Config) *Reader { return newReader(config, nil) }

// connectControl is the type of net.Dialer.Control.
type connectControl func(network, address string, conn syscall.RawConn) error

// newReader returns a reader. refuse is an additional check of each connection, which only
// tests use; it may be nil.
func newReader(config Config, refuse connectControl) *Reader {
	config = config.withDefaults()
	g := newGuard(config.Allowed)
	return &Reader{
		config: config, guard: g, fetcher: newFetcher(config, g, refuse),
		slots: outbound.NewSlots(slotLimits), remembered: cache.New[string, outcome](maxOutcomes),
	}
}

// ReadDocument returns the metadata document of a client. It fetches and checks the
// document, or returns a cached result. A document is cached for an hour, a refusal for
// five minutes. Every error is a *[Refusal]. Concurrent calls for one client share a fetch,
// which continues if the context of one of the calls ends.
func (r *Reader) ReadDocument(ctx context.Context, clientID string) (access.ClientDocument, error) {
	u, err := readClientID(clientID)
	if err != nil {
		return access.ClientDocument{}, err
	}
	if err := r.guard.checkURL(u); err != nil {
		return access.ClientDocument{}, err
	}
	if known, ok := r.remembered.Get(u.text, r.config.Clock()); ok {
		return known.result()
	}
	flight := r.flights.DoChan(u.text, func() (any, error) {
		return r.read(context.WithoutCancel(ctx), u), nil
	})
	select {
	case <-ctx.Done():
		return access.ClientDocument{}, interruptedError(ctx.Err())
	case landed := <-flight:
		result, ok := landed.Val.(outcome)
		if !ok {
			return access.ClientDocument{}, interruptedError(landed.Err)
		}
		return result.result()
	}
}

// result returns the document or the error. The returned document is a copy that the caller
// may modify.
func (o outcome) result() (access.ClientDocument, error) {
	d := o.document
	d.RedirectURIs, d.Scope = slices.Clone(d.RedirectURIs), slices.Clone(d.Scope)
	return d, o.refusal
}

// read fetches and checks the metadata document at u and caches the result.
func (r *Reader) read(ctx context.Context, u clientURL) outcome {
	// Another fetch may have cached the result since ReadDocument looked in the cache.
	if known, ok := r.remembered.Get(u.text, r.config.Clock()); ok {
		return known
	}
	ctx, cancel := context.WithTimeout(ctx, r.config.Deadline)
	defer cancel()
	leave, ok := r.slots.Enter(ctx, u.host)
	if !ok {
		r.config.Log.WarnContext(ctx, "too many client documents are being fetched", slog.String("client_host", u.host))
		return outcome{refusal: busy()}
	}
	defer leave()

	var result outcome
	body, err := r.fetch(ctx, u)
	if err == nil {
		result.document, err = readDocument(u, body)
	}
	result.refusal = err
	life := documentLife
	if err != nil {
		life = refusalLife
		r.config.Log.InfoContext(ctx, "a client document was refused",
			slog.String("client_host", u.host), slog.String("reason", err.Error()), slog.Any("cause", errors.Unwrap(err)))
	}
	r.remembered.Put(u.text, result, r.config.Clock().Add(life), r.remembered.Epoch())
	return result
}
