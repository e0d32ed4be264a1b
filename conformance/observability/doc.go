// Package observability tests the metrics and trace spans of a running server. It reads
// /metrics over HTTP, and receives the spans as an OpenTelemetry collector does. Other
// packages, conformance/mcp and conformance/rest, test the answers of calls.
package observability
