// Package observability tests the metrics and spans of a running server. It reads /metrics
// as an operator does, and receives the spans as an OpenTelemetry collector does, over real
// connections. The answers of calls are tested in conformance/mcp and conformance/rest.
package observability
