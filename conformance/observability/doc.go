// Package observability observes a running server as an operator does. It reads /metrics
// and receives the spans as a collector, over a real connection and in their wire
// format. The answers of calls are tested in conformance/mcp and conformance/rest.
package observability
