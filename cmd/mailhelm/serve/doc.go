// Package serve is `mailhelm serve`. It creates and connects the stores, the operations
// with their checks, the HTTP services, the background jobs and the listeners. It is the
// only package that imports every part. If a package declares an interface for another
// package's data, this package implements that interface.
//
// [Start] returns when every address answers. [Host.Stop] returns when everything has
// ended. The files follow the order in which a host starts: listen.go, stores.go,
// surfaces.go, jobs.go, dispatch.go, readiness.go, servers.go. All ports open first, so
// that a start with a taken port changes no data. dispatch.go selects the HTTP service for
// a request.
//
// The package itself answers requests for an unknown host name and requests to the admin
// address. Package config defines the configuration of a server.
//
// # Size
//
// It is one package because the parts of a host share the stores and the domains. Each room
// of the dashboard adds a few lines.
package serve
