package serve

import (
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/rest"
)

// site is one public address with what answers there.
type site struct {
	service string
	origin  string
	handler http.Handler
}

// dispatch makes the handler of one listener. With one host name to serve it
// answers whatever the request calls it, so that a health check by IP address
// works; with several, the Host header decides. Sites of one origin have been
// merged before.
func dispatch(sites []site, docsURL string) http.Handler {
	if len(sites) == 1 {
		return sites[0].handler
	}
	byHost := map[string]http.Handler{}
	for _, s := range sites {
		byHost[hostOf(s.origin)] = s.handler
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h, ok := byHost[normalHost(r.Host)]; ok {
			h.ServeHTTP(w, r)
			return
		}
		misdirected(w, r, docsURL)
	})
}

// handlersOf makes one handler for each listener, under the service that opened
// it: services that share an address come after the first in the table.
func handlersOf(open listeners, sites []site, docsURL string) map[string]http.Handler {
	first := map[net.Listener]string{}
	grouped := map[string][]site{}
	for _, s := range sites {
		l := open[s.service]
		if _, known := first[l]; !known {
			first[l] = s.service
		}
		grouped[first[l]] = append(grouped[first[l]], s)
	}
	handlers := make(map[string]http.Handler, len(grouped))
	for service, group := range grouped {
		handlers[service] = dispatch(group, docsURL)
	}
	return handlers
}

// misdirected answers a host name that nothing here serves (RFC 9110 section
// 15.5.20). Guessing one would hand a credential to the wrong resource.
func misdirected(w http.ResponseWriter, r *http.Request, docsURL string) {
	refuse(w, r, docsURL, &core.Error{
		Code: core.CodeNotFound, Status: http.StatusMisdirectedRequest,
		Message: "Nothing is served here under the host name of the request.",
		Next:    "Use one of the public addresses of this installation; a proxy in front must pass the Host header on.",
	})
}

// refuse writes a problem document for the few paths that belong to no surface.
func refuse(w http.ResponseWriter, r *http.Request, docsURL string, refusal *core.Error) {
	id := core.RequestID(r.Header["X-Request-Id"])
	w.Header().Set("X-Request-Id", id)
	rest.WriteProblem(w, core.ProblemOf(refusal, docsURL, id))
}

func hostOf(origin string) string {
	u, err := url.Parse(origin)
	if err != nil {
		return ""
	}
	return normalHost(u.Host)
}

// normalHost writes a host without the port that its scheme implies. Which
// scheme the client used is not known behind a proxy, so both go.
func normalHost(host string) string {
	host = strings.ToLower(host)
	if name, port, err := net.SplitHostPort(host); err == nil && (port == "80" || port == "443") {
		return name
	}
	return host
}
