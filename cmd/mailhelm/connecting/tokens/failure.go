package tokens

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"golang.org/x/oauth2"
)

// Code returns the error code of the authorization server, such as "invalid_grant". It
// returns "" if err is not a refusal of the token endpoint.
func Code(err error) string {
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		return refused.ErrorCode
	}
	return ""
}

// Explain returns an error whose text says what the authorization server refused, and why.
// It returns errors of other kinds unchanged.
func Explain(err error) error {
	refused, ok := errors.AsType[*oauth2.RetrieveError](err)
	switch {
	case !ok:
		return err
	case refused.ErrorCode != "":
		return &explained{fmt.Sprintf("the authorization server refused the request: %s: %s", refused.ErrorCode, refused.ErrorDescription), err}
	case refused.Response != nil:
		return &explained{"the authorization server answered with status " + refused.Response.Status, err}
	}
	return err
}

// explained is an error with another text. The library's own text has the whole answer.
type explained struct {
	text string
	err  error
}

func (e *explained) Error() string { return e.text }
func (e *explained) Unwrap() error { return e.err }

// Temporary reports whether repeating the request may succeed: the server could not be
// reached, was too busy, or had an internal error.
func Temporary(err error) bool {
	if errors.Is(err, context.Canceled) {
		return false
	}
	refused, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok || refused.Response == nil {
		_, network := errors.AsType[*url.Error](err)
		return network
	}
	status := refused.Response.StatusCode
	return status == http.StatusTooManyRequests || status >= http.StatusInternalServerError
}

// Retries says how often a request is repeated. The pause doubles after each attempt.
type Retries struct {
	Attempts int           // at least 1
	Pause    time.Duration // after the first attempt
	// Wait waits for d, or until ctx ends; it then returns the error of ctx.
	Wait func(ctx context.Context, d time.Duration) error
}

// maxPause is the longest pause between two attempts.
const maxPause = time.Minute

// Do calls request until it succeeds, fails for good, or has failed r.Attempts times. The
// server's Retry-After header lengthens a pause. The error of the last attempt is explained;
// see [Explain].
func (r Retries) Do(ctx context.Context, request func() (Token, error)) (Token, error) {
	pause := r.Pause
	for attempt := 1; ; attempt++ {
		token, err := request()
		if err == nil {
			return token, nil
		}
		if !Temporary(err) {
			return Token{}, Explain(err)
		}
		if attempt >= r.Attempts {
			return Token{}, fmt.Errorf("after %d attempts: %w", attempt, Explain(err))
		}
		if err := r.Wait(ctx, min(max(pause, retryAfter(err)), maxPause)); err != nil {
			return Token{}, err
		}
		pause *= 2
	}
}

// retryAfter returns the pause that the server asks for in seconds, or 0.
func retryAfter(err error) time.Duration {
	refused, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok || refused.Response == nil {
		return 0
	}
	seconds, err := strconv.Atoi(refused.Response.Header.Get("Retry-After"))
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
