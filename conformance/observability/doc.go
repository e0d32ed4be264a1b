// Package observability looks at a running server the way an operator does: it
// reads /metrics, and it is the collector that gets the spans, over a real
// connection and from their wire form. It owns no expectation of what a call
// answers; conformance/mcp and conformance/rest do.
package observability
