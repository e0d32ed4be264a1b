package tools

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// metaProgressToken is the member of _meta in which a client asks for progress (MCP).
const metaProgressToken = "progressToken"

// followsProgress reports whether the client sent a progress token and accepts server-sent
// events. Only such a call may be answered by a stream, which ends with the result.
func (x *exchange) followsProgress(h http.Header) bool {
	_, named := x.message.params.Meta.Others[metaProgressToken]
	return named && acceptsEvents(h["Accept"])
}

// eventStream is an answer as server-sent events. It starts with the first progress event,
// so a call without progress gets an ordinary answer.
type eventStream struct {
	w     http.ResponseWriter
	begun bool
}

// send writes a message as one event, and the headers of the stream before the first event.
func (e *eventStream) send(m jsonrpc.Message) error {
	body, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	return e.sendBody(body)
}

// sendBody writes an encoded message as one event and flushes it.
func (e *eventStream) sendBody(body []byte) error {
	if !e.begun {
		h := e.w.Header()
		h.Set("Content-Type", "text/event-stream")
		h.Set("Cache-Control", "no-store")
		h.Set("X-Accel-Buffering", "no") // proxies that hold answers back
		e.w.WriteHeader(http.StatusOK)
		e.begun = true
	}
	//nolint:gosec // an answer of events is no page: it has its own type, and nosniff
	if _, err := fmt.Fprintf(e.w, "event: message\ndata: %s\n\n", body); err != nil {
		return err
	}
	return http.NewResponseController(e.w).Flush()
}

// endStream sends the response as the last event. The HTTP status was sent before, so the
// client sees an error only in the response.
func (s *Server) endStream(r *http.Request, x *exchange, answer *jsonrpc.Response) {
	body, err := jsonrpc.EncodeMessage(answer)
	if answer.Error != nil {
		err = s.sdkError(r, x, answer.Error)
	}
	if err != nil {
		refusal, ok := errors.AsType[*rpcError](err)
		if !ok {
			refusal = &rpcError{id: x.message.id, code: jsonrpc.CodeInternalError, message: core.Internal(err).Message}
		}
		s.noteRefusal(x, refusal)
		body = refusal.body()
	} else {
		s.noteAnswer(x, len(body))
	}
	_ = x.stream.sendBody(body) // a client that has gone reads nothing
}
