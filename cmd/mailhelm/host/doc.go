// Package host puts the parts together and runs them: stores, rails, surfaces,
// background jobs, listeners. It is the wiring of the product and the only place
// that knows every part.
//
// [Start] returns when everything answers, [Host.Stop] when everything has
// ended. The files follow the order in which a host comes up: listen.go (all
// ports first, so that nothing is touched when one is taken), stores.go,
// surfaces.go, jobs.go, dispatch.go (which surface a request is for), admin.go,
// run.go.
//
// It owns no behaviour a caller can see except two: the answer to a host name
// that nothing here serves, and the admin address. What a server is configured
// to be is package config's business.
package host
