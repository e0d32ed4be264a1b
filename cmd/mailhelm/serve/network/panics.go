package network

import (
	"errors"
	"log/slog"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
)

// logPanics wraps handler. It logs a panic without the panic's value, and panics again with
// http.ErrAbortHandler. net/http then closes the connection without logging; its own log
// line would contain the value and the client's address. The client gets an incomplete
// response or none.
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
