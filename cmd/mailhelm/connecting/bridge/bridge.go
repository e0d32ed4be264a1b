package bridge

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
)

// maxMessage is the largest message from the client in bytes. The endpoint accepts at most
// 1 MiB.
const maxMessage = 2 << 20

// maxCalls is the number of requests that are passed on at the same time. Further requests
// wait.
const maxCalls = 16

// Tokens gives access tokens.
type Tokens interface {
	// Token returns a valid access token.
	Token(ctx context.Context) (string, error)
	// Renew returns another access token after the server refused one.
	Renew(ctx context.Context, refused string) (string, error)
}

// Bridge passes messages to the agent endpoint at Address. Its fields must not be changed
// after the call of Run.
type Bridge struct {
	Address string
	HTTP    *http.Client
	Tokens  Tokens
	// Help completes the errors that the client shows: what the person can do about a failed
	// sign-in, as a sentence.
	Help string

	out   sync.Mutex // held while a line is written
	to    io.Writer
	calls calls
	state state
}

// state is what the bridge remembers of the initialize exchange.
type state struct {
	mu       sync.Mutex
	revision string
	session  string
}

// Run reads messages from the client, one on each line, and writes the answers to out. It
// returns nil at the end of the input, after the last answer, and when ctx ends. It fails if
// the input cannot be read.
func (b *Bridge) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	b.to = out
	b.calls.free = make(chan struct{}, maxCalls)
	lines := make(chan []byte)
	failed := make(chan error, 1)
	go func() { failed <- readLines(ctx, in, lines) }()
	for {
		select {
		case line := <-lines:
			b.take(ctx, line)
		case err := <-failed:
			b.calls.wait()
			return err
		case <-ctx.Done():
			b.calls.wait() // their requests end with ctx
			return nil
		}
	}
}

// take handles one line of the client.
func (b *Bridge) take(ctx context.Context, line []byte) {
	if len(line) > maxMessage {
		b.refuse(nil, codeInvalidRequest, "the message is longer than 2 MiB")
		return
	}
	m, err := readMessage(line)
	switch {
	case errors.Is(err, errNoObject):
		b.refuse(nil, codeInvalidRequest, err.Error())
	case err != nil:
		b.refuse(nil, codeParseError, "the line is not valid JSON: "+err.Error())
	case m.Method == methodCancelled:
		b.calls.cancel(m.Params.RequestID)
	case !m.isRequest():
		b.notify(ctx, m)
	case m.Method == methodInitialize:
		b.call(ctx, m) // later messages need its answer
	default:
		b.calls.start(ctx, m.ID, func(ctx context.Context) { b.call(ctx, m) })
	}
}

// readLines sends the lines of in that are not blank to the channel. Of a line that is too
// long, it sends a part that is longer than maxMessage. It returns nil at the end of in.
func readLines(ctx context.Context, in io.Reader, lines chan<- []byte) error {
	r := bufio.NewReaderSize(in, 64<<10)
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line) <= maxMessage {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if len(bytes.TrimSpace(line)) > 0 {
			select {
			case lines <- line:
			case <-ctx.Done():
				return nil
			}
		}
		line = nil
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// write writes a message to the client.
func (b *Bridge) write(line []byte) {
	b.out.Lock()
	defer b.out.Unlock()
	_, _ = b.to.Write(append(line, '\n')) // a client that has gone closes the input too
}
