package serve

import (
	"errors"
	"log/slog"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
)

// logPanics returns the handler with panics logged by Mailhelm. It re-panics with
// http.ErrAbortHandler, so that net/http closes the connection. net/http itself would
// log the panic's value and the client's address. The client gets no answer, or a
// cut-off one.
func logPanics(handler http.Handler, log *slog.Logger) http.Handler {
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
