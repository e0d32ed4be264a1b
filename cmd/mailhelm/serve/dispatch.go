package serve

import (
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/rest"
)

// site is one public address and its handler.
type site struct {
	// service is one of the services of package config, which selects the listener.
	service string
	// origin is the public address without a path. Its host, in lower case, selects the
	// site.
	origin  string
	handler http.Handler
}

// dispatch returns the handler of one listener. A single site answers under any host
// name, so that a health check by IP address works. With several sites, the Host header
// selects one. The caller must have merged sites of one origin. The returned handler is
// safe for concurrent use.
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
		refuseMisdirected(w, r, docsURL)
	})
}

// handlersOf returns one handler for each listener, by service. Services that share a
// listener appear under the first of them in sites. Each site must have a listener in
// open under its service.
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

// refuseMisdirected answers a request for an unknown host name with status 421 (RFC
// 9110 section 15.5.20). Guessing a site could hand a credential to the wrong resource.
func refuseMisdirected(w http.ResponseWriter, r *http.Request, docsURL string) {
	refuse(w, r, docsURL, &core.Error{
		Code: core.CodeNotFound, Status: http.StatusMisdirectedRequest,
		Message: "Nothing is served here under the host name of the request.",
		Next:    "Use one of the public addresses of this installation; a proxy in front must pass the Host header on.",
	})
}

// refuse writes a problem document for a request that no surface handles. It takes the
// request id from the X-Request-Id header, or makes one, and returns it in the same
// header.
func refuse(w http.ResponseWriter, r *http.Request, docsURL string, refusal *core.Error) {
	id := core.RequestID(r.Header["X-Request-Id"])
	w.Header().Set("X-Request-Id", id)
	rest.WriteProblem(w, core.ProblemOf(refusal, docsURL, id))
}

// hostOf returns the host of a public address in the form of normalHost, "" for an
// invalid address.
func hostOf(origin string) string {
	u, err := url.Parse(origin)
	if err != nil {
		return ""
	}
	return normalHost(u.Host)
}

// normalHost returns a host in lower case without port 80 or 443. Behind a proxy the
// client's scheme is unknown, so it removes both ports.
func normalHost(host string) string {
	host = strings.ToLower(host)
	if name, port, err := net.SplitHostPort(host); err == nil && (port == "80" || port == "443") {
		return name
	}
	return host
}
