package serve

import (
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/rest"
)

// site is a public address and the handler of requests to it.
type site struct {
	// service is a service name of package config, such as config.APIService. It selects the
	// listener.
	service string
	// origin is the public address without a path. If several sites share a listener, the
	// host in origin selects the site.
	origin  string
	handler http.Handler
}

// dispatch returns the handler of one listener for its sites. A single site answers under
// every host name, so that a health check by IP address works. With several sites, the Host
// header selects the site, so they must have different origins.
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

// handlersOf returns one handler for each listener that sites use, by the name of the
// listener's service. If several services share a listener, the name is that of the first
// of them in sites. open must have a listener for each site.
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

// refuseMisdirected answers a request for an unknown host name with status 421 (RFC 9110
// section 15.5.20). Choosing some site instead could give a credential to the wrong
// service.
func refuseMisdirected(w http.ResponseWriter, r *http.Request, docsURL string) {
	refuse(w, r, docsURL, &core.Error{
		Code: core.CodeNotFound, Status: http.StatusMisdirectedRequest,
		Message: "This server does not serve the host name of the request.",
		Next:    "Use one of the public addresses of this installation. A proxy in front must forward the Host header.",
	})
}

// refuse answers a request with a problem document for the refusal. The X-Request-Id of the
// response is that of the request, or a new id if the request has none.
func refuse(w http.ResponseWriter, r *http.Request, docsURL string, refusal *core.Error) {
	id := core.RequestID(r.Header["X-Request-Id"])
	w.Header().Set("X-Request-Id", id)
	rest.WriteProblem(w, core.ProblemOf(refusal, docsURL, id))
}

// hostOf returns the host of a public address, in lower case and without port 80 or 443. It
// returns "" for an invalid address.
func hostOf(origin string) string {
	u, err := url.Parse(origin)
	if err != nil {
		return ""
	}
	return normalHost(u.Host)
}

// normalHost returns a host in lower case, without port 80 or 443. It removes both ports,
// because the client's scheme is unknown behind a proxy.
func normalHost(host string) string {
	host = strings.ToLower(host)
	if name, port, err := net.SplitHostPort(host); err == nil && (port == "80" || port == "443") {
		return name
	}
	return host
}
