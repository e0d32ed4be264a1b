package serve

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/network"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/signin"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/bearer"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/core/closing"
	"github.com/mailhelm/mailhelm/core/unsubscribe"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/oauth"
	"github.com/mailhelm/mailhelm/oauth/consent"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/organization"
	"github.com/mailhelm/mailhelm/rest/docs"
	closingstore "github.com/mailhelm/mailhelm/storage/closing"
)

// peoplePages returns the handlers of the pages for sign-in, consent and the dashboard, and
// of the public pages for recipients of mail. The keys are paths on the app's address. The function [at] describes how a key matches a
// request.
func peoplePages(
	cfg config.Config, public config.Public, s *stores, domains catalogue.Domains, server *oauth.Server, principals *bearer.Authenticator,
	guard *guardrails.Guard, operations *guardrails.Catalogue,
) (map[string]http.Handler, error) {
	parts := s.signIn(cfg, public)
	keys := access.Lifecycle{Stores: s.db.Access(), Orgs: s.db.Orgs(), Transactor: s.db, Clock: cfg.Clock, Principals: principals}
	parts.Accounts = closing.People{
		Store: closingstore.NewPersonStore(s.db.DB), Users: s.db.Users(), Members: s.db.Members(), Grants: s.db.Grants(),
		Keys: closing.Keys{List: s.db.Keys(), Revoke: keys.RevokeKey}, Audit: s.db.Audit(), Transactor: s.db, Clock: cfg.Clock, Principals: principals,
	}
	entrance, factors, err := parts.Pages()
	if err != nil {
		return nil, err
	}
	permission, err := consent.New(consent.Config{Server: server, Login: entrance})
	if err != nil {
		return nil, err
	}
	board, join, err := newDashboard(cfg, public, s, domains, entrance, factors, principals, guard, operations)
	if err != nil {
		return nil, err
	}
	unsubscribing, err := unsubscribePages(cfg, s, domains)
	if err != nil {
		return nil, err
	}
	pages := entrance.Routes()
	pages[unsubscribe.Path] = unsubscribing
	pages["/"] = entrance.LeadTo(frame.Path)
	pages[consent.Path] = permission.Handler()
	pages[frame.Path], pages[frame.Path+"/"], pages[organization.JoinPath] = board, board, join
	return pages, nil
}

// signIn returns what the sign-in pages and the jobs about people need.
func (s *stores) signIn(cfg config.Config, public config.Public) signin.Parts {
	return signin.Parts{Config: cfg, Public: public, DB: s.db, Queue: s.queue, Master: s.master, Letters: s.letters}
}

// appSites returns the sites of the authorization server, the app and the documentation. It
// combines services with the same origin into one site, because each site needs its own
// origin. In a combined site, the documentation's paths take precedence.
func appSites(public config.Public, issuer, documentation http.Handler, people map[string]http.Handler) []network.Site {
	origin, path := splitAddress(public.Docs)
	app := http.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		network.Refuse(w, r, public.Docs, &core.Error{Code: core.CodeNotFound, Message: "There is no such page."})
	}))
	if public.App == public.Auth {
		app = issuer
	}
	app = at(people, app)
	if origin == public.App {
		app = routeBelow(path, documentation, redirectTo(path, docs.RootFiles, app))
	} else {
		app = redirectTo(public.Docs, docs.RootFiles, app)
	}
	pages, own := []string{path, path + "/{page...}"}, slices.Concat(pathsOf(people), docs.RootFiles)
	if origin == public.App {
		own = append(own, pages...)
	}
	if public.App == public.Auth {
		own = append(own, oauth.Paths()...)
	}
	sites := []network.Site{{Service: config.AppService, Origin: public.App, Handler: app, Routes: own}}
	if public.App != public.Auth {
		sites = append(sites, network.Site{Service: config.AppService, Origin: public.Auth, Handler: issuer, Routes: oauth.Paths()})
	}
	if origin != public.App {
		sites = append(sites, network.Site{Service: config.AppService, Origin: origin, Handler: documentation, Routes: pages})
	}
	return sites
}

// pagesWithPaths is a handler of several paths.
type pagesWithPaths struct {
	http.Handler
	paths []string
}

// pathsOf returns the paths of the pages, as [at] has them, and those of the handlers of several
// paths.
func pathsOf(pages map[string]http.Handler) []string {
	var paths []string
	for path, page := range pages {
		paths = append(paths, path)
		if several, ok := page.(pagesWithPaths); ok && path == frame.Path {
			paths = append(paths, several.paths...)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// at returns a handler that selects a handler of the map pages by the request's path. If no
// key matches, it uses the handler in the parameter elsewhere. A key matches a path that is
// equal to it. A key that ends in a slash, except "/", also matches each longer path that
// begins with the key. No two keys that end in a slash may match the same longer path,
// because the choice between them is random.
func at(pages map[string]http.Handler, elsewhere http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, ok := pages[r.URL.Path]
		for path, below := range pages {
			if !ok && path != "/" && strings.HasSuffix(path, "/") && strings.HasPrefix(r.URL.Path, path) {
				page, ok = below, true
			}
		}
		if !ok {
			page = elsewhere
		}
		page.ServeHTTP(w, r)
	})
}

// redirectTo returns a handler that redirects GET and HEAD requests for the paths to the same
// paths below the address root. It passes all other requests to the handler elsewhere.
func redirectTo(root string, paths []string, elsewhere http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !slices.Contains(paths, r.URL.Path) || r.Method != http.MethodGet && r.Method != http.MethodHead {
			elsewhere.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Location", root+r.URL.Path)
		w.WriteHeader(http.StatusFound)
	})
}

// routeBelow returns a handler that passes requests for path, and for paths under it, to the
// handler inside. It passes all other requests to the handler outside.
func routeBelow(path string, inside, outside http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == path || strings.HasPrefix(r.URL.Path, path+"/") {
			inside.ServeHTTP(w, r)
			return
		}
		outside.ServeHTTP(w, r)
	})
}

// splitAddress splits a public address into its origin and its path, without a slash at the
// end of the path. For an invalid address it returns the whole text as the origin.
func splitAddress(address string) (origin, path string) {
	u, err := url.Parse(address)
	if err != nil {
		return address, ""
	}
	return u.Scheme + "://" + u.Host, strings.TrimSuffix(u.Path, "/")
}
