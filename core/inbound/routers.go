package inbound

import "context"

// Routers asks routers in turn until one knows the domain of an address.
type Routers []Router

// Route implements [Router].
func (all Routers) Route(ctx context.Context, address string) (Route, Refusal, error) {
	for _, r := range all {
		route, refusal, err := r.Route(ctx, address)
		if err != nil || refusal != NotOurs {
			return route, refusal, err
		}
	}
	return Route{}, NotOurs, nil
}
