package frame

import (
	"context"
	"net/http"

	"github.com/mailhelm/mailhelm/core/people"
)

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
