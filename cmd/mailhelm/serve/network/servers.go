package network

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core/inbound/smtpd"
)

// The limits of every HTTP server. Handlers answer within a few seconds, because calls to
// the sending account have a deadline. writeTimeout therefore affects only clients that do
// not read the response.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 30 * time.Second
	writeTimeout      = 60 * time.Second
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 64 << 10
)

// transferTimeout bounds how long [Servers.Drain] waits for incoming mail. It is shorter than
// the time for all of the stop, because anyone on the Internet can send a message slowly.
const transferTimeout = 8 * time.Second

// Servers are the running HTTP and SMTP servers of a process. Create them with [Serve]. Stop
// them with [Servers.Drain] and then [Servers.Close].
type Servers struct {
	public []*http.Server
	admin  *http.Server
	// smtp is the SMTP server for incoming mail; nil in a worker.
	smtp *smtpd.Server
	log  *slog.Logger
	// failed receives the error of a server that stopped unexpectedly.
	failed  chan error
	running sync.WaitGroup
	// open has the listeners. ending is true after EndKeepAlive.
	open   Listeners
	ending atomic.Bool
	// abort cancels the contexts of all calls in flight.
	abort context.CancelFunc
}

// Serve starts an HTTP server for each handler in byService, on the listener of that
// service, and returns at once. It also starts the server smtp, unless it is nil. byService
// has a handler for the admin address, and open a listener for each service that starts.
// Stopping the servers also closes their listeners.
func Serve(open Listeners, byService map[string]http.Handler, smtp *smtpd.Server, log *slog.Logger) *Servers {
	// Calls must not end with the context that started the host: stopping waits for them.
	base, abort := context.WithCancel(context.Background())
	s := &Servers{failed: make(chan error, len(open)), abort: abort, smtp: smtp, log: log, open: open}
	for service, handler := range byService {
		one := newServer(base, handler, log)
		if service == config.AdminService {
			s.admin = one
		} else {
			one.Handler = s.closeWhenEnding(one.Handler)
			s.public = append(s.public, one)
		}
		s.run(func() error { return one.Serve(open[service]) })
	}
	if smtp != nil {
		s.run(func() error { return smtp.Serve(open[config.SMTPService]) })
	}
	return s
}

// newServer returns an HTTP server with the timeouts and the header limit of this file.
// base is the parent of every call's context; cancelling base cancels all calls. It logs
// panics of the handler and errors of the HTTP protocol.
func newServer(base context.Context, handler http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           logPanics(handler, log),
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		BaseContext:       func(net.Listener) context.Context { return base },
	}
}

// run calls serve in a goroutine. If serve returns an error other than
// http.ErrServerClosed, run sends it to s.failed.
func (s *Servers) run(serve func() error) {
	s.running.Go(func() {
		if err := serve(); err != nil && !errors.Is(err, http.ErrServerClosed) {
			s.failed <- err
		}
	})
}

// Failed returns a channel that receives an error if a server stops unexpectedly.
func (s *Servers) Failed() <-chan error { return s.failed }

// EndKeepAlive lets each further answer of the public HTTP servers close its connection, so
// that clients and proxies open new ones, which may lead to another process. The servers go on
// to accept connections and calls. Idle connections stay open: closing one could cut off a
// request that is on its way.
func (s *Servers) EndKeepAlive() { s.ending.Store(true) }

// closeWhenEnding wraps a handler. After EndKeepAlive, the answers close their connections (RFC
// 9112 section 9.6).
func (s *Servers) closeWhenEnding(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.ending.Load() {
			w.Header().Set("Connection", "close")
		}
		handler.ServeHTTP(w, r)
	})
}

// Drain stops the public HTTP servers and the SMTP server. It waits for calls in flight until
// ctx ends, and for messages in transfer for at most eight seconds. Then it closes their
// connections, and returns an error if calls were cut off. The server at the admin address
// keeps running.
//
// After EndKeepAlive, Drain first refuses new connections for a quarter of a second; see
// refuseConnections.
func (s *Servers) Drain(ctx context.Context) error {
	if s.ending.Load() {
		s.refuseConnections(ctx)
	}
	var waiting sync.WaitGroup
	failures := make([]error, len(s.public))
	for i, one := range s.public {
		waiting.Go(func() { failures[i] = shutdown(ctx, one) })
	}
	if s.smtp != nil {
		waiting.Go(func() { s.drainSMTP(ctx) })
	}
	waiting.Wait()
	return errors.Join(failures...)
}

// drainSMTP stops the SMTP server. A transfer that is cut off is no failure: the message was not
// accepted, and its sender tries again.
func (s *Servers) drainSMTP(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, transferTimeout)
	defer cancel()
	if err := s.smtp.Shutdown(ctx); err != nil {
		s.log.Warn("transfers of incoming mail were cut off, their senders try again", "error", err)
	}
}

// Close closes the admin address, cancels the remaining calls and waits until all servers
// have ended. Call it once, after [Servers.Drain].
func (s *Servers) Close() error {
	err := s.admin.Close()
	s.abort()
	s.running.Wait()
	return err
}

// shutdown stops one HTTP server and waits for its calls in flight. If ctx ends first, it
// closes their connections and returns an error.
func shutdown(ctx context.Context, one *http.Server) error {
	err := one.Shutdown(ctx)
	if err == nil {
		return nil
	}
	return errors.Join(fmt.Errorf("calls in flight were cut off: %w", err), one.Close())
}
