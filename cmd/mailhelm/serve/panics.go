package serve

import (
	"errors"
	"log/slog"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
)

// panicking is the handler with its panics logged by us. net/http ends the connection
// of one that panics, as it should, and would log what the panic said and from where
// the request came.
func panicking(handler http.Handler, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			if err, ok := v.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
				log.LogAttrs(r.Context(), slog.LevelError, "panic", slog.String("panic", core.PanicText(v)))
			}
			panic(http.ErrAbortHandler)
		}()
		handler.ServeHTTP(w, r)
	})
}
