package tools

import (
	"context"
	"net/http"

	"github.com/mailhelm/mailhelm/tools/rpc"
)

// answerOrPass answers a request. Calls of operations and the list of tools are answered
// here, without the SDK, because they are almost all traffic: a session of the SDK for one
// request takes more time than most operations. The tests compare both ways, byte by byte.
// Other methods, and tools without an operation, are passed to the SDK.
func (s *Server) answerOrPass(w http.ResponseWriter, r *http.Request, x *exchange) error {
	switch x.message.Method {
	case rpc.MethodCallTool:
		if t := s.tools.byName[x.tool]; t.op != nil {
			return s.answerCall(w, r, x, t)
		}
	case rpc.MethodListTools:
		return s.answerList(w, x)
	}
	return s.passToSDK(w, r, x)
}

// answerCall executes a tool call and writes its result. If it returns an error, it has
// written nothing.
func (s *Server) answerCall(w http.ResponseWriter, r *http.Request, x *exchange, t *tool) error {
	a := newAnswer(&x.message)
	defer a.release()
	s.writeCall(r.Context(), a, x, t)
	switch {
	case r.Context().Err() != nil:
		x.failSpan(causeCallerGone)
		panic(http.ErrAbortHandler) // closes the connection: a client must not take an empty answer as complete
	case x.outage != nil:
		return x.outage
	}
	a.WriteByte('}')
	s.noteAnswer(x, a.Len())
	x.showReplica(w)
	write(w, "application/json", http.StatusOK, a.Bytes())
	return nil
}

// writeCall executes a tool call and writes its result into the answer, or sets x.outage.
// After a panic, the result is that of a failed tool. Package guardrails recovers panics of
// operations itself.
func (s *Server) writeCall(ctx context.Context, a *answer, x *exchange, t *tool) {
	server, begun := s.protocol.nameFor(x), a.Len()
	defer func() {
		if v := recover(); v != nil {
			a.Truncate(begun)
			a.result(s.protocol.failedByPanic(ctx, x, v), x.requestID, server)
		}
	}()
	if result := s.tools.call(ctx, t, x); result != nil {
		a.result(result, x.requestID, server)
	}
}
