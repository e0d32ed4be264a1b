package inbound_test

import (
	"context"
	"errors"
	"testing"

	"github.com/mailhelm/mailhelm/core/inbound"
)

// domain is a router that knows one domain, and fails for another.
type domain struct{ id, known, broken string }

var errBroken = errors.New("no database")

func (d domain) Route(_ context.Context, address string) (inbound.Route, inbound.Refusal, error) {
	switch address {
	case "a@" + d.known:
		return inbound.Route{TargetID: d.id}, inbound.Accepted, nil
	case "none@" + d.known:
		return inbound.Route{}, inbound.NoSuchInbox, nil
	case "a@" + d.broken:
		return inbound.Route{}, inbound.Accepted, errBroken
	}
	return inbound.Route{}, inbound.NotOurs, nil
}

func TestRouters(t *testing.T) {
	t.Parallel()
	routers := inbound.Routers{domain{"1", "x.test", "down.test"}, domain{"2", "y.test", "x.test"}}
	for address, want := range map[string]struct {
		target  string
		refusal inbound.Refusal
		err     error
	}{
		"a@x.test":    {"1", inbound.Accepted, nil},
		"a@y.test":    {"2", inbound.Accepted, nil},
		"none@x.test": {"", inbound.NoSuchInbox, nil},
		"a@down.test": {"", inbound.Accepted, errBroken},
		"a@z.test":    {"", inbound.NotOurs, nil},
	} {
		route, refusal, err := routers.Route(t.Context(), address)
		if route.TargetID != want.target || refusal != want.refusal || !errors.Is(err, want.err) {
			t.Errorf("%s: %q, %v, %v", address, route.TargetID, refusal, err)
		}
	}
}
