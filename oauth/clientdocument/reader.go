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

// The lifetimes and the size of the cache.
const (
	documentLife = time.Hour
	refusalLife  = 5 * time.Minute
	maxOutcomes  = 512
)

// outcome is the result of reading a document: a document or an error.
type outcome struct {
	document access.ClientDocument
	refusal  error
}

// Reader reads metadata documents. It is safe for use by several goroutines.
type Reader struct {
	config  Config
	guard   guard
	fetcher *fetch.Fetcher
	slots   *outbound.Slots
	flights singleflight.Group
	// remembered is the cache. When full, it drops the entry that expires first, so a
	// flood of refusals displaces refusals and not documents.
	remembered *cache.Cache[string, outcome]
}

var _ access.DocumentReader = (*Reader)(nil)

// New returns a reader.
func New(config Config) *Reader { return newReader(config, nil) }

// connectControl is the type of net.Dialer.Control.
type connectControl func(network, address string, conn syscall.RawConn) error

// newReader is New with a further check of connections, for tests.
func newReader(config Config, refuse connectControl) *Reader {
	config = config.withDefaults()
	g := newGuard(config.Allowed)
	return &Reader{
		config: config, guard: g, fetcher: newFetcher(config, g, refuse),
		slots: outbound.NewSlots(slotLimits), remembered: cache.New[string, outcome](maxOutcomes),
	}
}

// ReadDocument returns the document at a client id. It fetches and checks the document,
// or returns a cached result: a document for an hour, a refusal for five minutes. Every
// error is a *[Refusal]. Concurrent calls for the same document share one fetch, which
// continues when one of the callers leaves.
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

// result returns a copy that the caller may modify.
func (o outcome) result() (access.ClientDocument, error) {
	d := o.document
	d.RedirectURIs, d.Scope = slices.Clone(d.RedirectURIs), slices.Clone(d.Scope)
	return d, o.refusal
}

// read fetches and checks a document once, and caches the result.
func (r *Reader) read(ctx context.Context, u clientURL) outcome {
	// The previous fetch may have ended since the caller looked in the cache.
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
