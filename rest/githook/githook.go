package githook

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"
)

// Path is the path of webhooks.
const Path = "/github/webhook"

// The limits of deliveries. Their signature is only known when the body is there, so the number of
// bodies in memory is bounded.
const (
	maxAtOnce = 8
	readTime  = 20 * time.Second
)

// Delivery is a delivery that is not checked yet. Event, ID and Signature are its headers.
type Delivery struct {
	Event, ID, Signature string
	Body                 []byte
}

// Outcome is what happened with a delivery.
type Outcome int

// The outcomes of deliveries.
const (
	Accepted Outcome = iota
	Repeated         // it was taken before
	Unsigned         // its signature is missing or wrong
	Malformed
)

// Config configures the handler. All fields are required.
type Config struct {
	// Receive takes a delivery. It fails if it could not be taken now; GitHub shows that, and people
	// can send it again.
	Receive func(ctx context.Context, d Delivery) (Outcome, error)
	// MaxBody is the maximum size of a body in bytes.
	MaxBody int64
	Log     *slog.Logger
}

// New returns the handler of Path.
func New(cfg Config) http.Handler {
	slots := make(chan struct{}, maxAtOnce)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
		default:
			w.Header().Set("Retry-After", "5")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(cfg.take(w, r))
	})
}

// take reads and takes a delivery and returns the status of the answer.
func (cfg Config) take(w http.ResponseWriter, r *http.Request) int {
	// A server without deadlines, such as that of a test, is no reason to refuse.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(readTime)) //nolint:forbidigo // the network lives in real time
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, cfg.MaxBody))
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		return http.StatusRequestEntityTooLarge
	}
	if err != nil {
		return http.StatusBadRequest
	}
	outcome, err := cfg.Receive(r.Context(), Delivery{
		Event: r.Header.Get("X-GitHub-Event"), ID: r.Header.Get("X-GitHub-Delivery"), Signature: r.Header.Get("X-Hub-Signature-256"), Body: body,
	})
	if err != nil {
		cfg.Log.WarnContext(r.Context(), "webhook of GitHub not taken", slog.Any("cause", err))
		return http.StatusServiceUnavailable
	}
	switch outcome {
	case Unsigned:
		return http.StatusUnauthorized
	case Malformed:
		return http.StatusBadRequest
	case Repeated:
		return http.StatusOK
	default:
		return http.StatusAccepted
	}
}
