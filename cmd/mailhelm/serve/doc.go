// Package serve is `mailhelm serve` and the wiring of the product: stores, guardrails,
// surfaces, background jobs, listeners. It is the only package that imports every part. If
// a package needs another domain's data through its own interface, this package implements
// that interface.
//
// [Start] returns when every address answers. [Host.Stop] returns when everything has
// ended. The files follow the order in which a host starts: listen.go, stores.go,
// surfaces.go, jobs.go, dispatch.go, readiness.go, servers.go. All ports open first, so
// that a start with a taken port changes no data. dispatch.go selects the surface for a
// request.
//
// The package itself answers requests for an unknown host name and requests to the admin
// address. Package config defines the configuration of a server.
package serve
