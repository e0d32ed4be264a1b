package attacks_test

import (
	"encoding/json"
	"math"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
)

// sameText reports whether the attribute city of a contact, given as JSON, equals the text
// that a JSON string literal stands for.
func sameText(t *testing.T, contact, literal string) bool {
	t.Helper()
	var stored struct {
		Attributes struct {
			City string `json:"city"`
		} `json:"attributes"`
	}
	var sent string
	if err := json.Unmarshal([]byte(contact), &stored); err != nil {
		t.Fatalf("%.200s: %v", contact, err)
	}
	if err := json.Unmarshal([]byte(literal), &sent); err != nil {
		t.Fatal(err)
	}
	return stored.Attributes.City == sent
}

// TestForgedCursorsReadOwnDataOnly sends page cursors that a caller has made up, with
// extreme times and invalid ids. Callers can decode cursors and write their own. The answer
// must be a refusal or contacts of the caller's own organization only.
func TestForgedCursorsReadOwnDataOnly(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		c := caller{p, p.Live.APIKey}
		filter := `contacts "active" "" "" "any" "" ""`
		for _, micros := range []int64{math.MaxInt64, math.MinInt64, 0, -1, math.MaxInt64 / 1000, 253402300800000000} {
			for _, id := range []string{"00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF"} {
				cursor := core.EncodeCursor(filter, strconv.FormatInt(micros, 10), id)
				got := c.rest(t, "GET", "/v1/contacts?limit=200&cursor="+url.QueryEscape(cursor), "").want(t, 200)
				if strings.Contains(got.body, p.Other.Contact) {
					t.Errorf("cursor at %d shows the other organization's contact", micros)
				}
			}
		}
		for _, keys := range [][]string{{"9223372036854775808", "x"}, {"1", "' OR 1=1 --"}, {"1e3", core.NewID()}, {"", ""}, {"1", core.NewID(), "2"}} {
			cursor := core.EncodeCursor(filter, keys...)
			c.rest(t, "GET", "/v1/contacts?cursor="+url.QueryEscape(cursor), "").want(t, 422)
		}
	})
}
