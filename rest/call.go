package rest

import (
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
		if err != nil {
			s.problem(c, m, m.fixPaths(c, err))
			return
		}
		s.answer(c, m, result)
	}
}

// slot is what a call of a large route holds from before its body is read until its answer is written. The
// zero value is none.
type slot struct{ leave func() }

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
	admission.Rate.Headers(c.Writer.Header().Set)
	if err == nil && m.isLarge() && m.operation.CheckAllowed(admission.Principal) == nil {
		held.leave, err = s.cfg.Catalogue.EnterLarge(c.Request.Context(), admission.Principal.Org.ID)
	}
	if err != nil {
		s.refuse(c, m, err)
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
