package frame

import (
	"context"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
)

// ReadReport is ReadExpensive for a page that only reports: no write depends on what it shows. A
// replica of the database may answer, if the visitor has not sent a form lately.
func ReadReport[T any](f *Frame, r *http.Request, v people.Visitor, read func(context.Context) (T, error)) (T, error) {
	return ReadExpensive(f, r, v, func(ctx context.Context) (T, error) {
		ctx, _ = core.WithReplica(ctx)
		return read(ctx)
	})
}

// withOwnWrites returns the request for the handlers of pages. Its reads use the primary if it sends
// a form, or if a form of the same browser was sent so lately that a replica may not have the
// write: with several servers, the page after a form may come from another server than the one
// that wrote.
func (f *Frame) withOwnWrites(w http.ResponseWriter, r *http.Request) *http.Request {
	if f.ReplicaLag == 0 {
		return r
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		if !f.Site.WroteLately(r) {
			return r
		}
	default:
		f.Site.RememberWrite(w, f.ReplicaLag)
	}
	return r.WithContext(core.WithPrimary(r.Context()))
}

// ReadExpensive runs a function that reads many rows of the visitor's organization, and
// returns its result; see [Config.Expensive].
func ReadExpensive[T any](f *Frame, r *http.Request, v people.Visitor, read func(context.Context) (T, error)) (T, error) {
	var result T
	err := f.Expensive(r.Context(), v.Org.ID, func(ctx context.Context) error {
		var err error
		result, err = read(ctx)
		return err
	})
	return result, err
}
