package network

import (
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/rest"
)

// Site is a public address and the handler of requests to it.
type Site struct {
	// Service is a service name of package config, such as config.APIService. It selects the
	// listener.
	Service string
	// Origin is the public address without a path. If several sites share a listener, the
	// host in Origin selects the site.
	Origin  string
	Handler http.Handler
	// Routes are the templates of the paths that the handler serves, for metrics.
	Routes []string
}

// Dispatch returns the handler of one listener for its sites. A single site answers under
// every host name, so that a health check by IP address works. With several sites, the Host
// header selects the site, so they must have different origins. A request for another host
// name gets status 421; docsURL is the address of the documentation for that answer.
func Dispatch(sites []Site, docsURL string) http.Handler {
	if len(sites) == 1 {
		return sites[0].Handler
	}
	byHost := map[string]http.Handler{}
	for _, s := range sites {
		byHost[hostOf(s.Origin)] = s.Handler
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h, ok := byHost[normalHost(r.Host)]; ok {
			h.ServeHTTP(w, r)
			return
		}
		refuseMisdirected(w, r, docsURL)
	})
}

// Handlers returns one handler for each listener that sites use, by the name of the
// listener's service. If several services share a listener, the name is that of the first
// of them in sites. open must have a listener for each site. docsURL is as for [Dispatch].
func Handlers(open Listeners, sites []Site, docsURL string) map[string]http.Handler {
	first := map[net.Listener]string{}
	grouped := map[string][]Site{}
	for _, s := range sites {
		l := open[s.Service]
		if _, known := first[l]; !known {
			first[l] = s.Service
		}
		grouped[first[l]] = append(grouped[first[l]], s)
	}
	handlers := make(map[string]http.Handler, len(grouped))
	for service, group := range grouped {
		handlers[service] = Dispatch(group, docsURL)
	}
	return handlers
}

// refuseMisdirected answers a request for an unknown host name with status 421 (RFC 9110
// section 15.5.20). Choosing some site instead could give a credential to the wrong
// service.
func refuseMisdirected(w http.ResponseWriter, r *http.Request, docsURL string) {
	Refuse(w, r, docsURL, &core.Error{
		Code: core.CodeNotFound, Status: http.StatusMisdirectedRequest,
		Message: "This server does not serve the host name of the request.",
		Next:    "Use one of the public addresses of this installation. A proxy in front must forward the Host header.",
	})
}

// Refuse answers a request with a problem document for the refusal. The X-Request-Id of the
// response is that of the request, or a new id if the request has none.
func Refuse(w http.ResponseWriter, r *http.Request, docsURL string, refusal *core.Error) {
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
