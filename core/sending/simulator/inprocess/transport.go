// Package inprocess has an HTTP transport that passes requests to a handler in the same
// process, without a socket.
package inprocess

import (
	"bytes"
	"errors"
	"io"
	"net/http"
)

// Transport is an http.RoundTripper that calls Handler for requests to any host. If the
// handler panics, the request fails, as if the connection had broken.
type Transport struct{ Handler http.Handler }

// RoundTrip calls the handler and returns its response. It fails with the context's error
// if the context has ended.
func (t Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	request := r.Clone(r.Context())
	request.RequestURI = r.URL.RequestURI()
	if request.Host == "" {
		request.Host = r.URL.Host
	}
	if request.Body == nil {
		request.Body = http.NoBody
	}
	defer func() { _ = request.Body.Close() }() // http.RoundTripper requires that the body is closed
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

// response is an http.ResponseWriter that records what a handler writes.
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

// Header returns the response's header.
func (w *response) Header() http.Header { return w.header }

// WriteHeader stores the status and a copy of the header at the first call, and ignores
// later calls.
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
