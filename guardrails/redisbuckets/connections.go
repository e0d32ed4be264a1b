package redisbuckets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gomodule/redigo/redis"
)

// connections are the connections to one Redis. They are safe for concurrent use.
//
// A call waits for a new connection until its deadline, which can be too early to open one
// to a distant Redis. The connection is then opened all the same, for the next call.
type connections struct {
	address string
	options []redis.DialOption
	pool    *redis.Pool
	// opening has an element for each connection that is being opened.
	opening chan struct{}
	// late has connections that were opened after the deadline of their calls.
	late chan redis.Conn
	// lostAt is the time, in nanoseconds since 1970, at which a connection was last found to be
	// lost. Connections that were unused at that time are not used again.
	lostAt atomic.Int64
}

func newConnections(address string, options []redis.DialOption) *connections {
	c := &connections{
		address: address, options: options,
		opening: make(chan struct{}, mostConns), late: make(chan redis.Conn, mostConns),
	}
	c.pool = &redis.Pool{
		DialContext: c.open, MaxActive: mostConns, MaxIdle: mostConns, IdleTimeout: 5 * time.Minute, Wait: true,
		TestOnBorrow: func(_ redis.Conn, unusedSince time.Time) error {
			if unusedSince.UnixNano() <= c.lostAt.Load() {
				return errLost
			}
			return nil
		},
	}
	return c
}

var errLost = errors.New("redis: the connection may be lost")

// opened is the result of opening a connection.
type opened struct {
	conn redis.Conn
	err  error
}

// open returns a new connection, or one that was opened late for an earlier call.
func (c *connections) open(ctx context.Context) (redis.Conn, error) {
	select {
	case conn := <-c.late:
		return conn, nil
	default:
	}
	select {
	case conn := <-c.late:
		return conn, nil
	case c.opening <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	result := make(chan opened)
	go func() {
		defer func() { <-c.opening }()
		conn, err := redis.DialContext(context.WithoutCancel(ctx), "tcp", c.address, c.options...)
		select {
		case result <- opened{conn, err}:
			return
		case <-ctx.Done():
		}
		if err == nil {
			c.keep(conn)
		}
	}()
	select {
	case o := <-result:
		return o.conn, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// keep stores a connection for the next call that needs a new one.
func (c *connections) keep(conn redis.Conn) {
	select {
	case c.late <- conn:
	default:
		_ = conn.Close()
	}
}

// run passes a connection and the time that remains until the deadline of ctx to f, and
// returns its answer. If Redis has closed the connection, it runs f once more, on another one.
func (c *connections) run(ctx context.Context, f func(conn redis.Conn, within time.Duration) (any, error)) (any, error) {
	answer, err := c.once(ctx, f)
	if err == nil || ctx.Err() != nil || !isLost(err) {
		return answer, err
	}
	c.lostAt.Store(time.Now().UnixNano()) //nolint:forbidigo // compared with the times of the pool
	_ = c.dropLate()                      // they may be lost as well
	return c.once(ctx, f)
}

func (c *connections) once(ctx context.Context, f func(conn redis.Conn, within time.Duration) (any, error)) (any, error) {
	conn, err := c.pool.GetContext(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close() //nolint:errcheck // the pool keeps the connection, or its failure was returned
	within := answerTimeout
	if deadline, limited := ctx.Deadline(); limited {
		if within = time.Until(deadline); within <= 0 { //nolint:forbidigo // the network lives in real time
			return nil, context.DeadlineExceeded
		}
	}
	return f(conn, within)
}

// isLost reports whether err means that Redis, or the network, has closed the connection.
func isLost(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// dropLate closes the connections that were opened late and that no call has used.
func (c *connections) dropLate() error {
	var failures []error
	for {
		select {
		case conn := <-c.late:
			failures = append(failures, conn.Close())
		default:
			return errors.Join(failures...)
		}
	}
}

func (c *connections) close() error {
	if err := errors.Join(c.pool.Close(), c.dropLate()); err != nil {
		return fmt.Errorf("redis: %w", err)
	}
	return nil
}
