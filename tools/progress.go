package tools

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/tools/rpc"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// metaProgressToken is the member of _meta with which a client requests progress
// notifications (MCP).
const metaProgressToken = "progressToken"

// followsProgress reports whether the client sent a progress token and accepts server-sent
// events. Only such a call may be answered with a stream of events, which ends with the
// result.
func (x *exchange) followsProgress(h http.Header) bool {
	_, named := x.message.Params.Meta.Others[metaProgressToken]
	return named && acceptsEvents(h["Accept"])
}

// eventStream writes an answer as server-sent events. The stream begins with the first
// progress notification, so that a call without progress gets an ordinary answer.
type eventStream struct {
	w     http.ResponseWriter
	begun bool
}

// send writes a message as one server-sent event. Before the first event it writes the
// headers of the stream.
func (e *eventStream) send(m jsonrpc.Message) error {
	body, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	return e.sendBody(body)
}

// sendBody writes an encoded message as one server-sent event and flushes it to the client.
func (e *eventStream) sendBody(body []byte) error {
	if !e.begun {
		h := e.w.Header()
		h.Set("Content-Type", "text/event-stream")
		h.Set("Cache-Control", "no-store")
		h.Set("X-Accel-Buffering", "no") // tells proxies such as nginx not to buffer events
		e.w.WriteHeader(http.StatusOK)
		e.begun = true
	}
	//nolint:gosec // an answer of events is no page: it has its own type, and nosniff
	if _, err := fmt.Fprintf(e.w, "event: message\ndata: %s\n\n", body); err != nil {
		return err
	}
	return http.NewResponseController(e.w).Flush()
}

// endStream sends the response as the last event of the stream. The HTTP status is already
// sent, so an error is only in the response itself.
func (s *Server) endStream(r *http.Request, x *exchange, answer *jsonrpc.Response) {
	body, err := jsonrpc.EncodeMessage(answer)
	if answer.Error != nil {
		err = s.sdkError(r, x, answer.Error)
	}
	if err != nil {
		refusal, ok := errors.AsType[*rpc.Error](err)
		if !ok {
			refusal = &rpc.Error{ID: x.message.ID, Code: jsonrpc.CodeInternalError, Message: core.Internal(err).Message}
		}
		s.noteRefusal(x, refusal)
		body = refusal.Body()
	} else {
		s.noteAnswer(x, len(body))
	}
	_ = x.stream.sendBody(body) // a disconnected client needs no answer
}
