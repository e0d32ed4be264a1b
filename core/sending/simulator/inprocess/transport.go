// Package inprocess carries HTTP requests to a handler in the same process,
// without a socket. It knows nothing of what they say.
package inprocess

import (
	"bytes"
	"errors"
	"io"
	"net/http"
)

// Transport is an http.RoundTripper that calls Handler, whatever the request's
// address. A handler that panics is an error of the request, as a connection
// would be that breaks.
type Transport struct{ Handler http.Handler }

// RoundTrip calls the handler and returns when it does. A request whose context
// ended meanwhile fails with the context's error.
func (t Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	request := r.Clone(r.Context())
	request.RequestURI = r.URL.RequestURI()
	if request.Host == "" {
		request.Host = r.URL.Host
	}
	if request.Body == nil {
		request.Body = http.NoBody
	}
	defer func() { _ = request.Body.Close() }() // a RoundTripper closes what it was given
	w := &response{header: http.Header{}}
	err := w.serve(t.Handler, request)
	if gone := r.Context().Err(); gone != nil {
		return nil, gone
	}
	if err != nil {
		return nil, err
	}
	w.WriteHeader(http.StatusOK)
	return &http.Response{
		Status: http.StatusText(w.status), StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()), Request: r,
	}, nil
}

// response keeps what a handler writes.
type response struct {
	header, sent http.Header
	status       int
	body         bytes.Buffer
}

var errPanicked = errors.New("inprocess: the handler panicked")

func (w *response) serve(h http.Handler, r *http.Request) error {
	err := errPanicked
	func() {
		defer func() { _ = recover() }()
		h.ServeHTTP(w, r)
		err = nil
	}()
	return err
}

// Header is the header to be written.
func (w *response) Header() http.Header { return w.header }

// WriteHeader takes the first status; later ones are superfluous.
func (w *response) WriteHeader(status int) {
	if w.status == 0 {
		w.status, w.sent = status, w.header.Clone()
	}
}

// Write appends to the body.
func (w *response) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}
