package rest_test

import (
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

// TestAnAccountThatIsSilentIsNotKept checks the cache headers of GET /v1/account. If the
// sending account answers, clients may cache the answer for 60 seconds. If the sending
// account fails, the answer lacks its data and must have "no-store".
func TestAnAccountThatIsSilentIsNotKept(t *testing.T) {
	t.Parallel()
	a := start(t, product.Options{})
	look := func(when, cache string, whole bool) {
		t.Helper()
		got := a.do(t, "GET", "/v1/account", "").want(200)
		if kept, vary := got.header.Get("Cache-Control"), got.header.Get("Vary"); kept != cache || vary != "Authorization" {
			t.Errorf("%s: Cache-Control %q, Vary %q", when, kept, vary)
		}
		var shown struct{ AWS any }
		if got.decode(&shown); (shown.AWS != nil) != whole {
			t.Errorf("%s: %s", when, got.body)
		}
	}
	for _, kind := range []sending.FailureKind{sending.Refused, sending.Throttled, sending.Rejected, sending.TimedOut} {
		a.Simulator.Faults().Set(simulator.Fault{Method: simulator.MethodOverview, Kind: kind, Times: 100})
		look(string(kind), "no-store", false)
	}
	a.Simulator.Faults().Clear()
	look("as it answers again", "max-age=60", true)
	a.Clock.Advance(time.Minute)
	a.Simulator.Faults().Set(simulator.Fault{Method: simulator.MethodOverview, Kind: sending.Refused, Times: 100})
	look("when it falls silent", "no-store", false)
}
