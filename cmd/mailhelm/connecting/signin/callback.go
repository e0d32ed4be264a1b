package signin

import (
	"context"
	"crypto/subtle"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

// callback is an HTTP server on the loopback that waits for the browser to come back from
// the authorization server.
type callback struct {
	state   string
	answers chan url.Values
	server  *http.Server
	done    chan struct{}
}

// awaitCallback starts the server on the listener.
func awaitCallback(listener net.Listener, state string) *callback {
	c := &callback{state: state, answers: make(chan url.Values, 1), done: make(chan struct{})}
	c.server = &http.Server{Handler: c, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10}
	go func() {
		defer close(c.done)
		_ = c.server.Serve(listener) // it ends with the call of close
	}()
	return c
}

// stopTimeout is how long close waits until the browser has received the page.
const stopTimeout = 2 * time.Second

// close stops the server, after the browser has received the page.
func (c *callback) close() {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	_ = errors.Join(c.server.Shutdown(ctx), c.server.Close()) // nothing can be done about a failure
	<-c.done
}

// wait returns the parameters of the answer with the right state, or the cause of the end of
// ctx.
func (c *callback) wait(ctx context.Context) (url.Values, error) {
	select {
	case answer := <-c.answers:
		return answer, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// The pages that the person sees in the browser. They have no parameters, so nothing of a
// request is in them.
const (
	pageReceived = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Mailhelm</title><h1>Answer received</h1><p>You can close this window and return to your assistant.</p>\n"
	pageRefused  = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Mailhelm</title><h1>Unknown answer</h1><p>This answer does not belong to a sign-in that is waiting. Start again from your assistant.</p>\n"
)

// ServeHTTP takes the first answer with the right state. Other requests change nothing, so
// that a web page that guesses the port cannot end the sign-in.
func (c *callback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	answer := r.URL.Query()
	ours := r.Method == http.MethodGet && r.URL.Path == callbackPath &&
		subtle.ConstantTimeCompare([]byte(answer.Get("state")), []byte(c.state)) == 1
	if ours {
		select {
		case c.answers <- answer:
			_, _ = io.WriteString(w, pageReceived)
			return
		default: // an answer was taken before
		}
	}
	w.WriteHeader(http.StatusBadRequest)
	_, _ = io.WriteString(w, pageRefused)
}
