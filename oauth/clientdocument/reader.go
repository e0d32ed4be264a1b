package clientdocument

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/cache"
	"golang.org/x/sync/singleflight"
)

// How long is remembered what was read, and how much of it.
const (
	documentLife = time.Hour
	refusalLife  = 5 * time.Minute
	maxOutcomes  = 512
)

// outcome is what reading a document came to: one of the two.
type outcome struct {
	document access.ClientDocument
	refusal  error
}

// Reader reads metadata documents. It is safe for use by several goroutines.
type Reader struct {
	config    Config
	guard     guard
	transport *http.Transport
	places    *places
	flights   singleflight.Group
	// remembered drops what ends soonest when it is full, so a flood of refusals
	// pushes out refusals.
	remembered *cache.Cache[string, outcome]
}

var _ access.DocumentReader = (*Reader)(nil)

// New makes a reader.
func New(config Config) *Reader {
	return newReader(config, newGuard(config.Allowed).Control)
}

// newReader lets tests watch what is connected to.
func newReader(config Config, control connectControl) *Reader {
	config = config.withDefaults()
	return &Reader{
		config: config, guard: newGuard(config.Allowed), transport: newTransport(config, control),
		places: newPlaces(), remembered: cache.New[string, outcome](maxOutcomes),
	}
}

// ReadDocument fetches and checks the document at a client id, or returns what
// is remembered of it: a document for an hour, a refusal for five minutes. Every
// error is a *[Refusal]. Callers who ask for the same document at the same time
// wait for one fetch, which goes on when one of them leaves.
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
		return access.ClientDocument{}, interrupted(ctx.Err())
	case landed := <-flight:
		result, ok := landed.Val.(outcome)
		if !ok {
			return access.ClientDocument{}, interrupted(landed.Err)
		}
		return result.result()
	}
}

// result is for one caller, who may change what it gets.
func (o outcome) result() (access.ClientDocument, error) {
	d := o.document
	d.RedirectURIs, d.Scope = slices.Clone(d.RedirectURIs), slices.Clone(d.Scope)
	return d, o.refusal
}

// read is one flight: it waits for a place, fetches, judges and remembers.
func (r *Reader) read(ctx context.Context, u clientURL) outcome {
	// The flight before this one may have landed since the caller looked.
	if known, ok := r.remembered.Get(u.text, r.config.Clock()); ok {
		return known
	}
	ctx, cancel := context.WithTimeout(ctx, r.config.Deadline)
	defer cancel()
	leave, ok := r.places.enter(ctx, u.host)
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
