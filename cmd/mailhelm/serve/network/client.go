package network

import (
	"net/http"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
)

// ShowClient wraps the handler of the API. Answers of its health check then have the header
// [config.ClientHeader] with the address of the caller, which remote finds. It tells callers
// nothing but their own address, or that of a proxy.
func ShowClient(handler http.Handler, remote func(*http.Request) string) http.Handler {
	path := config.HealthPath(config.APIService)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == path {
			w.Header().Set(config.ClientHeader, remote(r))
		}
		handler.ServeHTTP(w, r)
	})
}
