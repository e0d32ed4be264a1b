// Package network is the part of a server that faces the network. [Listen] opens the listen
// addresses. [Handlers] selects the handler of a request by its host name, if services share
// an address. [Serve] runs HTTP servers and the SMTP server on the open listeners; the
// returned [Servers] stop in two steps, so that the admin address answers until the end.
//
// The package knows no operation and no store: package serve passes in the handlers. The
// addresses and the names of the services are those of package config.
package network
