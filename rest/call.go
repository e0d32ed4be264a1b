package rest

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/apart"
	"github.com/mailhelm/mailhelm/guardrails"
)

// call returns the handler of a route. It authenticates the caller and applies the rate
// limit, reads the arguments, calls the operation through its guardrails, and writes the
// answer. An unauthenticated request's body is not read.
func (s *Server) call(m *mount) gin.HandlerFunc {
	return func(c *gin.Context) {
		var held slot
		defer held.release()
		request := s.admit(c, m, &held)
		if request == nil {
			return
		}
		result, err := m.operation.Call(c.Request.Context(), *request)
		held.answer()
		if err != nil {
			s.problem(c, m, m.fixPaths(c, err))
			return
		}
		s.answer(c, m, result)
	}
}

// The times that a large call has instead of those of the HTTP server: to send its body, to be done, and to
// read its answer. An import with many images is done in minutes; a slow client must not hold a slot as long.
const (
	largeReadTime  = 30 * time.Second
	largeWorkTime  = 10 * time.Minute
	largeWriteTime = time.Minute
)

// slot is what a call of a large route holds from before its body is read until its answer is written. The
// zero value is none.
type slot struct {
	leave func()
	http  *http.ResponseController
}

// enter waits for a slot of an organization, and then sets the deadlines of the call.
func (s *Server) enter(c *gin.Context, orgID string, held *slot) error {
	leave, err := s.cfg.Catalogue.EnterLarge(c.Request.Context(), orgID)
	if err != nil {
		return err
	}
	held.leave, held.http = leave, http.NewResponseController(c.Writer)
	now := time.Now() //nolint:forbidigo // the network lives in real time
	// A server without deadlines, such as that of a test, is no reason to refuse.
	_ = held.http.SetReadDeadline(now.Add(largeReadTime))
	_ = held.http.SetWriteDeadline(now.Add(largeWorkTime))
	return nil
}

// answer sets the deadline for writing the answer.
func (s *slot) answer() {
	if s.http != nil {
		_ = s.http.SetWriteDeadline(time.Now().Add(largeWriteTime)) //nolint:forbidigo // the network lives in real time
	}
}

// release releases the slot. Refusals can panic, so it is deferred before there is one.
func (s *slot) release() {
	if s.leave != nil {
		s.leave()
	}
}

// admit returns the input for the operation's guardrails. If it refuses the request, it has
// answered it, and returns nil. It sets held if the route is large.
func (s *Server) admit(c *gin.Context, m *mount, held *slot) (request *guardrails.Request) {
	if m.waits {
		apart.Run(func() { request = s.authenticate(c, m, held) })
		return request
	}
	return s.authenticate(c, m, held)
}

// authenticate is admit on the stack of the caller.
func (s *Server) authenticate(c *gin.Context, m *mount, held *slot) *guardrails.Request {
	admission, err := s.cfg.Catalogue.Admit(c.Request.Context(), c.Request.Header["Authorization"], access.API)
	admission.Rate.Headers(c.Writer.Header())
	if err == nil && m.isLarge() && m.operation.CheckAllowed(admission.Principal) == nil {
		err = s.enter(c, admission.Principal.Org.ID, held)
	}
	if err != nil {
		s.refuseCaller(c, m, admission, err)
		return nil
	}
	request, err := m.request(c, admission.Principal)
	if err != nil {
		s.refuse(c, m, err)
		return nil
	}
	return &request
}

// request returns the input for the operation's guardrails. If the caller may not call the
// operation, the input has no arguments, because the guardrails then refuse the call
// anyway.
func (m *mount) request(c *gin.Context, p core.Principal) (guardrails.Request, error) {
	r := guardrails.Request{Principal: p, Surface: core.REST, RequestID: requestID(c)}
	if m.operation.CheckAllowed(p) != nil {
		return r, nil
	}
	if m.operation.Info().Effect != core.Reads {
		key, err := idempotencyKey(c.Request.Header["Idempotency-Key"])
		if err != nil {
			return r, err
		}
		r.IdempotencyKey = key
	}
	if len(m.QueryAlso) > 0 {
		err := m.readBundle(c, &r)
		return r, err
	}
	arguments, err := m.arguments(c)
	r.Arguments = arguments
	return r, err
}
