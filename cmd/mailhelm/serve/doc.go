// Package serve is `mailhelm serve`. It creates and connects the stores, the operations
// with their checks, the HTTP services, the background jobs and the listeners. It is the
// only package that imports every part. If a package declares an interface for another
// package's data, this package implements that interface.
//
// [Start] returns when every address answers. [Host.Stop] returns when everything has
// ended. The files follow the order in which a host starts: host.go, stores.go,
// surfaces.go, jobs.go. All ports open first, so that a start with a taken
// port changes no data.
//
// The listeners, the HTTP servers and the choice of the handler for a host name are in
// package network, the settings of the garbage collector in package memory, and the answers
// at the admin address in package monitoring. Package config defines the configuration of
// a server.
package serve
