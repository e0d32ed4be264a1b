package attacks_test

import (
	"encoding/json"
	"net/url"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
)

// TestAddressesHoldVisibleASCII checks that email addresses with characters other than
// visible ASCII are refused, even inside quotes, where the mail syntax allows them.
// Addresses are copied into headers, logs and prompts.
func TestAddressesHoldVisibleASCII(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	c := caller{p, p.Live.APIKey}
	for name, email := range map[string]string{
		"direction override": "\"\u202egpj.exe\"@example.com", "Kelvin sign": "\"\u212a\"@example.com",
		"zero width": "\"a\u200bb\"@example.com", "tag characters": "\"a\U000e0041\"@example.com",
		"dotted I": "\"\u0130\"@example.com", "empty quoted": `""@example.com`,
	} {
		body, err := json.Marshal(map[string]string{"email": email})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.rest(t, "POST", "/v1/contacts", string(body)); got.status != 422 {
			t.Errorf("%s: %q is stored: %d", name, email, got.status)
		}
	}
	// Lookups by invalid addresses are refused too.
	for _, email := range []string{"\"a\r\nBcc: x\"@example.com", "@example.com", "\"\x1b[31m\"@example.com"} {
		c.rest(t, "GET", "/v1/contacts/"+url.PathEscape(email), "").want(t, 422)
	}
}

// TestNumbersAsTextKeepTheirDigits sends JSON numbers for an attribute of the type string.
// The attribute must store the digits as sent. A number that a float64 cannot represent
// exactly must be refused.
func TestNumbersAsTextKeepTheirDigits(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		c := caller{p, p.Live.APIKey}
		for _, number := range []string{"12345678901234567890", "9007199254740993"} {
			c.rest(t, "PUT", "/v1/contacts/digits@example.com", `{"attributes":{"first_name":`+number+`}}`).want(t, 422)
		}
		for _, number := range []string{"9007199254740991", "1.0", "1e22"} {
			got := c.rest(t, "PUT", "/v1/contacts/digits@example.com", `{"attributes":{"first_name":`+number+`}}`)
			if stored := attribute(t, got, "first_name"); stored != number {
				t.Errorf("%s is stored as %v", number, stored)
			}
		}
	})
}

// TestLastInstantsStayReadable sends the earliest and the latest time that RFC 3339 can
// express. The API must refuse the time, or return it in RFC 3339 format.
func TestLastInstantsStayReadable(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		c := caller{p, p.Live.APIKey}
		for _, instant := range []string{"9999-12-31T23:59:59-10:00", "0001-01-01T00:00:00+14:00"} {
			got := c.rest(t, "PUT", "/v1/contacts/late@example.com", `{"attributes":{"last_order_at":"`+instant+`"}}`)
			if got.status == 422 {
				continue // a refusal is correct too
			}
			stored, _ := attribute(t, got, "last_order_at").(string)
			if at, err := time.Parse(time.RFC3339Nano, stored); err != nil || at.Year() < 1 {
				t.Errorf("%s is stored as %q", instant, stored)
			}
		}
	})
}

func attribute(t *testing.T, got reply, name string) any {
	t.Helper()
	var contact struct {
		Attributes map[string]any `json:"attributes"`
	}
	if err := json.Unmarshal([]byte(got.body), &contact); err != nil {
		t.Fatalf("status %d: %.300s", got.status, got.body)
	}
	return contact.Attributes[name]
}
