// Package serve is `mailhelm serve` and the wiring of the product: stores, rails, surfaces,
// background jobs, listeners. It is the only package that imports every part. Where a room
// needs another domain's data through an interface of its own, this package satisfies it.
//
// [Start] returns when every address answers, [Host.Stop] when everything has ended. The
// files follow the order in which a host starts: listen.go (all ports first, so that a
// taken port changes nothing), stores.go, surfaces.go, jobs.go, dispatch.go (selects the
// surface for a request), readiness.go, servers.go.
//
// It owns two behaviours that callers see: the answer to an unknown host name, and the
// admin address. Package config owns the configuration of a server.
package serve
