// Package bridge passes MCP messages between a client on standard input and output and an
// agent endpoint that speaks streamable HTTP. It reads of a message only what the transport
// needs (id, method, protocol revision and name) and passes the rest on unchanged, so every
// tool and every revision of the protocol works through it.
package bridge
