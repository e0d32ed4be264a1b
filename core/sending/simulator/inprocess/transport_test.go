package inprocess_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/sending/simulator/inprocess"
)

// answer has the parts of an HTTP response that the tests check.
type answer struct {
	status int
	header http.Header
	text   string
}

func do(ctx context.Context, t *testing.T, h http.HandlerFunc, body io.Reader) (answer, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://account.example/a%2Fb?c=d", body)
	if err != nil {
		t.Fatal(err)
	}
	res, err := (&http.Client{Transport: inprocess.Transport{Handler: h}}).Do(r)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return answer{res.StatusCode, res.Header, string(text)}, err
}

func TestTransportCarriesBothWays(t *testing.T) {
	t.Parallel()
	got, err := do(t.Context(), t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || string(body) != "ping" || r.Host != "account.example" || r.RequestURI != "/a%2Fb?c=d" {
			t.Errorf("the handler reads %q, %v of %s%s", body, err, r.Host, r.RequestURI)
		}
		w.Header().Set("X-Answer", "yes")
		w.WriteHeader(http.StatusTeapot)
		w.WriteHeader(http.StatusOK)
		w.Header().Set("X-Late", "yes")
		_, _ = io.WriteString(w, "pong")
	}, strings.NewReader("ping"))
	if err != nil || got.text != "pong" || got.status != http.StatusTeapot || got.header.Get("X-Answer") != "yes" || got.header.Get("X-Late") != "" {
		t.Errorf("the answer is %+v, %v", got, err)
	}
}

func TestTransportOfASilentHandler(t *testing.T) {
	t.Parallel()
	got, err := do(t.Context(), t, func(http.ResponseWriter, *http.Request) {}, nil)
	if err != nil || got.text != "" || got.status != http.StatusOK {
		t.Errorf("the answer is %+v, %v", got, err)
	}
}

func TestTransportFails(t *testing.T) {
	t.Parallel()
	if _, err := do(t.Context(), t, func(http.ResponseWriter, *http.Request) { panic("broken") }, nil); err == nil {
		t.Error("a handler that panics answers")
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := do(ctx, t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}, nil)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who leaves gets %v", err)
	}
}
