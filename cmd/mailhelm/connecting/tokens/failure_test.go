package tokens_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/connecting/tokens"
	"golang.org/x/oauth2"
)

// failed returns the error of an answer of the token endpoint.
func failed(status int, code, retryAfter string) error {
	return &oauth2.RetrieveError{
		Response:  &http.Response{StatusCode: status, Status: http.StatusText(status), Header: http.Header{"Retry-After": {retryAfter}}},
		ErrorCode: code, ErrorDescription: "because",
	}
}

func TestRetries(t *testing.T) {
	t.Parallel()
	unreachable := &url.Error{Op: "Post", URL: "http://localhost", Err: errors.New("refused")}
	for name, tc := range map[string]struct {
		errs   []error
		pauses []time.Duration
		says   string
	}{
		"success":        {nil, nil, ""},
		"then success":   {[]error{unreachable, failed(503, "", "")}, []time.Duration{time.Second, 2 * time.Second}, ""},
		"refused":        {[]error{failed(401, "invalid_client", "")}, nil, "invalid_client: because"},
		"other error":    {[]error{errors.New("damaged")}, nil, "damaged"},
		"too often":      {[]error{unreachable, unreachable, unreachable}, []time.Duration{time.Second, 2 * time.Second}, "after 3 attempts"},
		"server's pause": {[]error{failed(429, "", "5"), failed(429, "", "99999")}, []time.Duration{5 * time.Second, time.Minute}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var pauses []time.Duration
			r := tokens.Retries{Attempts: 3, Pause: time.Second, Wait: func(_ context.Context, d time.Duration) error {
				pauses = append(pauses, d)
				return nil
			}}
			calls := 0
			_, err := r.Do(t.Context(), func() (tokens.Token, error) {
				calls++
				if calls <= len(tc.errs) {
					return tokens.Token{}, tc.errs[calls-1]
				}
				return tokens.Token{Access: "a"}, nil
			})
			if diff := cmp.Diff(tc.pauses, pauses); diff != "" {
				t.Error(diff)
			}
			if tc.says == "" && err != nil || tc.says != "" && (err == nil || !strings.Contains(err.Error(), tc.says)) {
				t.Errorf("%v, want %q", err, tc.says)
			}
		})
	}
}
