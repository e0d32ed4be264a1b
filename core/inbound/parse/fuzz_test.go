package parse_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/core/inbound/inboundtest"
	"github.com/mailhelm/mailhelm/core/inbound/parse"
)

// FuzzParse reads any bytes, with the default limits and with limits so small that they are
// reached. The properties of checkProperties must hold.
func FuzzParse(f *testing.F) {
	for _, s := range inboundtest.Hostile() {
		if s.Message.Size() < 5000 {
			f.Add(s.Message.Bytes())
		}
	}
	small := parse.Limits{Depth: 2, Parts: 4, Headers: 3, HeaderBytes: 100, ValueBytes: 40, BodyBytes: 30, Addresses: 2}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, limits := range []parse.Limits{parse.DefaultLimits, small} {
			checkProperties(t, parse.Bytes(raw, limits), int64(len(raw)), limits)
		}
	})
}
