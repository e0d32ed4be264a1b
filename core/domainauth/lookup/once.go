package lookup

import (
	"context"
	"errors"
	"net/netip"
)

// errQueries is the error of queries beyond the limit.
var errQueries = errors.New("lookup: too many queries for one domain")

// once asks each question once, and remembers answers and failures. It makes at most maxQueries
// queries. It is not safe for concurrent use.
type once struct {
	resolver Resolver
	left     int
	answers  map[string]answer
}

type answer struct {
	value any
	err   error
}

func newOnce(r Resolver) *once {
	return &once{resolver: r, left: maxQueries, answers: map[string]answer{}}
}

func ask[T any](ctx context.Context, o *once, kind, name string, query func(context.Context, string) (T, error)) (T, error) {
	var none T
	key := kind + " " + name
	known, ok := o.answers[key]
	if !ok {
		if o.left == 0 {
			return none, errQueries
		}
		if err := ctx.Err(); err != nil {
			return none, err
		}
		o.left--
		value, err := query(ctx, name)
		known = answer{value, err}
		o.answers[key] = known
	}
	if known.err != nil {
		return none, known.err
	}
	return known.value.(T), nil
}

func (o *once) TXT(ctx context.Context, name string) ([]string, error) {
	return ask(ctx, o, "TXT", name, o.resolver.TXT)
}

func (o *once) Exists(ctx context.Context, name string) (bool, error) {
	return ask(ctx, o, "exists", name, o.resolver.Exists)
}

func (o *once) Addresses(ctx context.Context, name string) ([]netip.Addr, error) {
	return ask(ctx, o, "addresses", name, o.resolver.Addresses)
}

func (o *once) Exchanges(ctx context.Context, name string) ([]string, error) {
	return ask(ctx, o, "MX", name, o.resolver.Exchanges)
}

func (o *once) Alias(ctx context.Context, name string) (string, error) {
	return ask(ctx, o, "CNAME", name, o.resolver.Alias)
}
