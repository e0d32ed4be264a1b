// Package routing publishes what receivers of mail must know of receiving domains, and finds
// the routes of addresses.
//
// A [Document] has what was published of one domain. The [Publisher] writes it after a change,
// with a version of the routing of all domains. The [Router] of each process keeps the names of
// all published domains in memory, and reads every few seconds what has a later version.
package routing
