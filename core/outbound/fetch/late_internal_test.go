package fetch

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// late answers when the request has been given up. So do servers whose handler ends with its
// context, and which then write an empty response: it can arrive before the connection is closed.
type late struct{}

func (late) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("")), Request: r}, nil
}

func (late) CloseIdleConnections() {}

// TestLateResponses checks that a response to a request that was given up is none.
func TestLateResponses(t *testing.T) {
	t.Parallel()
	f := &Fetcher{config: Config{Schemes: []string{"https"}, Time: time.Millisecond, MaxBody: 10}, transport: late{}}
	for name, fetch := range map[string]func(*http.Request) error{
		"Do":   func(r *http.Request) error { _, err := f.Do(r); return err },
		"Send": func(r *http.Request) error { _, err := f.Send(r); return err },
	} {
		request, err := http.NewRequest(http.MethodPost, "https://127.0.0.1/", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if err := fetch(request); !errors.Is(err, ErrTooSlow) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
