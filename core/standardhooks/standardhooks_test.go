package standardhooks_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/standardhooks"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// TestSignatureIsOfStandardWebhooks verifies signatures with the library of the
// specification, with each of two secrets, and after changes of the signed parts.
func TestSignatureIsOfStandardWebhooks(t *testing.T) {
	t.Parallel()
	now, body := time.Now(), []byte(`{"type":"bounced"}`)
	first, second := standardhooks.NewSecret(), standardhooks.NewSecret()
	signature, err := standardhooks.Sign("id-1", now, body, first, second)
	if err != nil || strings.Count(signature, "v1,") != 2 || first == second {
		t.Fatalf("%q, %v", signature, err)
	}
	headers := func(id string, at time.Time) http.Header {
		h := http.Header{}
		h.Set("webhook-id", id)
		h.Set("webhook-timestamp", strconv.FormatInt(at.Unix(), 10))
		h.Set("webhook-signature", signature)
		return h
	}
	for name, tc := range map[string]struct {
		secret  string
		headers http.Header
		body    []byte
		valid   bool
	}{
		"new secret":    {first, headers("id-1", now), body, true},
		"old secret":    {second, headers("id-1", now), body, true},
		"other secret":  {standardhooks.NewSecret(), headers("id-1", now), body, false},
		"changed id":    {first, headers("id-2", now), body, false},
		"changed time":  {first, headers("id-1", now.Add(-time.Second)), body, false},
		"changed body":  {first, headers("id-1", now), []byte(`{"type":"sent"}`), false},
		"removed space": {second, headers("id-1", now), append([]byte(" "), body...), false},
	} {
		receiver, err := standardwebhooks.NewWebhook(tc.secret)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := receiver.Verify(tc.body, tc.headers); (err == nil) != tc.valid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSignRefusesOtherSecrets checks that a damaged secret signs nothing and is not in the
// error.
func TestSignRefusesOtherSecrets(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{"", "whsec_", "whsec_c2hvcnQ=", strings.TrimPrefix(standardhooks.NewSecret(), "whsec_"), "whsec_***"} {
		got, err := standardhooks.Sign("id", time.Now(), nil, secret)
		if err == nil || got != "" || len(secret) > 6 && strings.Contains(err.Error(), secret[6:]) {
			t.Errorf("%q signs %q, %v", secret, got, err)
		}
	}
}

// TestRetrySchedule checks the number of attempts and the times between them.
func TestRetrySchedule(t *testing.T) {
	t.Parallel()
	var waits []time.Duration
	for failed := 1; ; failed++ {
		wait, again := standardhooks.RetryAfter(failed)
		if !again {
			if failed != standardhooks.Tries {
				t.Errorf("gave up after %d attempts, want %d", failed, standardhooks.Tries)
			}
			break
		}
		waits = append(waits, wait)
	}
	if quick := waits[0] + waits[1]; quick > 10*time.Second {
		t.Errorf("the first three attempts take %v", quick)
	}
	want := []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 8 * time.Hour}
	for i, wait := range waits[2:] {
		if len(waits) != 2+len(want) || wait != want[i] {
			t.Fatalf("waits %v, want two short ones and %v", waits, want)
		}
	}
	if _, again := standardhooks.RetryAfter(0); again {
		t.Error("a delivery without attempts is tried again")
	}
}

func TestCheckURL(t *testing.T) {
	t.Parallel()
	for url, valid := range map[string][2]bool{ // without and with allowed networks
		"https://example.com/hook?token=1":         {true, true},
		"https://example.com:443":                  {true, true},
		"HTTPS://example.com":                      {true, true},
		"https://hooks.example.internal/a":         {false, true},
		"https://localhost":                        {false, true},
		"https://LOCALHOST./":                      {false, true},
		"https://127.0.0.1/":                       {false, true},
		"https://[::1]/":                           {false, true},
		"https://8.8.8.8/":                         {false, true},
		"https://example.com:8443/":                {false, true},
		"https://intranet/":                        {false, true},
		"http://example.com":                       {false, false},
		"https://user:password@example.com":        {false, false},
		"https://user@example.com":                 {false, false},
		"https://example.com/#part":                {false, false},
		"https://example.com/#":                    {false, false},
		"https://":                                 {false, false},
		"https://:443":                             {false, false},
		"https://example.com/a b":                  {false, false},
		"https://example.com/\r\nX: 1":             {false, false},
		"https://exämple.com":                      {false, false},
		"https://example.com/" + long:              {false, false},
		"//example.com":                            {false, false},
		"example.com":                              {false, false},
		"":                                         {false, false},
		"https://example.com/%zz":                  {false, false},
		"javascript:alert(1)//https://example.com": {false, false},
	} {
		for i, networks := range []bool{false, true} {
			err := standardhooks.CheckURL(url, networks)
			if (err == nil) != valid[i] {
				t.Errorf("%q, networks %v: %v", url, networks, err)
			}
			if e := core.AsError(err); err != nil && (e.Code != core.CodeValidationFailed || len(e.Fields) != 1 || e.Fields[0].Field != "url") {
				t.Errorf("%q: %v", url, err)
			}
		}
	}
}

var long = strings.Repeat("a", 2000)
